// out = A X + b, with b added to every column, by tiles. A (n, p), X (p, m), out (n, m).
//
// A block makes ROWS x COLUMNS entries. It walks down the inner dimension by slices of DEPTH and has STAGES of them in
// shared memory: while one is multiplied, the next ones are on their way (cp.async), so that a slice takes one barrier.
// A comes transposed, At (p', n'), n' and p' filled up with zeros to whole tiles and slices: so a slice of either
// factor is DEPTH rows of neighbouring numbers, and only X has edges.
//
// Macros besides those of sums.cuh: COLUMNS, DEPTH, STAGES, BLOCKS that share a multiprocessor, and CHUNK, the bytes of X
// that are copied at once: 16 where its rows allow.

#include "../copies.cuh"
#include "sums.cuh"

constexpr int SLICE = DEPTH * (A_PITCH + X_PITCH);  // numbers
constexpr int TOGETHER = 8;  // rows of tiles that are made at the same time, to find each other's slices in the cache

struct Copies {  // of this thread, from both factors
  static constexpr int A_ROW = ROWS * SIZE / 16, X_ROW = COLUMNS * SIZE / CHUNK;  // pieces
  static constexpr int A_PIECES = DEPTH * A_ROW / THREADS, X_PIECES = DEPTH * X_ROW / THREADS;
  static_assert(THREADS % A_ROW == 0 && A_PIECES * THREADS == DEPTH * A_ROW, "whole pieces of A for every thread");
  static_assert(THREADS % X_ROW == 0 && X_PIECES * THREADS == DEPTH * X_ROW, "whole pieces of X for every thread");
  const real *a, *x;
  unsigned a_to, x_to;
  int row, p;
  long long a_step, x_step;
  bool inside;

  __device__ __forceinline__ Copies(const real* At, const real* X, int i0, int j0, int pitch, int m, int p,
                                    unsigned memory)
      : p(p) {
    const int thread = threadIdx.x, a_row = thread / A_ROW, i = thread % A_ROW * (16 / SIZE);
    const int j = thread % X_ROW * (CHUNK / SIZE);
    row = thread / X_ROW;
    inside = j0 + j < m;
    a = At + (long long)a_row * pitch + i0 + i;
    x = X + (inside ? (long long)row * m + j0 + j : 0);
    a_step = (long long)THREADS / A_ROW * pitch, x_step = (long long)THREADS / X_ROW * m;
    a_to = memory + (a_row * A_PITCH + i) * SIZE;
    x_to = memory + (DEPTH * A_PITCH + row * X_PITCH + j) * SIZE;
  }

  // Start the next slice on its way to a stage.
  __device__ __forceinline__ void start(int stage) {
#pragma unroll
    for (int i = 0; i < A_PIECES; i++) {
      copy_async<16>(a_to + (stage * SLICE + i * (THREADS / A_ROW) * A_PITCH) * SIZE, a);
      a += a_step;
    }
#pragma unroll
    for (int i = 0; i < X_PIECES; i++) {
      const bool wanted = inside && row < p;
      copy_or_zero<CHUNK>(x_to + (stage * SLICE + i * (THREADS / X_ROW) * X_PITCH) * SIZE, x, wanted);
      row += THREADS / X_ROW;
      if (row < p) x += x_step;  // never beyond the end
    }
  }
};

// At: (p', pitch). bias: of which row `row` is added.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
tile_product(const real* __restrict__ At, const real* __restrict__ X, const real* __restrict__ bias,
             real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  extern __shared__ __align__(16) char memory[];
  const int down = (n + ROWS - 1) / ROWS, across = (m + COLUMNS - 1) / COLUMNS, number = blockIdx.x;
  const int above = number / (TOGETHER * across) * TOGETHER, within = number - above * across;
  const int together = min(TOGETHER, down - above);
  const int i0 = (above + within % together) * ROWS, j0 = within / together * COLUMNS;
  const int slices = (p + DEPTH - 1) / DEPTH;

  Copies copies(At, X, i0, j0, pitch, m, p, shared_address(memory));
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < slices) copies.start(s);
    end_group();
  }
  Sums sums(threadIdx.x / 32, threadIdx.x % 32);
  int stage = 0, coming = STAGES - 1;
  for (int s = 0; s < slices; s++) {
    wait_for_groups<STAGES - 2>();
    __syncthreads();  // this slice is there for all threads, and none reads the stage that is filled now
    if (s + STAGES - 1 < slices) copies.start(coming);
    end_group();
    const real* const A = (const real*)memory + stage * SLICE;
    sums.add<DEPTH>(A, A + DEPTH * A_PITCH);
    stage = stage + 1 < STAGES ? stage + 1 : 0, coming = coming + 1 < STAGES ? coming + 1 : 0;
  }

  bias += (long long)row * n;
  const auto shift = [&](int i) { return i0 + i < n ? bias[i0 + i] : (real)0; };
  constexpr int WHOLE = sizeof(Sums::Out) / SIZE;
  sums.finish(shift, [&](int i, int j, const Sums::Out& v) {
    real* const to = out + (long long)(i0 + i) * m + j0 + j;
    if (i0 + i >= n) return;
    if constexpr (CHUNK == 16) {  // rows are whole pieces
      store_if(j0 + j < m, to, v);
    } else {
#pragma unroll
      for (int q = 0; q < WHOLE; q++)
        if (j0 + j + q < m) to[q] = v[q];
    }
  });
}
