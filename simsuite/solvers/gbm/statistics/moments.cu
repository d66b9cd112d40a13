// Moments and histogram of prices at frames, see statistics.py. A block for as many groups as come its way, of an asset at
// a frame (grid y, z); a warp adds up a group of paths in a fixed order, and the sums of groups are added exactly.
//
// Compiled at run time, with the macros STATE and NORMAL (float or double: of the noise and of random numbers), ASSETS,
// SIGNS (2: paths come in pairs, and the products of two are added up too), GROUP, LIMBS, BINS, BINS_PER_UNIT, Z_MAX,
// LARGEST (a price) and LOG_LARGEST (to base 2), THREADS.

#include "exact_sums.cuh"
#include "../random_numbers/normals.cuh"

typedef STATE state;
typedef NORMAL real;  // the random numbers are no better

__device__ __forceinline__ float raised(float y) { return Normals<float>::exp2(y) - 1; }  // 2^y - 1
__device__ __forceinline__ double raised(double y) { return expm1(0.69314718055994530942 * y); }

// The whole number below z, for |z| < 2^21. With no conversion, for which there are few units.
__device__ __forceinline__ int below(float z) { return __float_as_int(__fadd_rd(z, 12582912.0f)) - 0x4b400000; }
__device__ __forceinline__ int below(double z) { return __double2loint(__dadd_rd(z, 0x1.8p52)); }

constexpr int SUMS = SIGNS + 1;
constexpr int AT_ONCE = sizeof(real) == 4 ? 8 : 2;  // paths a lane adds up in `real`

// How far from its first path the one is that a lane adds up k-th: those of a pair one after the other.
__host__ __device__ constexpr unsigned ahead(int k) { return 32 * (k / SIGNS * SIGNS) + k % SIGNS; }

// The paths of a lane from `begin` on, as many as it adds up in `real`, with no branch if all is well. WHOLE: none of them
// is number n or beyond.
template <bool WHOLE>
__device__ __forceinline__ void add(const state* __restrict__ y, unsigned begin, unsigned n, real shift, real scale,
                                    real most, unsigned* counts, double& s1, double& s2, double& s3, unsigned& worst) {
  constexpr real FAR = Z_MAX * BINS_PER_UNIT + (real)0.5;
  const state* own = y + begin;
  real noise[AT_ONCE], r1 = 0, r2 = 0, r3 = 0, before = 0;
  bool all = true;
#pragma unroll
  for (int k = 0; k < AT_ONCE; k++) noise[k] = WHOLE || begin + ahead(k) < n ? (real)own[ahead(k)] : (real)0;
#pragma unroll
  for (int k = 0; k < AT_ONCE; k++) {
    if (!WHOLE && begin + ahead(k) >= n) break;
    real d = raised(noise[k] + shift);
    const bool good = abs(d) < (real)LARGEST && noise[k] < most;
    all = all && good;
    d = good ? d : (real)0;
    r1 += d, r2 = fma(d, d, r2);
    if (k % SIGNS) r3 = fma(before, d, r3);
    before = d;
    const int cell = below(min(max(noise[k] * scale, -FAR), FAR)) + Z_MAX * BINS_PER_UNIT + 1;
    atomicAdd(&counts[good ? cell : BINS], 1u);
  }
  s1 += r1, s2 += r2;
  if (SIGNS > 1) s3 += r3;
  if (all) return;
#pragma unroll 1
  for (int k = 0; k < AT_ONCE; k++) {  // seldom: which it is
    if (begin + ahead(k) >= n) continue;
    const real once_more = (real)own[ahead(k)];
    if (!(abs(raised(once_more + shift)) < (real)LARGEST && once_more < most)) worst = min(worst, begin + ahead(k));
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
moments(const state* __restrict__ y, unsigned long long room, unsigned n, unsigned long long first_path,
        const double* __restrict__ frames, Limb* sums, Limb* histogram, long long* fault) {
  __shared__ unsigned counts[BINS + 1];  // the last one of those that are left out
  __shared__ Limb mine[SUMS * LIMBS];
  const int a = blockIdx.y, lane = threadIdx.x & 31;
  const size_t own = (size_t)blockIdx.z * ASSETS + a;
  const double* frame = frames + (size_t)blockIdx.z * 3 * ASSETS;
  for (int b = threadIdx.x; b <= BINS; b += THREADS) counts[b] = 0;
  clear(mine, SUMS * LIMBS);
  const real shift = frame[a], scale = frame[ASSETS + a] * BINS_PER_UNIT, most = LOG_LARGEST - frame[2 * ASSETS + a];
  y += own * room;
  const unsigned groups = (n + GROUP - 1) / GROUP, warps = gridDim.x * (THREADS / 32);
  for (unsigned g = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; g < groups; g += warps) {
    double s1 = 0, s2 = 0, s3 = 0;
    unsigned worst = 0xffffffffu;
    const unsigned end = min(n, (g + 1) * GROUP);
    if (end - g * GROUP == GROUP) {
#pragma unroll 1
      for (unsigned begin = g * GROUP + lane * SIGNS; begin < end; begin += 32 * AT_ONCE)
        add<true>(y, begin, n, shift, scale, most, counts, s1, s2, s3, worst);
    } else {
#pragma unroll 1
      for (unsigned begin = g * GROUP + lane * SIGNS; begin < end; begin += 32 * AT_ONCE)
        add<false>(y, begin, n, shift, scale, most, counts, s1, s2, s3, worst);
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
