// Many steps X <- A X + b_k of a small system in float64, by tensor cores and without leaving the registers.
//
// A warp steps the transpose: 16 states are the rows of a piece and 8 components its columns, so that the tensor cores'
// second factor is A, of which every lane keeps its part. What they call column 2 t + q of a sum is component t + 4 q of
// eight here. So the numbers of a sum that a lane gets are those that it has to give as first factor of the next step,
// columns t and t + 4 of that, and no lane asks another one. Every entry is fma(A[i, l], X[l, j], sum) in order of l.
//
// Macros: DOUBLE, which is 1; EIGHTS, groups of 8 components, the last of which may be filled in part; PIECES of a warp, of
// 16 states each; THREADS; BLOCKS that share a multiprocessor.

#include "real.cuh"
#include "tensor_cores.cuh"

// A (n, n), X and out (n, m). b_k: row `row` + k `stride` of bias, which is (.., n).
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
steps_by_tensor_cores(const real* __restrict__ A, const real* __restrict__ X, const real* __restrict__ bias,
     real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const long long j0 = ((long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * (16 * PIECES) + g;

  real a[EIGHTS][EIGHTS][2], x[PIECES][EIGHTS][4];
#pragma unroll
  for (int s = 0; s < EIGHTS; s++)
#pragma unroll
    for (int k = 0; k < EIGHTS; k++)
#pragma unroll
      for (int q = 0; q < 2; q++) {
        const int i = 8 * s + g / 2 + g % 2 * 4, l = 8 * k + t + 4 * q;
        a[s][k][q] = i < n && l < n ? A[i * n + l] : 0;
      }
#pragma unroll
  for (int r = 0; r < PIECES; r++)
#pragma unroll
    for (int k = 0; k < EIGHTS; k++)
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const int l = 8 * k + t + q / 2 * 4;
        const long long j = j0 + 16 * r + q % 2 * 8;
        x[r][k][q] = l < n && j < m ? X[(long long)l * m + j] : 0;
      }

  bias += (long long)row * n;
  for (int step = 0; step < steps; step++) {
    real sums[PIECES][EIGHTS][4];
#pragma unroll
    for (int s = 0; s < EIGHTS; s++)
#pragma unroll
      for (int r = 0; r < PIECES; r++)
#pragma unroll
        for (int q = 0; q < 4; q++) sums[r][s][q] = 0;
#pragma unroll
    for (int k = 0; k < EIGHTS; k++)
#pragma unroll
      for (int s = 0; s < EIGHTS; s++)
#pragma unroll
        for (int r = 0; r < PIECES; r++) tensor_product<8>(sums[r][s], x[r][k], a[s][k]);
#pragma unroll
    for (int s = 0; s < EIGHTS; s++)
#pragma unroll
      for (int q = 0; q < 2; q++) {
        const int i = 8 * s + t + 4 * q;
        const real b = i < n ? bias[i] : 0;
#pragma unroll
        for (int r = 0; r < PIECES; r++)
#pragma unroll
          for (int h = 0; h < 2; h++) x[r][s][h + 2 * q] = sums[r][s][2 * h + q] + b;
      }
    bias += (long long)stride * n;
  }

  forget(n), forget(m);
#pragma unroll
  for (int r = 0; r < PIECES; r++)
#pragma unroll
    for (int k = 0; k < EIGHTS; k++)
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const int l = 8 * k + t + q / 2 * 4;
        const long long j = j0 + 16 * r + q % 2 * 8;
        if (l < n && j < m) out[(long long)l * m + j] = x[r][k][q];
      }
}
