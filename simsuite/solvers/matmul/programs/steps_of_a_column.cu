// Many steps x <- A x + b_k of a single column x that is too large for one multiprocessor: all of them take part, and hand
// each other what they have come to.
//
// A step takes as long as a row's chain of additions (`row_sums.cuh`), and the way of a number from one multiprocessor to the
// others, once. A block has ROWS rows. ADDERS of its threads only add (see row_sums.cuh); the others fetch x,
// number by number as it comes, and what is needed of A, in the order in which it is read. The first HELD columns stay in
// shared memory; the rest comes again in every step, by slices of DEPTH columns into STAGES places, before x is there.
//
// Macros: DOUBLE, ROWS, HELD, DEPTH, STAGES.

#include "../../copies.cuh"
#include "../../exchange.cuh"
#include "block_messages.cuh"
#include "row_sums.cuh"

constexpr int FETCHERS = 256, THREADS = ADDERS + FETCHERS;
constexpr int SLICE = DEPTH * ROWS;  // numbers
constexpr int FIRST = HELD < 256 ? HELD : 256;  // columns that are added while the rest of x comes
constexpr int WORDS = SIZE / 4;                 // that carry a number
constexpr int BATCH = 32 / SIZE;                // numbers that a thread looks for at once
static_assert(HELD % (2 * PART) == 0 && DEPTH % (2 * PART) == 0, "pairs of parts");

__device__ __forceinline__ void hand_over(Word* to, real v, unsigned turn) {
#if DOUBLE
  hand_over(to, (unsigned)__double2loint(v), turn), hand_over(to + 1, (unsigned)__double2hiint(v), turn);
#else
  hand_over(to, __float_as_uint(v), turn);
#endif
}

__device__ __forceinline__ real carried(const Word (&words)[WORDS]) {
#if DOUBLE
  return __hiloint2double((unsigned)words[1], (unsigned)words[0]);
#else
  return __uint_as_float((unsigned)words[0]);
#endif
}

// Numbers from .. to of x, of which there are n, as they come in that turn.
__device__ __forceinline__ void fetch(const Word* words, int from, int to, int n, unsigned turn, int thread, real* x) {
  for (int begin = from + thread; begin < to; begin += FETCHERS * BATCH) {
    Word found[BATCH][WORDS];
    bool all;
    do {
      all = true;
#pragma unroll
      for (int q = 0; q < BATCH; q++)
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
          const int k = begin + q * FETCHERS;
          if (k < to && k < n) {
            found[q][w] = look_at(words + (long long)k * WORDS + w);
            all = all && (unsigned)(found[q][w] >> 32) == turn;
          }
        }
    } while (!all);
#pragma unroll
    for (int q = 0; q < BATCH; q++) {
      const int k = begin + q * FETCHERS;
      if (k < to) x[place_of(k)] = k < n ? carried(found[q]) : (real)0;
    }
  }
}

// A: (blocks, pitch). b_k: row `row` + k `stride` of bias. handed: the turn of the last launch's end, how many blocks have
// ended, and two times n numbers, for turns that are odd and even; zeros before the first launch.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
steps_of_a_column(const real* __restrict__ A, const real* __restrict__ X, const real* __restrict__ bias, real* __restrict__ out,
      int n, int p, int m, int pitch, int row, int stride, int steps, Word* handed) {
  extern __shared__ __align__(16) char memory[];
  const int deep = (p + 2 * PART - 1) / (2 * PART) * (2 * PART), streamed = (deep - HELD) / DEPTH;
  real *const x = (real*)memory, *const held = x + deep, *const places = held + HELD * ROWS;
  const real* const own = A + (long long)blockIdx.x * pitch;
  const unsigned before = *(const unsigned*)handed;  // turns wrap around
  Word* const numbers = handed + 2;
  const auto stage = [&](int slice) { return places + slice % STAGES * SLICE; };

  if (threadIdx.x >= ADDERS) {
    const int thread = threadIdx.x - ADDERS, slices = streamed * steps;
    const auto bring = [&](int k0, int columns, const real* to) {
      const real* const from = own + (long long)k0 * ROWS;
      for (int at = thread; at < columns * ROWS / BESIDE; at += FETCHERS)
        copy_async<16>(shared_address(to) + at * 16, from + at * BESIDE);
    };
    const auto bring_slice = [&](int slice) {
      if (slice < slices) bring(HELD + slice % streamed * DEPTH, DEPTH, stage(slice));
      end_group();
    };
    bring(0, FIRST, held);
    end_group();
    bring(FIRST, HELD - FIRST, held + FIRST * ROWS);
    end_group();
    for (int slice = 0; slice < STAGES - 1; slice++) bring_slice(slice);
    int slice = 0;
    for (int k = 0; k < steps; k++) {
      const unsigned turn = before + k;
      const Word* const words = numbers + (turn & 1) * (long long)n * WORDS;
      const auto next = [&](int from, int to) {
        if (k > 0) fetch(words, from, to, n, turn, thread, x);
        else
          for (int l = from + thread; l < to; l += FETCHERS) x[place_of(l)] = l < p ? X[l] : (real)0;
      };
      next(0, FIRST);
      wait_for_groups<STAGES>();
      meet();  // nothing of the last step but its last columns is still read
      next(FIRST, deep);
      wait_for_groups<STAGES - 1>();
      meet();
      for (int t = 0; t < streamed; t++, slice++) {
        wait_for_groups<STAGES - 2>();
        meet();  // this slice is there, and none reads the place that is filled now
        bring_slice(slice + STAGES - 1);
      }
    }
    return;
  }

  const int thread = threadIdx.x, zero = steps >> 31;
  RowSum sum_of_row(thread);
  const int i = blockIdx.x * ROWS + sum_of_row.row;
  const bool mine = sum_of_row.mine && i < n;
  int slice = 0;
  bias += (long long)row * n;
  for (int k = 0; k < steps; k++) {
    const real b = mine ? bias[i] : (real)0;
    bias += (long long)stride * n;
    sum_of_row = RowSum(thread);
    meet();
    sum_of_row.add(held, x, FIRST, zero);
    meet();
    sum_of_row.add(held + FIRST * ROWS, x + FIRST, HELD - FIRST, zero);
    for (int t = 0; t < streamed; t++, slice++) {
      meet();
      sum_of_row.add(stage(slice), x + HELD + t * DEPTH, DEPTH, zero);
    }
    const unsigned turn = before + k + 1;
    if (mine && k + 1 == steps) out[i] = sum_of_row.sum() + b;
    else if (mine) hand_over(numbers + ((turn & 1) * (long long)n + i) * WORDS, sum_of_row.sum() + b, turn);
  }
  if (thread == 0) {  // whoever ends last counts the turns
    unsigned* const counts = (unsigned*)handed;
    if (atomicAdd(counts + 1, 1u) == gridDim.x - 1) counts[0] = before + steps, counts[1] = 0;
  }
}
