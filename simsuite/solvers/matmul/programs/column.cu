// out = A x + b for a single column x. A (n, p), x (p), out (n).
//
// It waits for memory: each entry of A is read once. A block has ROWS rows and brings A, in the order in which `row_sums.cuh`
// reads it, by slices of DEPTH columns into STAGES places of shared memory, most of which are on their way at any time; all
// threads bring, and ADDERS of them add.
//
// Macros: DOUBLE, ROWS, DEPTH, STAGES, THREADS.

#include "../../copies.cuh"
#include "row_sums.cuh"

constexpr int SLICE = DEPTH * (ROWS + 1);  // numbers: of A, then of x
constexpr int PIECES = DEPTH * ROWS / BESIDE;
static_assert(ADDERS <= THREADS && DEPTH % (2 * PART) == 0, "pairs of parts");

// A: (blocks, pitch). bias: of which row `row` is added.
extern "C" __global__ void __launch_bounds__(THREADS)
column(const real* __restrict__ A, const real* __restrict__ x, const real* __restrict__ bias,
       real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  extern __shared__ __align__(16) char memory[];
  const real* const places = (const real*)memory;
  const unsigned to = shared_address(memory);
  const int thread = threadIdx.x, slices = (p + DEPTH - 1) / DEPTH;
  const real* const own = A + (long long)blockIdx.x * pitch;
  const auto start = [&](int slice) {
    const unsigned place = to + slice % STAGES * (SLICE * SIZE);
    const real* const from = own + (long long)slice * DEPTH * ROWS;
    for (int at = thread; at < PIECES; at += THREADS) copy_async<16>(place + at * 16, from + at * BESIDE);
    for (int k = thread; k < DEPTH; k += THREADS) {
      const int at = slice * DEPTH + k;
      copy_or_zero<SIZE>(place + (DEPTH * ROWS + place_of(k)) * SIZE, x + (at < p ? at : 0), at < p);
    }
  };
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < slices) start(s);
    end_group();
  }
  RowSum sum_of_row(thread);
  for (int s = 0; s < slices; s++) {
    wait_for_groups<STAGES - 2>();
    __syncthreads();  // this slice is there for all threads, and none reads the place that is filled now
    if (s + STAGES - 1 < slices) start(s + STAGES - 1);
    end_group();
    const real* const slice = places + s % STAGES * SLICE;
    if (thread < ADDERS) sum_of_row.add(slice, slice + DEPTH * ROWS, DEPTH, steps >> 31);
  }
  const int i = blockIdx.x * ROWS + sum_of_row.row;
  if (thread < ADDERS && sum_of_row.mine && i < n) out[i] = sum_of_row.sum() + bias[(long long)row * n + i];
}
