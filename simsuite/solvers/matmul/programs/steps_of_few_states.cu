// Many steps X <- A X + b_k of few states of a small system: a block has COLUMNS of them, and each of its threads a row.
//
// A step takes as long as a row's chain of additions, and one barrier. The states are in shared memory, twice, as they
// were and as they will be; a thread keeps its row of A in registers where that fits, else A is in shared memory too,
// transposed. Every entry is fma(A[i, l], X[l, j], sum) in order of l.
//
// Macros: DOUBLE; N, components; COLUMNS; KEPT, whether rows are in registers.

#include "real.cuh"

constexpr int PITCH = (N + BESIDE - 1) / BESIDE * BESIDE, THREADS = (N + 31) / 32 * 32;

// A (N, N), X and out (N, m). b_k: row `row` + k `stride` of bias, which is (.., N).
extern "C" __global__ void __launch_bounds__(THREADS)
steps_of_few_states(const real* __restrict__ A, const real* __restrict__ X, const real* __restrict__ bias,
     real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  extern __shared__ __align__(16) char memory[];
  real *const states = (real*)memory, *const transpose = states + 2 * COLUMNS * PITCH;
  const int i = threadIdx.x, j0 = blockIdx.x * COLUMNS;
  const bool mine = i < N;
#if KEPT
  real a[N];
#pragma unroll
  for (int l = 0; l < N; l++) a[l] = mine ? A[i * N + l] : (real)0;
#else
  for (int at = i; at < N * N; at += THREADS) transpose[at % N * N + at / N] = A[at];
#endif
  for (int at = i; at < 2 * COLUMNS * PITCH; at += THREADS) {
    const int c = at / PITCH, l = at % PITCH;
    states[at] = c < COLUMNS && l < N && j0 + c < m ? X[(long long)l * m + j0 + c] : (real)0;
  }
  __syncthreads();

  bias += (long long)row * N;
  int now = 0;
  for (int k = 0; k < steps; k++) {
    const real b = mine ? bias[i] : (real)0;
    real sum[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) sum[c] = 0;
#pragma unroll
    for (int l = 0; l < PITCH; l += BESIDE) {
      Piece x[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) read(states + (now * COLUMNS + c) * PITCH + l, x[c]);
#pragma unroll
      for (int q = 0; q < BESIDE && l + q < N; q++) {
#if KEPT
        const real factor = a[l + q];
#else
        const real factor = mine ? transpose[(l + q) * N + i] : (real)0;
#endif
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) sum[c] = fma(factor, x[c][q], sum[c]);
      }
    }
    now = 1 - now;
    if (mine)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) states[(now * COLUMNS + c) * PITCH + i] = sum[c] + b;
    bias += (long long)stride * N;
    __syncthreads();
  }
  if (mine)
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
      if (j0 + c < m) out[(long long)i * m + j0 + c] = states[(now * COLUMNS + c) * PITCH + i];
}
