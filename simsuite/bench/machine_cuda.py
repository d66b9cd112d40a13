"""Kernels that measure a GPU's limits: a copy and a fill, with a thread for each element, and eight chains of x ← a·x +
b in each thread.
"""

from __future__ import annotations

from numba import cuda

ELEMENTS = 1 << 22  # so many that any GPU takes several waves of threads
UNROLLED = 16
PER_ROUND = 8 * UNROLLED  # operations of each thread in a round
LIMIT = 16.0  # the limit of the sum of eight chains, for a = 1/2 and b = 1


@cuda.jit(cache=True)
def copy(source, target):
    i = cuda.grid(1)
    if i < source.size:
        target[i] = source[i]


@cuda.jit(cache=True)
def fill(target, value):
    i = cuda.grid(1)
    if i < target.size:
        target[i] = value


@cuda.jit(cache=True)
def chains(out, a, b, rounds):
    """Do PER_ROUND·rounds operations in each thread, with one thread for each element."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    s = out[i]
    t, u, v = s + a, s - a, s + b  # The numbers must differ, or the compiler would compute one chain for all.
    w, x, y, z = s - b, t + b, u - b, v + b
    for _ in range(rounds):
        for _ in range(UNROLLED):
            s = cuda.fma(a, s, b)
            t = cuda.fma(a, t, b)
            u = cuda.fma(a, u, b)
            v = cuda.fma(a, v, b)
            w = cuda.fma(a, w, b)
            x = cuda.fma(a, x, b)
            y = cuda.fma(a, y, b)
            z = cuda.fma(a, z, b)
    out[i] = ((s + t) + (u + v)) + ((w + x) + (y + z))
