// Least squares for a rule of exercise, see exercise_policy.py for the rule and regression.py for the method. A date takes one
// launch of each kernel; sums over GROUP paths are taken by a block in a fixed order, and these sums by one block.
//
// Compiled at run time, with the macros STATE (float or double: of the noise), DEGREE, CALL (1 or 0), TERMS (of a rule,
// before its coefficients), FEWEST (paths a coefficient), SMALLEST_PIVOT, GROUP, THREADS.

#include "../statistics/total.cuh"

typedef double real;
typedef STATE state;
constexpr int N = DEGREE + 1, PAIRS = N * (N + 1) / 2, WARPS = THREADS / 32;
constexpr double FAR = 1e300;

// What exercise brings at a price, in units of its centre, and the variable that waiting is judged by.
__device__ __forceinline__ double value_of(const double* rule, double price) { return fma(rule[0], price, rule[1]); }
__device__ __forceinline__ double variable(double price) { return CALL ? 1 / price : price; }

// t[k] = weight T_k(u), with the Chebyshev polynomials T_k.
__device__ __forceinline__ void columns(double u, double weight, double (&t)[N]) {
  t[0] = weight, t[1] = weight * u;
#pragma unroll
  for (int k = 2; k < N; k++) t[k] = fma(2 * u, t[k - 1], -t[k - 2]);
}

// Adds up what all threads of a block found, in a fixed order, and stores it in parts[block].
template <int COUNT> __device__ __forceinline__ void add_up(double (&sum)[COUNT], double* parts) {
  __shared__ double of_warps[WARPS][COUNT];
#pragma unroll
  for (int e = 0; e < COUNT; e++) {
    const double all = total(sum[e]);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32][e] = all;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < COUNT; e += THREADS) {
    double all = 0;
    for (int w = 0; w < WARPS; w++) all += of_warps[w][e];
    parts[(size_t)blockIdx.x * COUNT + e] = all;
  }
}

// The sums of all groups, by the only block.
template <int COUNT> __device__ __forceinline__ void gather(const double* parts, int groups, double* sums) {
  for (int e = threadIdx.x / 32; e < COUNT; e += WARPS) {
    double sum = 0;
    for (int g = threadIdx.x % 32; g < groups; g += 32) sum += parts[(size_t)g * COUNT + e];
    const double all = total(sum);
    if (threadIdx.x % 32 == 0) sums[e] = all;
  }
  __syncthreads();
}

__device__ __forceinline__ double over_warp(double v, bool largest) {
  for (int d = 16; d > 0; d >>= 1) {
    const double other = __shfl_xor_sync(0xffffffffu, v, d);
    v = largest ? max(v, other) : min(v, other);
  }
  return v;
}

// The inverse of the upper Cholesky factor of a matrix given by its upper triangle, column by column; columns from the
// first one on that depends linearly on those before it are 0. Returns the rank.
__device__ int inverse_factor(const double* products, double* inverse) {
  __shared__ double R[N][N];
  int rank = 0;
  for (int k = 0; k < N * N; k++) inverse[k] = 0;
  for (int j = 0; j < N; j++, rank++) {
    const double* column = products + j * (j + 1) / 2;
    double pivot = column[j];
    for (int i = 0; i < j; i++) {
      double r = column[i];
      for (int k = 0; k < i; k++) r = fma(-R[k][i], R[k][j], r);
      R[i][j] = r * inverse[i * N + i];
      pivot = fma(-R[i][j], R[i][j], pivot);
    }
    if (!(pivot > SMALLEST_PIVOT * column[j])) break;
    inverse[j * N + j] = 1 / sqrt(pivot);
    for (int i = 0; i < j; i++) {
      double s = 0;
      for (int k = i; k < j; k++) s = fma(inverse[i * N + k], R[k][j], s);
      inverse[i * N + j] = -s * inverse[j * N + j];
    }
  }
  return rank;
}

// parts[group]: the least and the largest variable of paths in the money, and how many these are.
extern "C" __global__ void __launch_bounds__(THREADS)
range(const state* __restrict__ noise, unsigned n, const double* __restrict__ rule, double* parts) {
  __shared__ double of_warps[WARPS][3];
  double least = FAR, largest = -FAR, count = 0;
  const unsigned end = min(n, (blockIdx.x + 1) * GROUP);
  for (unsigned i = blockIdx.x * GROUP + threadIdx.x; i < end; i += THREADS) {
    const double price = exp2((double)noise[i]);
    if (!(value_of(rule, price) > 0)) continue;
    const double x = variable(price);
    least = min(least, x), largest = max(largest, x), count += 1;
  }
  least = over_warp(least, false), largest = over_warp(largest, true), count = total(count);
  if (threadIdx.x % 32 == 0) {
    double* mine = of_warps[threadIdx.x / 32];
    mine[0] = least, mine[1] = largest, mine[2] = count;
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < WARPS; w++) {
    least = min(least, of_warps[w][0]), largest = max(largest, of_warps[w][1]), count += of_warps[w][2];
  }
  double* own = parts + 3 * (size_t)blockIdx.x;
  own[0] = least, own[1] = largest, own[2] = count;
}

// a and b of the rule. held: whether there are too few paths to learn anything from.
extern "C" __global__ void __launch_bounds__(THREADS)
scale(const double* __restrict__ parts, int groups, double* rule, int* held) {
  if (threadIdx.x >= 32) return;
  double least = FAR, largest = -FAR, count = 0;
  for (int g = threadIdx.x; g < groups; g += 32) {
    const double* own = parts + 3 * (size_t)g;
    least = min(least, own[0]), largest = max(largest, own[1]), count += own[2];
  }
  least = over_warp(least, false), largest = over_warp(largest, true), count = total(count);
  if (threadIdx.x) return;
  const bool some = largest > least;
  rule[2] = some ? 2 / (largest - least) : 0;
  rule[3] = some ? -(largest + least) / (largest - least) : 0;
  *held = count < FEWEST * N;
}

// parts[group]: products of all pairs of columns.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply(const state* __restrict__ noise, unsigned n, const double* __restrict__ rule, double* parts) {
  double sum[PAIRS] = {};
  const unsigned end = min(n, (blockIdx.x + 1) * GROUP);
#pragma unroll 1
  for (unsigned i = blockIdx.x * GROUP + threadIdx.x; i < end; i += THREADS) {
    const double price = exp2((double)noise[i]);
    if (!(value_of(rule, price) > 0)) continue;
    double t[N];
    const double x = variable(price);
    columns(fma(rule[2], x, rule[3]), CALL ? x : 1, t);
#pragma unroll
    for (int j = 0, e = 0; j < N; j++)
#pragma unroll
      for (int k = 0; k <= j; k++, e++) sum[e] = fma(t[j], t[k], sum[e]);
  }
  add_up(sum, parts);
}

extern "C" __global__ void __launch_bounds__(THREADS)
factor(const double* __restrict__ parts, int groups, double* inverse) {
  __shared__ double sums[PAIRS];
  gather<PAIRS>(parts, groups, sums);
  if (threadIdx.x == 0) inverse_factor(sums, inverse);
}

// parts[group]: products of all pairs of nearly orthonormal columns, then of these columns with the gain by waiting.
extern "C" __global__ void __launch_bounds__(THREADS)
project(const state* __restrict__ noise, const double* __restrict__ worth, unsigned n, const double* __restrict__ rule,
        const double* __restrict__ inverse, double* parts) {
  __shared__ double S[N * N];
  for (int k = threadIdx.x; k < N * N; k += THREADS) S[k] = inverse[k];
  __syncthreads();
  double sum[PAIRS + N] = {};
  const unsigned end = min(n, (blockIdx.x + 1) * GROUP);
#pragma unroll 1
  for (unsigned i = blockIdx.x * GROUP + threadIdx.x; i < end; i += THREADS) {
    const double price = exp2((double)noise[i]), value = value_of(rule, price);
    if (!(value > 0)) continue;
    double q[N];
    const double x = variable(price), weight = CALL ? x : 1;
    columns(fma(rule[2], x, rule[3]), weight, q);
#pragma unroll
    for (int j = N - 1; j >= 0; j--) {
      q[j] *= S[j * N + j];
#pragma unroll
      for (int k = 0; k < j; k++) q[j] = fma(S[k * N + j], q[k], q[j]);
    }
    const double gain = weight * (worth[i] - value);
#pragma unroll
    for (int j = 0, e = 0; j < N; j++) {
#pragma unroll
      for (int k = 0; k <= j; k++, e++) sum[e] = fma(q[j], q[k], sum[e]);
      sum[PAIRS + j] = fma(q[j], gain, sum[PAIRS + j]);
    }
  }
  add_up(sum, parts);
}

// The coefficients of the rule.
extern "C" __global__ void __launch_bounds__(THREADS)
solve(const double* __restrict__ parts, int groups, const double* __restrict__ first, const int* __restrict__ held,
      double* rule) {
  __shared__ double sums[PAIRS + N];
  gather<PAIRS + N>(parts, groups, sums);
  if (threadIdx.x) return;
  __shared__ double second[N * N], z[N], c[N];
  const int rank = inverse_factor(sums, second);
  const bool known = rank > 0 && !*held;
  for (int j = 0; j < N; j++) {
    z[j] = 0;
    for (int k = 0; k <= j; k++) z[j] = fma(second[k * N + j], sums[PAIRS + k], z[j]);
  }
  for (int j = 0; j < N; j++) {
    c[j] = 0;
    for (int k = j; k < N; k++) c[j] = fma(second[j * N + k], z[k], c[j]);
  }
  for (int j = 0; j < N; j++) {
    double found = 0;
    for (int k = j; k < N; k++) found = fma(first[j * N + k], c[k], found);
    rule[TERMS + j] = known ? found : j == 0;
  }
  if (!known) rule[2] = rule[3] = 0;
}

// worth: what each path brings by the rules from this date on. Before the last date it is 0, and so is p there: whatever
// is in the money is exercised.
extern "C" __global__ void __launch_bounds__(THREADS)
exercise(const state* __restrict__ noise, unsigned n, const double* __restrict__ rule, double* worth) {
  const unsigned end = min(n, (blockIdx.x + 1) * GROUP);
  for (unsigned i = blockIdx.x * GROUP + threadIdx.x; i < end; i += THREADS) {
    const double price = exp2((double)noise[i]), value = value_of(rule, price);
    if (!(value > 0)) continue;
    const double u = min(max(fma(rule[2], variable(price), rule[3]), -1.0), 1.0);
    double p = rule[TERMS + DEGREE], later = 0;
#pragma unroll
    for (int k = DEGREE - 1; k > 0; k--) {
      const double next = fma(2 * u, p, rule[TERMS + k] - later);
      later = p, p = next;
    }
    if (fma(u, p, rule[TERMS] - later) <= 0) worth[i] = value;
  }
}
