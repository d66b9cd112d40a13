"""The heat step by arrays of CuPy: the text of NumPy, on the GPU.

Each operator launches a kernel, which CuPy has compiled before or compiles now and keeps on disk, and makes an array:
about ten launches of 5 microseconds and ten passes over the memory for one step. It takes an hour less to write than
any other road, and a tenth of the machine.
"""

from __future__ import annotations

import cupy

from simsuite.routes.arrays import checked


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of CuPy's; edges keep their values."""
    u = cupy.array(checked(u, 2), order="C")  # a copy
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        along_x = u[1:-1, :-2] - 2 * inner + u[1:-1, 2:]
        along_y = u[:-2, 1:-1] - 2 * inner + u[2:, 1:-1]
        inner += rx * along_x + ry * along_y
    return u
