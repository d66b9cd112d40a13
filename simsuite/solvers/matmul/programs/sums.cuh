// What a warp adds up of a product, in registers: pieces of A and X in shared memory, A transposed.
//
// A warp makes WARP_ROWS x WARP_COLUMNS entries. In float32 a lane has a patch of TALL x WIDE of them, in pieces of up to
// four rows and columns, so that it reads up to 16 bytes at once and the lanes of a warp neighbouring ones: TALL + WIDE
// numbers are read for TALL WIDE multiplications, and AT_ONCE columns of A before they are multiplied. Every entry is
// fma(A[i, k], X[k, j], sum) in order of k, as on a CPU. In float64 tensor cores multiply, 16 x 8 entries and AT_ONCE
// columns of A at once, and add up in the same order. What they call rows g and g + 8 are neighbours here, 2 g and
// 2 g + 1, and so are columns g of two pieces: a lane reads 16 bytes at once. `mixed` keeps the lanes of a quarter warp,
// four rows of two pieces, apart in the banks.
//
// Macros: DOUBLE; ROWS and COLUMNS of a block; WARP_ROWS and WARP_COLUMNS; TALL and WIDE (in float32); AT_ONCE; PART, rows
// over which loops are unrolled; ALTERNATING: whether neighbouring lanes are neighbours along rows and columns, which reads
// faster, or along rows only, which writes to shared memory faster.

#include "real.cuh"
#include "tensor_cores.cuh"

constexpr int WARPS = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS), THREADS = 32 * WARPS;

// Where number i of row k is.
__device__ __forceinline__ int mixed(int k, int i) { return DOUBLE ? i ^ 4 * (k % 4) : i; }

#if DOUBLE

struct Sums {
  typedef Piece Out;  // neighbours that are stored at once
  static constexpr int TALL_PIECES = WARP_ROWS / 16, WIDE_PIECES = WARP_COLUMNS / 8;
  static_assert(WARP_ROWS % 16 == 0 && WARP_COLUMNS % 16 == 0, "pairs of pieces");
  static constexpr int COUNT = TALL_PIECES * WIDE_PIECES * 4;
  double c[TALL_PIECES][WIDE_PIECES][4];
  int i, j, g, t, a_from, x_from;

  __device__ __forceinline__ Sums(int warp, int lane) : g(lane / 4), t(lane % 4) {
    i = warp % (ROWS / WARP_ROWS) * WARP_ROWS, j = warp / (ROWS / WARP_ROWS) * WARP_COLUMNS;
    a_from = t * ROWS + i + mixed(t, 2 * g);
    x_from = t * COLUMNS + j + mixed(t, 2 * g);
    clear();
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r < TALL_PIECES; r++)
#pragma unroll
      for (int s = 0; s < WIDE_PIECES; s++)
#pragma unroll
        for (int q = 0; q < 4; q++) c[r][s][q] = 0;
  }

  __device__ __forceinline__ double& at(int q) { return c[q / 4 / WIDE_PIECES][q / 4 % WIDE_PIECES][q % 4]; }

  static constexpr int STEP = AT_ONCE;  // rows of both that are read at once

  struct Numbers {
    double a[TALL_PIECES][AT_ONCE / 2], x[WIDE_PIECES][AT_ONCE / 4];
  };

  __device__ __forceinline__ void read_step(const real* A, const real* X, Numbers& numbers) const {
#pragma unroll
    for (int q = 0; q < AT_ONCE / 4; q++) {
#pragma unroll
      for (int r = 0; r < TALL_PIECES; r++) {
        Piece v;
        read(A + a_from + 4 * q * ROWS + 16 * r, v);
        numbers.a[r][2 * q] = v[0], numbers.a[r][2 * q + 1] = v[1];
      }
#pragma unroll
      for (int s = 0; s < WIDE_PIECES; s += 2) {
        Piece v;
        read(X + x_from + 4 * q * COLUMNS + 8 * s, v);
        numbers.x[s][q] = v[0], numbers.x[s + 1][q] = v[1];
      }
    }
  }

  __device__ __forceinline__ void multiply(const Numbers& numbers) {
#pragma unroll
    for (int r = 0; r < TALL_PIECES; r++)
#pragma unroll
      for (int s = 0; s < WIDE_PIECES; s++) tensor_product<AT_ONCE>(c[r][s], numbers.a[r], numbers.x[s]);
  }

  // Calls `store(row, column, neighbours)` for all entries, to which `shift(row)` is added.
  template <typename Shift, typename Store> __device__ __forceinline__ void finish(Shift shift, Store store) const {
#pragma unroll
    for (int r = 0; r < TALL_PIECES; r++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int row = i + 16 * r + 2 * g + h;
        const real b = shift(row);
#pragma unroll
        for (int s = 0; s < WIDE_PIECES; s += 2)
#pragma unroll
          for (int q = 0; q < 2; q++) {
            const Out v = {c[r][s][2 * h + q] + b, c[r][s + 1][2 * h + q] + b};
            store(row, j + 8 * s + 4 * t + 2 * q, v);
          }
      }
  }
};

#else

struct Sums {
  static constexpr int LANES_DOWN = WARP_ROWS / TALL, LANES_ACROSS = WARP_COLUMNS / WIDE;
  static constexpr int DOWN = TALL < 4 ? TALL : 4, ACROSS = WIDE < 4 ? WIDE : 4;  // of a piece
  static_assert(LANES_DOWN * LANES_ACROSS == 32 && (LANES_DOWN > 1 || !ALTERNATING), "a patch for every lane");
  static_assert(TALL % DOWN == 0 && WIDE % ACROSS == 0, "whole pieces");
  static constexpr int COUNT = TALL * WIDE;
  typedef float Out[ACROSS];
  float c[TALL][WIDE];
  int i, j;

  __device__ __forceinline__ Sums(int warp, int lane) {
    int down = lane / LANES_ACROSS, across = lane % LANES_ACROSS;
    if (ALTERNATING) {  // the first bit of a lane's number counts rows, the second columns
      down = lane & 1 | (lane >> 2 & LANES_DOWN / 2 - 1) << 1;
      across = lane >> 1 & 1 | lane / LANES_DOWN / 2 << 1;
    }
    i = warp % (ROWS / WARP_ROWS) * WARP_ROWS + down * DOWN;
    j = warp / (ROWS / WARP_ROWS) * WARP_COLUMNS + across * ACROSS;
    clear();
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r < TALL; r++)
#pragma unroll
      for (int s = 0; s < WIDE; s++) c[r][s] = 0;
  }

  __device__ __forceinline__ float& at(int q) { return c[q / WIDE][q % WIDE]; }

  static constexpr int STEP = AT_ONCE;  // rows of both that are read at once

  struct Numbers {
    float a[STEP][TALL], x[STEP][WIDE];
  };

  __device__ __forceinline__ void read_step(const real* A, const real* X, Numbers& numbers) const {
#pragma unroll
    for (int k = 0; k < STEP; k++) {
#pragma unroll
      for (int q = 0; q < TALL; q += DOWN) read_some<DOWN>(A + i + k * ROWS + q * LANES_DOWN, numbers.a[k] + q);
#pragma unroll
      for (int q = 0; q < WIDE; q += ACROSS) read_some<ACROSS>(X + k * COLUMNS + j + q * LANES_ACROSS, numbers.x[k] + q);
    }
  }

  __device__ __forceinline__ void multiply(const Numbers& numbers) {
#pragma unroll
    for (int k = 0; k < STEP; k++)
#pragma unroll
      for (int r = 0; r < TALL; r++)
#pragma unroll
        for (int s = 0; s < WIDE; s++) c[r][s] = fma(numbers.a[k][r], numbers.x[k][s], c[r][s]);
  }

  template <typename Shift, typename Store> __device__ __forceinline__ void finish(Shift shift, Store store) const {
#pragma unroll
    for (int r = 0; r < TALL; r++) {
      const int row = i + r / DOWN * DOWN * LANES_DOWN + r % DOWN;
      const real b = shift(row);
#pragma unroll
      for (int q = 0; q < WIDE; q += ACROSS) {
        Out v;
#pragma unroll
        for (int s = 0; s < ACROSS; s++) v[s] = c[r][q + s] + b;
        store(row, j + q * LANES_ACROSS, v);
      }
    }
  }
};

#endif

// Adds PARTS times PART rows of A and X. numbers[0]: the first rows, which have been read already; the next ones are read
// while rows are multiplied. Calls `before(part)` before each part, and `before_next()` before it reads the first rows at
// next_A and next_X.
template <int PARTS, typename Before, typename BeforeNext>
__device__ __forceinline__ void add_parts(Sums& sums, const real* A, const real* X, const real* next_A,
                                          const real* next_X, Sums::Numbers (&numbers)[2], Before before,
                                          BeforeNext before_next) {
  constexpr int STEP = Sums::STEP, STEPS = PART / STEP;
  static_assert(STEPS % 2 == 0 && STEPS * STEP == PART, "pairs of steps");
#pragma unroll 1
  for (int part = 0; part < PARTS; part++) {
    before(part);
#pragma unroll
    for (int k = 1; k <= STEPS; k++) {
      if (k == STEPS) {
        A += PART * ROWS, X += PART * COLUMNS;
        if (part + 1 == PARTS) before_next(), A = next_A, X = next_X;
      }
      sums.read_step(A + k % STEPS * STEP * ROWS, X + k % STEPS * STEP * COLUMNS, numbers[k % 2]);
      sums.multiply(numbers[(k - 1) % 2]);
    }
  }
}

// PART rows.
__device__ __forceinline__ void add_part(Sums& sums, const real* A, const real* X) {
  constexpr int STEP = Sums::STEP;
  Sums::Numbers numbers[2];
  sums.read_step(A, X, numbers[0]);
#pragma unroll
  for (int k = 0; k < PART; k += STEP) {
    if (k + STEP < PART) sums.read_step(A + (k + STEP) * ROWS, X + (k + STEP) * COLUMNS, numbers[(k / STEP + 1) % 2]);
    sums.multiply(numbers[k / STEP % 2]);
  }
}
