// How blocks that run at the same time wait for each other, through counters, and warps of a block.

// Say that this block has come so far; everything it wrote before its last barrier is there for those who wait.
__device__ __forceinline__ void announce(int* counter, int turn) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(counter), "r"(turn) : "memory");
}

// Wait until the block of `counter` has come so far; counters wrap around.
__device__ __forceinline__ void wait_for(const int* counter, int turn) {
  int now;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  } while ((int)((unsigned)now - (unsigned)turn) < 0);
}

// A barrier of the block to which its warps may come from different places in the program.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 0;" ::: "memory"); }
