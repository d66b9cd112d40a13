"""How CUDA kernels go through rows of cells: there is one block for each row, and its threads take the cells of the row
in turn."""

from __future__ import annotations

from numba import config, cuda

# This is a power of two. In the simulator each thread is one of Python's, and the more of them there are, the slower is
# a barrier.
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
