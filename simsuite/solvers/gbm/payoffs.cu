// Sums of payoffs of all paths of a batch, and of products of two, see statistics.py. A block for as many groups of paths
// as come its way, of a replicate (grid y) whose sums are `stride` limbs from those of the one before.
//
// Compiled at run time, with the macros STATE, ASSETS, COUNT (functionals, at least 1), FUNCTIONALS (their kinds),
// SIGNS (paths of an observation, whose mean counts), GROUP, LIMBS, LARGEST_PRICE, FUNCTIONS (value0, value1, ..), CALLS
// (of them, on `v`, which has the price of each asset in the end, what was kept, the noise of each asset), VALUES (how
// many), SHIFTS (what is subtracted from each), NAMED (the asset to blame), PRODUCTS (a list of {value, value or -1}), ROWS
// (how many), THREADS.

#include "exactsum.cuh"
#include "kinds.cuh"
#include "sharing.cuh"

typedef STATE state;
FUNCTIONS

__constant__ double shifts[] = {SHIFTS};
constexpr Kind kinds[] = {FUNCTIONALS};
constexpr int named[] = {NAMED};
struct Product {
  int a, b;
};
constexpr Product products[] = {PRODUCTS};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
payoffs(const state* __restrict__ y, const state* __restrict__ kept, unsigned long long room, unsigned n,
        unsigned long long first_path, unsigned replicates, unsigned long long whole, unsigned each, unsigned stride,
        const double* __restrict__ growth, Limb* sums, long long* fault) {
  __shared__ Limb mine[ROWS * LIMBS];
  clear(mine, ROWS * LIMBS);
  const int lane = threadIdx.x & 31;
  const Pieces pieces({replicates, whole, each}, first_path, n, blockIdx.y);
  const unsigned warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < pieces.count(); g += warps) {
    unsigned begin, end;
    pieces.piece(g, begin, end);
    double sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = 0;
#pragma unroll 1
    for (unsigned i = begin + lane * SIGNS; i < end; i += 32 * SIGNS) {
      double value[VALUES];
#pragma unroll
      for (int s = 0; s < SIGNS; s++) {
        double v[2 * ASSETS + COUNT];
#pragma unroll
        for (int a = 0; a < ASSETS; a++) {
          const double noise = y[a * room + i + s];
          v[a] = exp2(noise) * growth[a];
          v[ASSETS + COUNT + a] = noise;
        }
#pragma unroll
        for (int f = 0; f < COUNT; f++) {
          if (kinds[f] == NOTHING) continue;
          const double k = kept[f * room + i + s];
          v[ASSETS + f] = kinds[f] >= LEAST && kinds[f] <= HIGHEST ? exp2(k) : k;
        }
        const double found[VALUES] = {CALLS};
#pragma unroll
        for (int o = 0; o < VALUES; o++) {
          const double d = found[o] - shifts[o];
          value[o] = s ? value[o] + d : d;
          if (!(abs(found[o]) < LARGEST_PRICE)) atomicMin(fault, (long long)(first_path + i + s) * ASSETS + named[o]);
        }
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const double v = value[products[r].a] / SIGNS, w = products[r].b < 0 ? 1 : value[max(products[r].b, 0)] / SIGNS;
        if (abs(v) < LARGEST_PRICE && abs(w) < LARGEST_PRICE) sum[r] = fma(v, w, sum[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const double all = total(sum[r]);
      if (lane == 0) add_exactly(mine + r * LIMBS, all);
    }
  }
  deliver(mine, sums + blockIdx.y * (size_t)stride, ROWS * LIMBS);
}
