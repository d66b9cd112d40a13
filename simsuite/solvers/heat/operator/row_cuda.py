"""How CUDA kernels go through a row of cells: one block each, each of its threads taking one cell in turn."""

from __future__ import annotations

from numba import config, cuda

# A power of two. In the simulator each thread is one of Python's, and a barrier is as slow as they are many.
THREADS = 8 if config.ENABLE_CUDASIM else 128


@cuda.jit(device=True)
def sum_up(part, i):
    """Leaves the sum of what the threads of a block have put into part[: THREADS] in part[0]; i: number of this
    thread."""
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half:
            part[i] += part[i + half]
        cuda.syncthreads()
        half //= 2
