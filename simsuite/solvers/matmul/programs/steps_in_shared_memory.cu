// Many steps X <- A X + b_k of a small system in one launch. A (n, n), X and out (n, m).
//
// A block has COLUMNS columns of X, and A, in shared memory for all steps: nothing is read or written in between but
// b_k. A is a single panel of DEEP = ROWS columns. All sums of a step are in registers (sums.cuh) before the block writes
// them over the columns that they come from.
//
// Macros besides those of sums.cuh: BLOCKS that share a multiprocessor.

#define ALTERNATING 0
#include "sums.cuh"

constexpr int DEEP = ROWS;
static_assert(DEEP % PART == 0, "whole parts");

// b_k: row `row` + k `stride` of bias, which is (.., n).
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
steps_in_shared_memory(const real* __restrict__ At, const real* __restrict__ X, const real* __restrict__ bias,
      real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  extern __shared__ __align__(16) char memory[];
  real *const A = (real*)memory, *const state = A + DEEP * ROWS;
  const int thread = threadIdx.x, j0 = blockIdx.x * COLUMNS;
  for (int at = thread; at < DEEP * ROWS; at += THREADS) A[at] = At[at];
  for (int at = thread; at < DEEP * COLUMNS; at += THREADS) {
    const int i = at / COLUMNS, j = at % COLUMNS;
    state[i * COLUMNS + mixed(i, j)] = i < n && j0 + j < m ? X[(long long)i * m + j0 + j] : (real)0;
  }
  __syncthreads();

  bias += (long long)row * n;
  for (int k = 0; k < steps; k++) {
    Sums sums(thread / 32, thread % 32);
#pragma unroll 1
    for (int part = 0; part < DEEP; part += PART) add_part(sums, A + part * ROWS, state + part * COLUMNS);
    __syncthreads();  // no thread reads the columns any more
    sums.finish([&](int i) { return i < n ? bias[i] : (real)0; },
                [&](int i, int j, const Sums::Out& v) {
#pragma unroll
                  for (int q = 0; q < (int)(sizeof v / SIZE); q++) state[i * COLUMNS + mixed(i, j) + q] = v[q];
                });
    bias += (long long)stride * n;
    __syncthreads();
  }

  for (int at = thread; at < DEEP * COLUMNS; at += THREADS) {
    const int i = at / COLUMNS, j = at % COLUMNS;
    if (i < n && j0 + j < m) out[(long long)i * m + j0 + j] = state[i * COLUMNS + mixed(i, j)];
  }
}
