"""The heat step by CuPy's `ElementwiseKernel`: one expression in C++ for one point; CuPy writes the kernel around it.

`raw` arguments are indexed by hand, others by `i`, the number of the point; T is whatever type the arrays have, and a
kernel is compiled for each. One launch and one pass a step. `i` counts points one after the other, so x takes a
division, which costs little beside the memory; a launch costs the host about 7 microseconds, as CuPy looks at all
arguments.
"""

from __future__ import annotations

import functools

import cupy

from simsuite.routes.arrays import checked


@functools.cache
def _step():
    return cupy.ElementwiseKernel(
        "raw T u, int32 nx, int32 ny, T rx, T ry",
        "T v",
        """
        const int y = (int)i / nx, x = (int)i - y * nx;
        const T c = u[i];
        const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
        v = edge ? c : c + rx * (u[i - 1] - 2 * c + u[i + 1]) + ry * (u[i - nx] - 2 * c + u[i + nx]);
        """,
        "heat_step",
    )


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of CuPy's; edges keep their values."""
    here = cupy.array(checked(u, 2), order="C")
    there, step = cupy.empty_like(here), _step()
    ny, nx = here.shape
    for _ in range(steps):
        step(here, nx, ny, rx, ry, there)
        here, there = there, here
    return here
