// Moments and histogram of prices at frames, see statistics.py. A block for as many groups as come its way, of an asset at
// a frame (grid y, z); a warp adds up a group of paths in a fixed order, and the sums of groups are added exactly.
//
// Compiled at run time, with the macros STATE, ASSETS, GROUP, LIMBS, BINS, BINS_PER_UNIT, Z_MAX and LARGEST (of a price),
// LOG_LARGEST (to base 2), THREADS.

#include "exactsum.cuh"

typedef STATE state;

__device__ __forceinline__ float raised(float y) {  // 2^y - 1
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(y));
  return p - 1;
}
__device__ __forceinline__ double raised(double y) { return expm1(0.69314718055994530942 * y); }

extern "C" __global__ void __launch_bounds__(THREADS)
moments(const state* __restrict__ y, unsigned long long room, unsigned n, unsigned long long first_path,
        const double* __restrict__ frames, Limb* sums, Limb* histogram, long long* fault) {
  __shared__ unsigned counts[BINS];
  __shared__ Limb mine[2 * LIMBS];
  const int a = blockIdx.y, lane = threadIdx.x & 31;
  const size_t own = (size_t)blockIdx.z * ASSETS + a;
  const double* frame = frames + (size_t)blockIdx.z * 3 * ASSETS;
  for (int b = threadIdx.x; b < BINS; b += THREADS) counts[b] = 0;
  clear(mine, 2 * LIMBS);
  const state shift = frame[a], scale = frame[ASSETS + a] * BINS_PER_UNIT, most = LOG_LARGEST - frame[2 * ASSETS + a];
  y += own * room;
  const unsigned groups = (n + GROUP - 1) / GROUP, warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < groups; g += warps) {
    double s1 = 0, s2 = 0;
#pragma unroll 4
    for (unsigned i = g * GROUP + lane; i < min(n, (g + 1) * GROUP); i += 32) {
      const state noise = y[i];
      const double d = raised(noise + shift);
      if (abs(d) < LARGEST && noise < most) {
        s1 += d, s2 += d * d;
        const state z = min(max(noise * scale, -(state)(2 * Z_MAX * BINS_PER_UNIT)), (state)(2 * Z_MAX * BINS_PER_UNIT));
        const int cell = (int)floor(z + (state)(Z_MAX * BINS_PER_UNIT)) + 1;
        atomicAdd(&counts[min(max(cell, 0), BINS - 1)], 1u);
      } else {
        atomicMin(fault, (long long)(first_path + i) * ASSETS + a);
      }
    }
    s1 = total(s1), s2 = total(s2);
    if (lane == 0) add_exactly(mine, s1), add_exactly(mine + LIMBS, s2);
  }
  deliver(mine, sums + own * 2 * LIMBS, 2 * LIMBS);
  for (int b = threadIdx.x; b < BINS; b += THREADS)
    if (counts[b]) atomicAdd(&histogram[own * BINS + b], (Limb)counts[b]);
}
