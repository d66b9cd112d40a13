// Dividends in cash, see cash_dividends.py.

// What a payment adds to y, the noise before it: log2(1 - q 2^-y) - c, with q and c as in cash_dividends.py; ZERO if the
// price falls to 0.
template <typename T> __device__ __forceinline__ T fall(T y, T q, T c) {
  const T share = y > -1000 ? q * Normals<T>::exp2(-y) : (T)1;
  return share < 1 ? log2_of_1_plus(-share) - c : ZERO<T>;
}
