"""The heat step by Numba on the GPU: a Python function for one point, compiled at its first launch.

`cuda.grid(2)` gives a thread its column first and its row second: x is the fast index of a C-ordered array, and a warp
of 32 threads that are neighbours in x reads 128 bytes in one go. `i, j = cuda.grid(2)` with `u[i, j]`, as many
tutorials have it, makes each thread read another row, and is three to five times slower. Every number has a type: `2 *
c` with the integer 2 is a float64 in Numba, hence `c + c`; rx and ry are passed as numbers of the plate's type.

A launch through Numba looks at the types of all arguments, 18 microseconds and more on the host: with arrays of other
libraries as arguments, 50 for each of them, so that these are wrapped once (`as_numba`, which calls
`cuda.as_cuda_array`), before the loop.
"""

from __future__ import annotations

from numba import cuda

from simsuite.routes.arrays import as_numba

THREADS = (64, 4)  # of a block, along x and y


@cuda.jit
def step(u, v, rx, ry):
    x, y = cuda.grid(2)
    ny, nx = u.shape
    if x < nx and y < ny:
        c = u[y, x]
        if 0 < x < nx - 1 and 0 < y < ny - 1:
            c += rx * (u[y, x - 1] - (c + c) + u[y, x + 1]) + ry * (u[y - 1, x] - (c + c) + u[y + 1, x])
        v[y, x] = c


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of Numba's; edges keep their values."""
    u = as_numba(u, 2)
    here, there = cuda.device_array(u.shape, u.dtype), cuda.device_array(u.shape, u.dtype)
    here.copy_to_device(u)
    ny, nx = u.shape
    launch = step[(-(-nx // THREADS[0]), -(-ny // THREADS[1])), THREADS]
    rx, ry = u.dtype.type(rx), u.dtype.type(ry)
    for _ in range(steps):
        launch(here, there, rx, ry)
        here, there = there, here
    return here
