// Payoffs of all paths of a batch, and their squares, see statistics.py.
//
// Compiled at run time, with the macros STATE, ASSETS, COUNT (functionals, at least 1), FUNCTIONALS (their kinds),
// SIGNS (paths of an observation, whose mean counts), GROUP, LIMBS, LARGEST_PRICE, PAYOFFS (functions payoff0, payoff1, ..),
// VALUES (their calls with `v`, which has the price of each asset in the end, then what was kept), OPTIONS, SHIFTS (what
// is subtracted from each), NAMED (the asset to blame) and THREADS.

#include "exactsum.cuh"

typedef STATE state;
PAYOFFS

enum Kind { NOTHING, SUM, LOGARITHMS, LEAST, LARGEST };
__constant__ double shifts[] = {SHIFTS};
constexpr Kind kinds[] = {FUNCTIONALS};
constexpr int named[] = {NAMED};

extern "C" __global__ void __launch_bounds__(THREADS, 2)
payoffs(const state* __restrict__ y, const state* __restrict__ kept, unsigned long long room, unsigned n,
        unsigned long long first_path, const double* __restrict__ growth, Limb* sums, long long* fault) {
  __shared__ Limb mine[OPTIONS * 2 * LIMBS];
  clear(mine, OPTIONS * 2 * LIMBS);
  const int lane = threadIdx.x & 31;
  const unsigned groups = (n + GROUP - 1) / GROUP, warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < groups; g += warps) {
    double s1[OPTIONS], s2[OPTIONS];
#pragma unroll
    for (int o = 0; o < OPTIONS; o++) s1[o] = s2[o] = 0;
#pragma unroll 1
    for (unsigned i = g * GROUP + lane * SIGNS; i < min(n, (g + 1) * GROUP); i += 32 * SIGNS) {
      double value[OPTIONS];
#pragma unroll
      for (int s = 0; s < SIGNS; s++) {
        double v[ASSETS + COUNT];
#pragma unroll
        for (int a = 0; a < ASSETS; a++) v[a] = exp2((double)y[a * room + i + s]) * growth[a];
#pragma unroll
        for (int f = 0; f < COUNT; f++) {
          if (kinds[f] == NOTHING) continue;
          const double k = kept[f * room + i + s];
          v[ASSETS + f] = kinds[f] >= LEAST ? exp2(k) : k;
        }
        const double found[OPTIONS] = {VALUES};
#pragma unroll
        for (int o = 0; o < OPTIONS; o++) {
          const double d = found[o] - shifts[o];
          value[o] = s ? value[o] + d : d;
          if (!(abs(found[o]) < LARGEST_PRICE)) atomicMin(fault, (long long)(first_path + i + s) * ASSETS + named[o]);
        }
      }
#pragma unroll
      for (int o = 0; o < OPTIONS; o++) {
        const double m = value[o] / SIGNS;
        if (abs(m) < LARGEST_PRICE) s1[o] += m, s2[o] += m * m;
      }
    }
#pragma unroll
    for (int o = 0; o < OPTIONS; o++) {
      const double t1 = total(s1[o]), t2 = total(s2[o]);
      if (lane == 0) add_exactly(mine + 2 * o * LIMBS, t1), add_exactly(mine + (2 * o + 1) * LIMBS, t2);
    }
  }
  deliver(mine, sums, OPTIONS * 2 * LIMBS);
}
