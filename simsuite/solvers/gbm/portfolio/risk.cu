// Sketch of what the portfolio gains on all paths of a batch, see portfolio.py and quantile_sketch.py. Lanes of a warp
// whose gains are in the same bin count them together: many are, where options expire worthless.
//
// Compiled at run time, with the macros STATE, ASSETS, COUNT (functionals, at least 1), FUNCTIONALS (their kinds),
// FUNCTION (gain_of), CALL (of it, on `v`, which has the price of each asset in the end, what was kept, the noise of each asset), BITS, FINE,
// LEAST_EXPONENT, OCTAVES, LARGEST_PRICE, THREADS.

#include "../paths/kernels/ends.cuh"
#include "../statistics/quantile_sketch.cuh"

typedef unsigned long long Limb;
FUNCTION

extern "C" __global__ void __launch_bounds__(THREADS)
tally(const state* __restrict__ y, const state* __restrict__ kept, unsigned long long room, unsigned n,
      const double* __restrict__ growth, Limb* table) {
  constexpr int CELLS = 2 * BINS + 3, ZERO = BINS + 1, NONE = BINS + 2;
  const int lane = threadIdx.x & 31;
  for (unsigned begin = blockIdx.x * THREADS + threadIdx.x - lane; begin < n; begin += gridDim.x * THREADS) {
    const unsigned i = begin + lane;
    int bin = NONE;
    unsigned within = 0;
    if (i < n) {
      End path;
      double v[2 * ASSETS + COUNT];
      path.read(y, kept, room, i);
      path.tell(v, growth);
      const double gain = CALL;
      if (abs(gain) < LARGEST_PRICE) bin = cell(gain, within);  // nor is it NaN
    }
    const unsigned mates = __match_any_sync(0xffffffffu, bin);
    const unsigned sum = __reduce_add_sync(mates, within), squares = __reduce_add_sync(mates, within * within);
    if (bin != NONE && lane == __ffs(mates) - 1) {
      atomicAdd(&table[ZERO + bin], (Limb)__popc(mates));
      atomicAdd(&table[CELLS + ZERO + bin], (Limb)sum);
      atomicAdd(&table[2 * CELLS + ZERO + bin], (Limb)squares);
    }
  }
}
