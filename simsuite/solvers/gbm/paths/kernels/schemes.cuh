// Euler's and Milstein's schemes, see schemes.py.

enum Scheme { EXACT, EULER, MILSTEIN };
constexpr Scheme scheme = SCHEME;

// The logarithm of a price of 0.
template <typename T> constexpr T ZERO = (T)-1e30;

// log2(1 + u) for u > -1. Of double numbers to 2 units in the last place: what rounding 1 + u leaves is made up for.
__device__ __forceinline__ float log2_of_1_plus(float u) { return log1pf(u) * 1.44269504f; }
__device__ __forceinline__ double log2_of_1_plus(double u) {
  const double w = 1.0 + u, rest = u - (w - 1.0), log2_e = 1.44269504088896340736;
  return fma(rest * approximate_inverse(w), log2_e, Normals<double>::scaled_log(w, log2_e));
}

// What y gains when in the exact scheme it would gain d.
template <typename T> __device__ __forceinline__ T discretised(T d, T a, T c) {
  const T v = (T)0.69314718055994530942 * d;
  const T u = scheme == MILSTEIN ? fma((T)0.5 * v, v, v + a) : v + a;
  return u > -1 ? log2_of_1_plus(u) - c : ZERO<T>;
}
