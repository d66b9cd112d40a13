// Exact sums of doubles, see exact_sums.py: here of a block of threads, in shared memory, then added to those of all.

#include "total.cuh"

typedef unsigned long long Limb;  // two's complement: sums of signed numbers
constexpr int BIAS = 1152;

// Adds a finite number. A double is a whole number m times 2^(p - BIAS), of which three limbs have a part each.
__device__ __forceinline__ void add_exactly(Limb* limbs, double value) {
  const int high = __double2hiint(value), exponent = high >> 20 & 0x7ff;
  const Limb m = ((Limb)(high & 0xfffff | (exponent ? 0x100000 : 0)) << 32) | (unsigned)__double2loint(value);
  const int p = max(exponent, 1) - 1075 + BIAS, s = p & 31;
  const Limb low = (m & 0xffffffffu) << s, rest = ((m >> 32) << s) + (low >> 32);
  const Limb digits[3] = {low & 0xffffffffu, rest & 0xffffffffu, rest >> 32};
#pragma unroll
  for (int d = 0; d < 3; d++)
    if (digits[d]) atomicAdd(&limbs[(p >> 5) + d], high < 0 ? 0 - digits[d] : digits[d]);
}

__device__ __forceinline__ void clear(Limb* mine, int n) {
  for (int k = threadIdx.x; k < n; k += blockDim.x) mine[k] = 0;
  __syncthreads();
}

__device__ __forceinline__ void deliver(const Limb* mine, Limb* all, int n) {
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    if (mine[k]) atomicAdd(&all[k], mine[k]);
}
