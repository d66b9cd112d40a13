"""The heat step by Numba on the CPU: two loops, compiled for the processor at the first call with arrays of a type.

`prange` shares the rows out among threads; the loop over x is vectorised. A step reads the plate once and writes it
once, so that the memory, or the cache if the plate fits in it, sets the pace. Compiling takes a second or two.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from simsuite.routes.arrays import on_host


@njit(parallel=True)
def step(u, v, rx, ry):
    ny, nx = u.shape
    for y in prange(ny):
        for x in range(nx):
            c = u[y, x]
            if 0 < x < nx - 1 and 0 < y < ny - 1:
                c += rx * (u[y, x - 1] - (c + c) + u[y, x + 1]) + ry * (u[y - 1, x] - (c + c) + u[y + 1, x])
            v[y, x] = c


def advance(u: np.ndarray, steps: int, rx: float, ry: float) -> np.ndarray:
    """The plate u[y, x] after so many steps; edges keep their values."""
    here, there = np.ascontiguousarray(on_host(u, 2)).copy(), np.empty(u.shape, u.dtype)
    rx, ry = u.dtype.type(rx), u.dtype.type(ry)  # Python's floats would turn the sums into float64
    for _ in range(steps):
        step(here, there, rx, ry)
        here, there = there, here
    return here
