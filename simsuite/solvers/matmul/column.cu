// out = A x + b for a single column x. A (n, p), x (p), out (n).
//
// It waits for memory: each entry of A is read once. A block has ROWS rows and brings A by slices of DEPTH columns into
// STAGES places of shared memory, most of which are on their way at any time; all threads bring, and ROWS of them add:
// every entry is fma(A[i, k], x[k], sum) in order of k, as for many columns. A comes transposed, At (p', n'), filled up
// with zeros.
//
// Macros: DOUBLE, ROWS, DEPTH, STAGES, THREADS.

#include "../copies.cuh"
#include "real.cuh"

constexpr int SLICE = DEPTH * (ROWS + 1);  // numbers: of A, then of x
constexpr int ROW = ROWS * SIZE / 16, PIECES = DEPTH * ROW / THREADS;  // of 16 bytes
static_assert(PIECES * THREADS == DEPTH * ROW && THREADS % ROW == 0 && ROWS <= THREADS, "whole pieces for every thread");

constexpr int PART = 16;
static_assert(DEPTH % PART == 0, "whole parts");

struct Part {  // of a row of A, and of x
  real a[PART];
  Piece x[PART / BESIDE];

  __device__ __forceinline__ void read_from(const real* row, const real* numbers) {
#pragma unroll
    for (int k = 0; k < PART; k++) a[k] = row[k * ROWS];
#pragma unroll
    for (int k = 0; k < PART / BESIDE; k++) read(numbers + k * BESIDE, x[k]);
  }

  __device__ __forceinline__ void add(real& sum) const {
#pragma unroll
    for (int k = 0; k < PART; k++) sum = fma(a[k], x[k / BESIDE][k % BESIDE], sum);
  }
};

// At: (p', pitch). bias: of which row `row` is added.
extern "C" __global__ void __launch_bounds__(THREADS)
column(const real* __restrict__ At, const real* __restrict__ x, const real* __restrict__ bias,
       real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  extern __shared__ __align__(16) char memory[];
  const real* const places = (const real*)memory;
  const unsigned to = shared_address(memory);
  const int thread = threadIdx.x, i0 = blockIdx.x * ROWS, slices = (p + DEPTH - 1) / DEPTH;
  const real* from = At + (long long)(thread / ROW) * pitch + i0 + thread % ROW * BESIDE;
  const auto start = [&](int slice) {
    const unsigned place = to + slice % STAGES * (SLICE * SIZE);
#pragma unroll
    for (int q = 0; q < PIECES; q++) {
      copy_async<16>(place + (q * THREADS + thread) * 16, from);
      from += (long long)(THREADS / ROW) * pitch;
    }
    for (int k = thread; k < DEPTH; k += THREADS) {
      const int at = slice * DEPTH + k;
      copy_or_zero<SIZE>(place + (DEPTH * ROWS + k) * SIZE, x + (at < p ? at : 0), at < p);
    }
  };
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < slices) start(s);
    end_group();
  }
  real sum = 0;
  for (int s = 0; s < slices; s++) {
    wait_for_groups<STAGES - 2>();
    __syncthreads();  // this slice is there for all threads, and none reads the place that is filled now
    if (s + STAGES - 1 < slices) start(s + STAGES - 1);
    end_group();
    const real* const A = places + s % STAGES * SLICE;
    if (thread < ROWS) {
      Part part[2];  // the next one is read while one is added
      part[0].read_from(A + thread, A + DEPTH * ROWS);
#pragma unroll
      for (int k = 0; k < DEPTH / PART; k++) {
        if (k + 1 < DEPTH / PART)
          part[(k + 1) % 2].read_from(A + (k + 1) * PART * ROWS + thread, A + DEPTH * ROWS + (k + 1) * PART);
        part[k % 2].add(sum);
      }
    }
  }
  const int i = i0 + thread;
  if (thread < ROWS && i < n) out[i] = sum + bias[(long long)row * n + i];
}
