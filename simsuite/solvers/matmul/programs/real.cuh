// The precision of a program: DOUBLE, or not. Pieces of 16 bytes, which a thread reads at once, have BESIDE numbers.

#if DOUBLE
typedef double real;
typedef double2 Beside;
#else
typedef float real;
typedef float4 Beside;
#endif
constexpr int SIZE = sizeof(real), BESIDE = 16 / SIZE;
typedef real Piece[BESIDE];

__device__ __forceinline__ void read(const real* from, Piece& to) {
  const Beside v = *(const Beside*)from;
#if DOUBLE
  to[0] = v.x, to[1] = v.y;
#else
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
#endif
}

#if !DOUBLE
template <int COUNT> __device__ __forceinline__ void read_some(const float* from, float* to) {
  if constexpr (COUNT == 4) {
    read(from, *(Piece*)to);
  } else if constexpr (COUNT == 2) {
    const float2 v = *(const float2*)from;
    to[0] = v.x, to[1] = v.y;
  } else {
    static_assert(COUNT == 1, "numbers that are read at once");
    to[0] = from[0];
  }
}
#endif

// Makes the compiler forget what it knows of v, so that it computes again what depends on v: where it would keep more than
// there are registers.
__device__ __forceinline__ void forget(int& v) { asm volatile("" : "+r"(v)); }
