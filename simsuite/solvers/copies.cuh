// Copies from global to shared memory that go on while the warp computes, in groups that can be waited for. Only those
// that are `wanted` are made, by a predicate of the instruction: around a branch the compiler would not reorder.

template <int BYTES> __device__ __forceinline__ void copy_async(unsigned to, const void* from, bool wanted = true) {
  if (BYTES == 16)
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                 "l"(from), "r"((int)wanted)
                 : "memory");
  else
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p cp.async.ca.shared.global [%0], [%1], %2; }" ::"r"(to),
                 "l"(from), "n"(BYTES), "r"((int)wanted)
                 : "memory");
}

// Zeros come in the place of what is not `wanted`.
template <int BYTES> __device__ __forceinline__ void copy_or_zero(unsigned to, const void* from, bool wanted) {
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(wanted ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES),
                 "r"(wanted ? BYTES : 0)
                 : "memory");
}

__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait for all groups but the last COUNT.
template <int COUNT> __device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Stores of neighbouring numbers at once, likewise.
__device__ __forceinline__ void store_if(bool wanted, float* to, const float (&v)[4]) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.f32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
               "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]), "r"((int)wanted)
               : "memory");
}
__device__ __forceinline__ void store_if(bool wanted, float* to, const float (&v)[2]) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p st.global.v2.f32 [%0], {%1, %2}; }" ::"l"(to), "f"(v[0]),
               "f"(v[1]), "r"((int)wanted)
               : "memory");
}
__device__ __forceinline__ void store_if(bool wanted, double* to, const double (&v)[2]) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p st.global.v2.f64 [%0], {%1, %2}; }" ::"l"(to), "d"(v[0]),
               "d"(v[1]), "r"((int)wanted)
               : "memory");
}
template <typename R> __device__ __forceinline__ void store_if(bool wanted, R* to, const R (&v)[1]) {
  if (wanted) *to = v[0];
}
