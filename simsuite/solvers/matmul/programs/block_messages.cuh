// How blocks that run at the same time hand numbers to each other: in words of which one half is what they carry and the
// other half says which turn it belongs to. A word comes whole or not at all, so nothing else has to be waited for.

typedef unsigned long long Word;

__device__ __forceinline__ void hand_over(Word* to, unsigned bits, unsigned turn) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"((Word)turn << 32 | bits) : "memory");
}

__device__ __forceinline__ Word look_at(const Word* from) {
  Word found;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(found) : "l"(from) : "memory");
  return found;
}
