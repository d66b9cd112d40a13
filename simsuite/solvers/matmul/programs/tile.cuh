// Tiles of a product: ROWS x COLUMNS entries that a block makes.
//
// It walks down the inner dimension by slices of DEPTH and has STAGES of them in shared memory: while one is multiplied,
// the next ones are on their way (cp.async), so that a slice takes one barrier. A comes in panels of ROWS of its rows, each
// transposed, one after the other, and filled up with zeros to whole tiles and slices: so only X has edges.
//
// Macros besides those of sums.cuh: DEPTH, STAGES, BLOCKS that share a multiprocessor, and CHUNK, the bytes of X that are
// copied at once: 16 where its rows allow.

#include "../../copies.cuh"
#include "../../overlap.cuh"
#define ALTERNATING 1
#include "sums.cuh"

constexpr int A_NUMBERS = DEPTH * ROWS, SLICE = A_NUMBERS + DEPTH * COLUMNS;
constexpr int TOGETHER = 8;  // rows of tiles that are made at the same time, to find each other's slices in the cache

struct Given {  // A in panels of `pitch` numbers
  const real *A, *X, *bias;
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

struct Copies {  // of this thread, from both factors, part after part of a slice
  static constexpr int A_PIECES = PART * ROWS * SIZE / 16 / THREADS;
  static constexpr int X_ROW = COLUMNS * SIZE / CHUNK, FURTHER = THREADS / X_ROW;
  static constexpr int X_PIECES = (PART + FURTHER - 1) / FURTHER;
  static_assert(A_PIECES * THREADS * 16 == PART * ROWS * SIZE, "whole pieces of A for every thread");
  static_assert(THREADS % X_ROW == 0, "whole rows of X");
  static constexpr int TURNS = !DOUBLE || FURTHER % 4 == 0 ? 1 : FURTHER % 2 == 0 ? 2 : 4;  // until rows are mixed alike
  const real *a, *x, *start;
  unsigned a_to, x_to[TURNS];
  int k, row, p, m;
  bool inside;

  // From slice `first` on.
  __device__ __forceinline__ Copies(const Given& g, const Place& place, int first, unsigned memory)
      : start(g.X), p(g.p), m(g.m) {
    const int thread = threadIdx.x, j = thread % X_ROW * (CHUNK / SIZE);
    k = thread / X_ROW, row = first * DEPTH + k;
    inside = place.j0 + j < g.m;
    a = g.A + (long long)place.i0 / ROWS * g.pitch + (long long)first * A_NUMBERS + thread * (16 / SIZE);
    x = g.X + (long long)row * m + place.j0 + j;
    a_to = memory + thread * 16;
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
      const int there = k + i * FURTHER;
      x_to[i] = memory + (A_NUMBERS + there * COLUMNS + mixed(there, j)) * SIZE;
    }
  }

  // Start the next part on its way to its place in a stage.
  __device__ __forceinline__ void start_a(int stage, int part) {
#pragma unroll
    for (int i = 0; i < A_PIECES; i++)
      copy_async<16>(a_to + (stage * SLICE + part * PART * ROWS) * SIZE + i * THREADS * 16,
                     a + i * THREADS * (16 / SIZE));
    a += PART * ROWS;
  }

  __device__ __forceinline__ void start_x(int stage, int part) {
    const int from = (stage * SLICE + part * PART * COLUMNS) * SIZE;
#pragma unroll
    for (int i = 0; i < X_PIECES; i++) {
      const unsigned to = x_to[i % TURNS] + from + (i - i % TURNS) * FURTHER * COLUMNS * SIZE;
      const bool wanted = inside && row + i * FURTHER < p;
      if ((i + 1) * FURTHER <= PART || k + i * FURTHER < PART)
        copy_or_zero<CHUNK>(to, wanted ? x + (long long)i * FURTHER * m : start, wanted);
    }
    row += PART, x += (long long)PART * m;
  }
};

struct Slices {  // in shared memory
  static constexpr int PARTS = DEPTH / PART;
  static_assert(PARTS * PART == DEPTH, "whole parts");
  const char* memory;

  __device__ __forceinline__ Slices(const char* memory) : memory(memory) {}

  // Slices from .. to of a tile.
  __device__ __forceinline__ void add(Sums& sums, const Given& g, const Place& place, int from, int to) const {
    Copies copies(g, place, from, shared_address(memory));
    __syncthreads();  // none reads the stages any more
    for (int s = 0; s < STAGES - 1; s++)
      for (int part = 0; part < PARTS && from + s < to; part++) copies.start_a(s, part);
    wait_for_earlier();  // A stays the same, X is what they made
    for (int s = 0; s < STAGES - 1; s++) {
      for (int part = 0; part < PARTS && from + s < to; part++) copies.start_x(s, part);
      end_group();
    }
    const auto A = [&](int stage) { return (const real*)memory + stage * SLICE; };
    const auto X = [&](int stage) { return A(stage) + A_NUMBERS; };
    Sums::Numbers numbers[2];  // some are read while others are multiplied, beyond the end of a slice too
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    sums.read_step(A(0), X(0), numbers[0]);
    int stage = 0, coming = STAGES - 1;
    for (int s = from; s < to; s++) {
      const int next = stage + 1 < STAGES ? stage + 1 : 0;
      const auto copy = [&](int part) {
        if (s + STAGES - 1 < to) copies.start_a(coming, part), copies.start_x(coming, part);
        if (part + 1 == PARTS) end_group();
      };
      add_parts<PARTS>(sums, A(stage), X(stage), A(next), X(next), numbers, copy, [&] {
        wait_for_groups<STAGES - 2>();
        __syncthreads();  // the next slice is there for all threads, and none reads this one any more
      });
      stage = next, coming = coming + 1 < STAGES ? coming + 1 : 0;
    }
  }
};

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
