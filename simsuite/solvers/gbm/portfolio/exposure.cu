// Exposure of the assets held, at frames: sums and a sketch of the value, see portfolio.py and quantile_sketch.py. Blocks for
// groups of paths at a frame (grid y); a warp adds up a group in a fixed order, and the sums of groups are added exactly.
//
// Compiled at run time, with the macros STATE, ASSETS, SIGNS (paths of an observation, whose mean counts), WEIGHTS, GROUP,
// LIMBS, LARGEST, BITS, FINE, LEAST_EXPONENT, OCTAVES, WINDOW and FIRST (bins that are counted in shared memory first:
// those where most values are), THREADS.

#include "../statistics/exact_sums.cuh"
#include "../statistics/quantile_sketch.cuh"

typedef STATE state;
constexpr int SUMS = 4;
__constant__ double weights[] = {WEIGHTS};

extern "C" __global__ void __launch_bounds__(THREADS)
expose(const state* __restrict__ y, unsigned long long room, unsigned n, const double* __restrict__ frames, Limb* sums,
       Limb* counts) {
  __shared__ unsigned near[WINDOW];
  __shared__ Limb mine[SUMS * LIMBS];
  const int lane = threadIdx.x & 31;
  const double* centre = frames + ((size_t)blockIdx.y * 3 + 2) * ASSETS;
  y += (size_t)blockIdx.y * ASSETS * room;
  counts += (size_t)blockIdx.y * (BINS + 2);
  for (int b = threadIdx.x; b < WINDOW; b += THREADS) near[b] = 0;
  clear(mine, SUMS * LIMBS);
  const unsigned groups = (n + GROUP - 1) / GROUP, warps = gridDim.x * (THREADS / 32);
  unsigned none = 0;  // not above 0
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < groups; g += warps) {
    double sum[SUMS] = {0, 0, 0, 0};
#pragma unroll 1
    for (unsigned i = g * GROUP + lane * SIGNS; i < min(n, (g + 1) * GROUP); i += 32 * SIGNS) {
      double above = 0, below = 0;
#pragma unroll
      for (int s = 0; s < SIGNS; s++) {
        double v = 0;
#pragma unroll
        for (int a = 0; a < ASSETS; a++)
          if (weights[a] != 0) v += weights[a] * exp2((double)y[a * room + i + s] + centre[a]);
        if (!(abs(v) < LARGEST)) continue;
        above += max(v, 0.0), below += max(-v, 0.0);
        unsigned within;
        const int bin = cell(v, within);
        if (bin <= 0)
          none++;
        else if (bin >= FIRST && bin < FIRST + WINDOW)
          atomicAdd(&near[bin - FIRST], 1u);
        else
          atomicAdd(&counts[bin], (Limb)1);
      }
      above /= SIGNS, below /= SIGNS;
      sum[0] += above, sum[1] += above * above;
      sum[2] += below, sum[3] += below * below;
    }
#pragma unroll
    for (int q = 0; q < SUMS; q++) {
      const double all = total(sum[q]);
      if (lane == 0) add_exactly(mine + q * LIMBS, all);
    }
  }
  none = __reduce_add_sync(0xffffffffu, none);
  if (lane == 0 && none) atomicAdd(&counts[0], (Limb)none);
  deliver(mine, sums + (size_t)blockIdx.y * SUMS * LIMBS, SUMS * LIMBS);
  for (int b = threadIdx.x; b < WINDOW; b += THREADS)
    if (near[b]) atomicAdd(&counts[FIRST + b], (Limb)near[b]);
}
