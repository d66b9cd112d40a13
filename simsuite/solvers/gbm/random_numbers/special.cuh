// Single instructions: approximations by the special function unit, whole products of 32-bit numbers, exclusive or over a
// warp.

#ifndef SPECIAL  // programs may include it by several ways
#define SPECIAL

// log2(v), to 2^-22 of it, for v between 1/2 and 2 to 2^-22.
__device__ __forceinline__ float approximate_log2(float v) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

__device__ __forceinline__ float approximate_root(float v) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

// 2^v, cos v and sin v.
__device__ __forceinline__ float approximate_power(float v) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

__device__ __forceinline__ float approximate_cosine(float v) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

__device__ __forceinline__ float approximate_sine(float v) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

// 1 / v and 1 / sqrt(v), to 2^-20 of them: a beginning for Newton's method.
__device__ __forceinline__ double approximate_inverse(double v) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
  return y;
}

__device__ __forceinline__ double approximate_inverse_root(double v) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
  return y;
}

// One instruction for both halves of a product; left to itself the compiler takes two slow ones now and then.
__device__ __forceinline__ void whole_product(unsigned a, unsigned b, unsigned& top, unsigned& bottom) {
  asm("{ .reg .b64 p; mul.wide.u32 p, %2, %3; mov.b64 {%1, %0}, p; }" : "=r"(top), "=r"(bottom) : "r"(a), "r"(b));
}

// Exclusive or of the numbers of all lanes of a warp.
__device__ __forceinline__ unsigned over_warp(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_xor_sync(0xffffffffu, v);
#else
  for (int away = 16; away; away /= 2) v ^= __shfl_xor_sync(0xffffffffu, v, away);
  return v;
#endif
}

#endif
