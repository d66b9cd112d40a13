// Tiles of a product: ROWS x COLUMNS entries that a block makes.
//
// It walks down the inner dimension by slices of DEPTH and has STAGES of them in shared memory: while one is multiplied,
// the next ones are on their way (cp.async), so that a slice takes one barrier. A comes transposed, At (p', n'), n' and p'
// filled up with zeros to whole tiles and slices: so a slice of either factor is DEPTH rows of neighbouring numbers, and
// only X has edges.
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

  // From slice `first` on.
  __device__ __forceinline__ Copies(const real* At, const real* X, int i0, int j0, int first, int pitch, int m, int p,
                                    unsigned memory)
      : p(p) {
    const int thread = threadIdx.x, a_row = thread / A_ROW, i = thread % A_ROW * (16 / SIZE);
    const int j = thread % X_ROW * (CHUNK / SIZE);
    row = first * DEPTH + thread / X_ROW;
    inside = j0 + j < m;
    a = At + (long long)(first * DEPTH + a_row) * pitch + i0 + i;
    x = X + (inside ? (long long)min(row, p - 1) * m + j0 + j : 0);
    a_step = (long long)THREADS / A_ROW * pitch, x_step = (long long)THREADS / X_ROW * m;
    a_to = memory + (a_row * A_PITCH + i) * SIZE;
    x_to = memory + (DEPTH * A_PITCH + thread / X_ROW * X_PITCH + j) * SIZE;
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

struct Given {  // At: (p', pitch)
  const real *At, *X, *bias;
  real* out;
  int n, p, m, pitch;
};

struct Place {  // of a tile
  int i0, j0;

  __device__ __forceinline__ Place(const Given& g, int number) {
    const int down = (g.n + ROWS - 1) / ROWS, across = (g.m + COLUMNS - 1) / COLUMNS;
    const int above = number / (TOGETHER * across) * TOGETHER, within = number - above * across;
    const int together = min(TOGETHER, down - above);
    i0 = (above + within % together) * ROWS, j0 = within / together * COLUMNS;
  }
};

// Slices from .. to.
__device__ __forceinline__ void add_slices(Sums& sums, const Given& g, const Place& place, int from, int to,
                                           const char* memory) {
  Copies copies(g.At, g.X, place.i0, place.j0, from, g.pitch, g.m, g.p, shared_address(memory));
  for (int s = 0; s < STAGES - 1; s++) {
    if (from + s < to) copies.start(s);
    end_group();
  }
  const auto slice = [&](int stage) { return (const real*)memory + stage * SLICE; };
  constexpr int STEP = Sums::STEP, STEPS = DEPTH / STEP;
  static_assert(STEPS % 2 == 0 && STEPS * STEP == DEPTH, "pairs of steps");
  Sums::Numbers numbers[2];  // some are read while others are multiplied, beyond the end of a slice too
  wait_for_groups<STAGES - 2>();
  __syncthreads();
  sums.read_step(slice(0), slice(0) + DEPTH * A_PITCH, numbers[0]);
  int stage = 0, coming = STAGES - 1;
  for (int s = from; s < to; s++) {
    const int next = stage + 1 < STAGES ? stage + 1 : 0;
    if (s + STAGES - 1 < to) copies.start(coming);
    end_group();
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      if (k + 1 == STEPS) {
        wait_for_groups<STAGES - 2>();
        __syncthreads();  // the next slice is there for all threads, and none reads this one any more
      }
      const real* const A = k + 1 == STEPS ? slice(next) : slice(stage) + (k + 1) * STEP * A_PITCH;
      const real* const X = (k + 1 == STEPS ? slice(next) : slice(stage) + (k + 1) * STEP * X_PITCH) + DEPTH * A_PITCH;
      sums.read_step(A, X, numbers[(k + 1) % 2]);
      sums.multiply(numbers[k % 2]);
    }
    stage = next, coming = coming + 1 < STAGES ? coming + 1 : 0;
  }
}

__device__ __forceinline__ void write(const Sums& sums, const Given& g, const Place& place) {
  const int i0 = place.i0, j0 = place.j0;
  const auto shift = [&](int i) { return i0 + i < g.n ? g.bias[i0 + i] : (real)0; };
  constexpr int WHOLE = sizeof(Sums::Out) / SIZE;
  sums.finish(shift, [&](int i, int j, const Sums::Out& v) {
    real* const to = g.out + (long long)(i0 + i) * g.m + j0 + j;
    if (i0 + i >= g.n) return;
    if constexpr (CHUNK == 16) {  // rows are whole pieces
      store_if(j0 + j < g.m, to, v);
    } else {
#pragma unroll
      for (int q = 0; q < WHOLE; q++)
        if (j0 + j + q < g.m) to[q] = v[q];
    }
  });
}
