// Dividends in cash, see cash_dividends.py.

// log2 of a price, y, after a payment: by how much it is lower than before.
template <typename T> __device__ __forceinline__ T fall(T y, T q, T c) {
  const T share = y > -1000 ? q * Normals<T>::exp2(-y) : (T)1;
  return share < 1 ? log2_of_1_plus(-share) - c : ZERO<T>;
}
