// Sums of payoffs of all paths of a batch, and of products of two, see statistics.py. A block for as many groups of paths
// as come its way, of a replicate (grid y).
//
// Compiled at run time, with the macros STATE, ASSETS, COUNT (functionals, at least 1), FUNCTIONALS (their kinds),
// SIGNS (paths of an observation, whose mean counts), GROUP, LIMBS,
// LARGEST_PRICE, FUNCTIONS (payoff0, payoff1, ..), CALLS (of them, on `v`, which has the price of each asset in the end, what
// was kept, the noise of each asset, and on `numbers.given`), VALUES (how many), NUMBERS (given), NAMED (the asset to blame),
// COARSE (calls on `v` of the coarse path, if there is one: what they give is subtracted), PRODUCTS (a list of {value,
// value or -1}), ROWS (how many), THREADS.

#include "ends.cuh"
#include "../payoff_arguments.cuh"
#include "../../statistics/exact_sums.cuh"
#include "../../random_numbers/numbering.cuh"

typedef double real;  // in which payoffs are added up
FUNCTIONS

// What PayoffFunctions.struct gives: what is subtracted from each value, and the numbers in payoffs, such as strikes.
struct Numbers {
  real shifts[VALUES], given[NUMBERS];
};
TABLE int named[] = {NAMED};
struct Product {
  int a, b;
};
TABLE Product products[] = {PRODUCTS};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
payoffs(const state* __restrict__ y, const state* __restrict__ kept, const state* __restrict__ coarse_y,
        const state* __restrict__ coarse_kept, Payoffs common, const __grid_constant__ Numbers numbers, unsigned n,
        unsigned long long first_path, Limb* sums, long long* fault) {
  const unsigned long long room = common.room;
  __shared__ Limb mine[ROWS * LIMBS];
  clear(mine, ROWS * LIMBS);
  const int lane = threadIdx.x & 31;
  const Pieces pieces({common.replicates, common.whole, common.each}, first_path, n, blockIdx.y);
  const unsigned warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < pieces.count(); g += warps) {
    unsigned begin, end;
    pieces.piece(g, begin, end);
    real sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = 0;
    End next[SIGNS];
#pragma unroll
    for (int s = 0; s < SIGNS; s++)
      if (begin + lane * SIGNS < end) next[s].read(y, kept, room, begin + lane * SIGNS + s);
#pragma unroll 1
    for (unsigned i = begin + lane * SIGNS; i < end; i += 32 * SIGNS) {
      real value[VALUES];
      End now[SIGNS];
#ifdef COARSE
      End now_coarse[SIGNS];
#endif
#pragma unroll
      for (int s = 0; s < SIGNS; s++) {
        now[s] = next[s];
#ifdef COARSE
        now_coarse[s].read(coarse_y, coarse_kept, room, i + s);
#endif
        if (i + 32 * SIGNS < end) next[s].read(y, kept, room, i + 32 * SIGNS + s);  // while the present one is counted
      }
#pragma unroll
      for (int s = 0; s < SIGNS; s++) {
        real v[2 * ASSETS + COUNT];
        now[s].tell(v, common.growth);
        real found[VALUES] = {CALLS};
#ifdef COARSE
        now_coarse[s].tell(v, common.coarse_growth);
        const real less[VALUES] = {COARSE};
#pragma unroll
        for (int o = 0; o < VALUES; o++) found[o] -= less[o];
#endif
        bool good = true;
#pragma unroll
        for (int o = 0; o < VALUES; o++) {
#ifdef COARSE
          const real d = found[o];
#else
          const real d = found[o] - numbers.shifts[o];
#endif
          value[o] = s ? value[o] + d : d;
          good = good && abs(found[o]) < LARGEST_PRICE;
        }
        if (good) continue;
#pragma unroll
        for (int o = 0; o < VALUES; o++)
          if (!(abs(found[o]) < LARGEST_PRICE)) atomicMin(fault, (long long)(first_path + i + s) * ASSETS + named[o]);
      }
#pragma unroll
      for (int o = 0; o < VALUES; o++) {
        value[o] /= SIGNS;
        if (!(abs(value[o]) < LARGEST_PRICE)) value[o] = 0;  // which leaves out what it is a factor of
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        sum[r] = fma(value[products[r].a], products[r].b < 0 ? 1 : value[max(products[r].b, 0)], sum[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const real all = total(sum[r]);
      if (lane == 0) add_exactly(mine + r * LIMBS, all);
    }
  }
  deliver(mine, sums + blockIdx.y * (size_t)common.stride, ROWS * LIMBS);
}
