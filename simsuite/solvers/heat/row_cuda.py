"""How CUDA kernels go through a row of cells: one block each, each of its threads taking one cell in turn."""

from __future__ import annotations

from numba import config

# A power of two. In the simulator each thread is one of Python's, and a barrier is as slow as they are many.
THREADS = 8 if config.ENABLE_CUDASIM else 128
