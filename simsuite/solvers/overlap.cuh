// How a launch begins while the one before it in its stream ends, where it was asked for early (`Program.launcher`): it
// prepares what does not depend on earlier launches, and waits for them before it reads what they wrote, or writes anything.

#if __CUDA_ARCH__ >= 900
// Blocks of the next launch take the places that this one leaves, once all its blocks have come here.
__device__ __forceinline__ void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

__device__ __forceinline__ void wait_for_earlier() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
__device__ __forceinline__ void let_next_begin() {}
__device__ __forceinline__ void wait_for_earlier() {}
#endif
