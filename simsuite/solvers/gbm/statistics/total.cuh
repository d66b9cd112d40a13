// The same total for all lanes of a warp, always added up in the same order.
__device__ __forceinline__ double total(double v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
