// A row's chain of additions against a single column: every sum is fma(A[i, k], x[k], sum) in order of k.
//
// It takes as long as its additions, each of which waits for the one before it, if nothing else delays them: so a part of A
// and x is read while another is added, by few instructions and without branches, across which NVRTC moves no loads. In
// float32 a thread has a row, and A comes as [k / 4][row][k % 4]. In float64 tensor cores add 16 numbers to each of 16 rows
// in less time than a thread to one (5.2 cycles a number instead of 8.1 on an H100): the 16 rows and columns of a part come
// in the order in which its lanes read them (`layout.py`), and so does x (`place_of`); all columns of the product are the
// same.
//
// Macros: DOUBLE; ROWS of a block, in float64 a multiple of 16.

#include "real.cuh"
#include "tensor_cores.cuh"

constexpr int PART = 16;  // columns of A

#if DOUBLE

constexpr int ADDERS = 2 * ROWS;  // threads
static_assert(ROWS % 16 == 0, "whole parts");

// Where x[k] is to be.
__device__ __forceinline__ int place_of(int k) { return (k & ~15) | (k & 3) << 2 | (k >> 2 & 3); }

struct Part {
  double a[8], x[4];

  __device__ __forceinline__ void read_from(const real* A, const real* numbers) {
#pragma unroll
    for (int q = 0; q < 4; q++) read(A + 64 * q, *(Piece*)(a + 2 * q));
#pragma unroll
    for (int q = 0; q < 2; q++) read(numbers + 2 * q, *(Piece*)(x + 2 * q));
  }
};

struct RowSum {
  int first_a, first_x, row;
  bool mine;  // whether this thread is the one that has the sum of `row`
  double c[4] = {0, 0, 0, 0};

  __device__ __forceinline__ explicit RowSum(int thread) {
    const int warp = thread / 32, lane = thread % 32, t = lane % 4;
    first_a = warp * 256 + lane * 2, first_x = 4 * t;
    row = warp * 16 + lane / 4 + t % 2 * 8, mine = t < 2;
  }
  __device__ __forceinline__ void add(const Part& part) { tensor_product<16>(c, part.a, part.x); }
  // NVRTC 13.0 may start the product at the top of a loop before the one at its end has given its sums; to use a sum in
  // integer arithmetic enforces the wait. zero: 0, as an argument, so that the compiler does not know that it is 0.
  __device__ __forceinline__ void settle(int zero) {
    c[0] = __hiloint2double(__double2hiint(c[0]) ^ zero, __double2loint(c[0]));
  }
  __device__ __forceinline__ real sum() const { return row & 8 ? c[2] : c[0]; }

#else

constexpr int ADDERS = (ROWS + 31) / 32 * 32;

__device__ __forceinline__ int place_of(int k) { return k; }

struct Part {
  Piece a[PART / 4], x[PART / 4];

  __device__ __forceinline__ void read_from(const real* A, const real* numbers) {
#pragma unroll
    for (int q = 0; q < PART / 4; q++) read(A + 4 * ROWS * q, a[q]), read(numbers + 4 * q, x[q]);
  }
};

struct RowSum {
  int first_a, first_x = 0, row;
  bool mine;
  float total = 0;

  __device__ __forceinline__ explicit RowSum(int thread) {
    row = min(thread, ROWS - 1), mine = thread < ROWS;
    first_a = 4 * row;
  }
  __device__ __forceinline__ void add(const Part& part) {
#pragma unroll
    for (int k = 0; k < PART; k++) total = fma(part.a[k / 4][k % 4], part.x[k / 4][k % 4], total);
  }
  __device__ __forceinline__ void settle(int zero) {}
  __device__ __forceinline__ real sum() const { return total; }

#endif

  // `count` columns, an even number of parts, of the block's rows of A. zero: see `settle`.
  __device__ __forceinline__ void add(const real* A, const real* numbers, int count, int zero) {
    if (count == 0) return;
    A += first_a, numbers += first_x;
    Part one, other;
    one.read_from(A, numbers);
#pragma unroll 1
    for (int k = PART;; k += 2 * PART) {
      other.read_from(A + k * ROWS, numbers + k);
      add(one);
      const int next = k + PART < count ? k + PART : 0;  // at the end for nothing
      one.read_from(A + next * ROWS, numbers + next);
      add(other);
      settle(zero);
      if (next == 0) return;
    }
  }
};
