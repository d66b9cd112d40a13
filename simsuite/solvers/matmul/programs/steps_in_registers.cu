// Many steps X <- A X + b_k of a system of a few components, each thread with whole columns of X in registers.
//
// A is in shared memory, from where all threads read the same number at once, and in registers where it is small. Every
// entry is fma(A[i, l], X[l, j], sum) in order of l. Threads wait for b_k only.
//
// Macros: DOUBLE; N, components; THREADS of a block; COLUMNS of a thread, which are THREADS apart; BLOCKS that share a
// multiprocessor.

#include "real.cuh"

constexpr int PITCH = (N + BESIDE - 1) / BESIDE * BESIDE;

struct Columns {
  real of[N][COLUMNS];

  // One step, from another one's; b: of this step.
  __device__ __forceinline__ void follow(const Columns& before, const real* A, const real* __restrict__ b) {
    int first = 0;
    if (N > 8) forget(first);
#pragma unroll
    for (int i = 0; i < N; i++) {
      real sum[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) sum[c] = 0;
#pragma unroll
      for (int l = 0; l < PITCH; l += BESIDE) {
        Piece a;
        read(A + first + i * PITCH + l, a);
#pragma unroll
        for (int q = 0; q < BESIDE && l + q < N; q++)
#pragma unroll
          for (int c = 0; c < COLUMNS; c++) sum[c] = fma(a[q], before.of[l + q][c], sum[c]);
      }
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) of[i][c] = sum[c] + b[i];
    }
  }
};

// A (N, N), X and out (N, m). b_k: row `row` + k `stride` of bias, which is (.., N).
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
steps_in_registers(const real* __restrict__ A, const real* __restrict__ X, const real* __restrict__ bias,
     real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  __shared__ __align__(16) real whole[N * PITCH];
  for (int at = threadIdx.x; at < N * PITCH; at += THREADS)
    whole[at] = at % PITCH < N ? A[at / PITCH * N + at % PITCH] : (real)0;
  __syncthreads();

  const long long j0 = (long long)blockIdx.x * THREADS * COLUMNS + threadIdx.x;
  Columns now, next;
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const long long j = j0 + c * THREADS;
      now.of[i][c] = j < m ? X[(long long)i * m + j] : (real)0;
    }
  bias += (long long)row * N;
  const long long further = (long long)stride * N;
  int k = 0;
  for (; k + 1 < steps; k += 2) {  // two at a time: they take turns, and nothing moves
    next.follow(now, whole, bias);
    now.follow(next, whole, bias + further);
    bias += 2 * further;
  }
  if (k < steps) {
    next.follow(now, whole, bias);
    now = next;
  }
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const long long j = j0 + c * THREADS;
      if (j < m) out[(long long)i * m + j] = now.of[i][c];
    }
}
