// What a warp adds up of a product, in registers: pieces of A and X in shared memory, A transposed.
//
// A warp makes WARP_ROWS x WARP_COLUMNS entries. In float32 a lane has a patch of TALL x WIDE of them, in pieces of up to
// four rows and columns, so that it reads up to 16 bytes at once and the lanes of a warp neighbouring ones: TALL + WIDE
// numbers are read for TALL WIDE multiplications. Every entry is fma(A[i, k], X[k, j], sum) in order of k, as on a CPU. In float64
// tensor cores multiply, 16 x 8 entries and AT_ONCE columns of A at once, and add up in the same order. What they call rows
// g and g + 8 are neighbours here, 2 g and 2 g + 1, and so are columns g of two pieces: a lane reads 16 bytes at once.
// Rows in shared memory are PAD numbers longer, which keeps the lanes of a quarter warp, four rows of two, apart in the
// banks.
//
// Macros: DOUBLE; ROWS and COLUMNS of a block; WARP_ROWS and WARP_COLUMNS; TALL and WIDE, or AT_ONCE.

#include "real.cuh"
#include "special.cuh"

constexpr int PAD = DOUBLE ? 4 : 0;
constexpr int A_PITCH = ROWS + PAD, X_PITCH = COLUMNS + PAD;
constexpr int WARPS = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS), THREADS = 32 * WARPS;

#if DOUBLE

struct Sums {
  typedef Piece Out;  // neighbours that are stored at once
  static constexpr int TALL_PIECES = WARP_ROWS / 16, WIDE_PIECES = WARP_COLUMNS / 8;
  static_assert(WARP_ROWS % 16 == 0 && WARP_COLUMNS % 16 == 0, "pairs of pieces");
  double c[TALL_PIECES][WIDE_PIECES][4];
  int i, j, g, t;

  __device__ __forceinline__ Sums(int warp, int lane) : g(lane / 4), t(lane % 4) {
    i = warp % (ROWS / WARP_ROWS) * WARP_ROWS, j = warp / (ROWS / WARP_ROWS) * WARP_COLUMNS;
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

  // DEEP rows of both.
  template <int DEEP> __device__ __forceinline__ void add(const real* A, const real* X) {
#pragma unroll
    for (int k = 0; k < DEEP; k += AT_ONCE) {
      double a[TALL_PIECES][AT_ONCE / 2], b[WIDE_PIECES][AT_ONCE / 4];
#pragma unroll
      for (int q = 0; q < AT_ONCE / 4; q++) {
#pragma unroll
        for (int r = 0; r < TALL_PIECES; r++) {
          Piece v;
          read(A + (k + t + 4 * q) * A_PITCH + i + 16 * r + 2 * g, v);
          a[r][2 * q] = v[0], a[r][2 * q + 1] = v[1];
        }
#pragma unroll
        for (int s = 0; s < WIDE_PIECES; s += 2) {
          Piece v;
          read(X + (k + t + 4 * q) * X_PITCH + j + 8 * s + 2 * g, v);
          b[s][q] = v[0], b[s + 1][q] = v[1];
        }
      }
#pragma unroll
      for (int r = 0; r < TALL_PIECES; r++)
#pragma unroll
        for (int s = 0; s < WIDE_PIECES; s++) tensor_product<AT_ONCE>(c[r][s], a[r], b[s]);
    }
  }

  // Entries with what is to be added to rows, `shift(row)`, for `store(row, column, neighbours)`.
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
  static_assert(LANES_DOWN * LANES_ACROSS == 32 && TALL % DOWN == 0 && WIDE % ACROSS == 0, "a patch for every lane");
  typedef float Out[ACROSS];
  float c[TALL][WIDE];
  int i, j;

  __device__ __forceinline__ Sums(int warp, int lane) {
    i = warp % (ROWS / WARP_ROWS) * WARP_ROWS + lane / LANES_ACROSS * DOWN;
    j = warp / (ROWS / WARP_ROWS) * WARP_COLUMNS + lane % LANES_ACROSS * ACROSS;
    clear();
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int r = 0; r < TALL; r++)
#pragma unroll
      for (int s = 0; s < WIDE; s++) c[r][s] = 0;
  }

  template <int DEEP> __device__ __forceinline__ void add(const real* A, const real* X) {
    float a[2][TALL], x[2][WIDE];  // the next ones are read while these are multiplied
    load(A + i, X + j, 0, a[0], x[0]);
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
      if (k + 1 < DEEP) load(A + i, X + j, k + 1, a[(k + 1) % 2], x[(k + 1) % 2]);
#pragma unroll
      for (int r = 0; r < TALL; r++)
#pragma unroll
        for (int s = 0; s < WIDE; s++) c[r][s] = fma(a[k % 2][r], x[k % 2][s], c[r][s]);
    }
  }

  static __device__ __forceinline__ void load(const float* A, const float* X, int k, float* a, float* x) {
#pragma unroll
    for (int q = 0; q < TALL; q += DOWN) read_some<DOWN>(A + k * A_PITCH + q * LANES_DOWN, a + q);
#pragma unroll
    for (int q = 0; q < WIDE; q += ACROSS) read_some<ACROSS>(X + k * X_PITCH + q * LANES_ACROSS, x + q);
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
