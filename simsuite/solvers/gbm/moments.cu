// Moments and histogram of prices at frames, see statistics.py. A block for as many groups as come its way, of an asset at
// a frame (grid y, z); a warp adds up a group of paths in a fixed order, and the sums of groups are added exactly.
//
// Compiled at run time, with the macros STATE and NORMAL (float or double: of the noise and of random numbers), ASSETS,
// SIGNS (2: paths come in pairs, and the products of two are added up too), GROUP, LIMBS, BINS, BINS_PER_UNIT, Z_MAX,
// LARGEST (a price) and LOG_LARGEST (to base 2), THREADS.

#include "exactsum.cuh"
#include "normals.cuh"

typedef STATE state;
typedef NORMAL real;  // the random numbers are no better

__device__ __forceinline__ float raised(float y) { return Normals<float>::exp2(y) - 1; }  // 2^y - 1
__device__ __forceinline__ double raised(double y) { return expm1(0.69314718055994530942 * y); }

// The whole number below z, for |z| < 2^21. With no conversion, for which there are few units.
__device__ __forceinline__ int below(float z) { return __float_as_int(__fadd_rd(z, 12582912.0f)) - 0x4b400000; }
__device__ __forceinline__ int below(double z) { return __double2loint(__dadd_rd(z, 0x1.8p52)); }

constexpr int SUMS = SIGNS + 1;
constexpr int AT_ONCE = sizeof(real) == 4 ? 8 : 2;  // paths a lane adds up in `real`

// Of the paths of a lane the one that it adds up k-th: those of a pair one after the other.
__device__ __forceinline__ unsigned number(unsigned begin, int k) { return begin + 32 * (k / SIGNS * SIGNS) + k % SIGNS; }

extern "C" __global__ void __launch_bounds__(THREADS)
moments(const state* __restrict__ y, unsigned long long room, unsigned n, unsigned long long first_path,
        const double* __restrict__ frames, Limb* sums, Limb* histogram, long long* fault) {
  __shared__ unsigned counts[BINS];
  __shared__ Limb mine[SUMS * LIMBS];
  const int a = blockIdx.y, lane = threadIdx.x & 31;
  const size_t own = (size_t)blockIdx.z * ASSETS + a;
  const double* frame = frames + (size_t)blockIdx.z * 3 * ASSETS;
  for (int b = threadIdx.x; b < BINS; b += THREADS) counts[b] = 0;
  clear(mine, SUMS * LIMBS);
  const real shift = frame[a], scale = frame[ASSETS + a] * BINS_PER_UNIT, most = LOG_LARGEST - frame[2 * ASSETS + a];
  const real far = 2 * Z_MAX * BINS_PER_UNIT;
  y += own * room;
  const unsigned groups = (n + GROUP - 1) / GROUP, warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < groups; g += warps) {
    double s1 = 0, s2 = 0, s3 = 0;
    unsigned worst = 0xffffffffu;
#pragma unroll 1
    for (unsigned begin = g * GROUP + lane * SIGNS; begin < min(n, (g + 1) * GROUP); begin += 32 * AT_ONCE) {
      real noise[AT_ONCE], r1 = 0, r2 = 0, r3 = 0, before = 0;
#pragma unroll
      for (int k = 0; k < AT_ONCE; k++) noise[k] = number(begin, k) < n ? (real)y[number(begin, k)] : (real)0;
#pragma unroll
      for (int k = 0; k < AT_ONCE; k++) {
        const unsigned i = number(begin, k);
        if (i >= n) break;
        const real d = raised(noise[k] + shift);
        if (abs(d) < (real)LARGEST && noise[k] < most) {
          r1 += d, r2 = fma(d, d, r2);
          if (k % SIGNS) r3 = fma(before, d, r3);
          before = d;
          const int cell = below(min(max(noise[k] * scale, -far), far)) + Z_MAX * BINS_PER_UNIT + 1;
          atomicAdd(&counts[min(max(cell, 0), BINS - 1)], 1u);
        } else {
          worst = min(worst, i);
          before = 0;
        }
      }
      s1 += r1, s2 += r2;
      if (SIGNS > 1) s3 += r3;
    }
    if (worst != 0xffffffffu) atomicMin(fault, (long long)(first_path + worst) * ASSETS + a);
    s1 = total(s1), s2 = total(s2);
    if (lane == 0) add_exactly(mine, s1), add_exactly(mine + LIMBS, s2);
    if (SIGNS > 1) {
      s3 = total(s3);
      if (lane == 0) add_exactly(mine + 2 * LIMBS, s3);
    }
  }
  deliver(mine, sums + own * SUMS * LIMBS, SUMS * LIMBS);
  for (int b = threadIdx.x; b < BINS; b += THREADS)
    if (counts[b]) atomicAdd(&histogram[own * BINS + b], (Limb)counts[b]);
}
