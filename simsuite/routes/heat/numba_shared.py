"""The heat step by Numba with tiles in shared memory: a block reads its tile, and a rim of one point, once.

All threads of a block see a shared array; `syncthreads` lets none of them read it before all have written their part.
Its shape has to be known when the kernel is compiled, and its type too, so `make_step` makes a kernel for each type. On
GPUs since Volta (2017) this is no faster than reading neighbours from global memory, which the first-level cache
delivers: it is here because every text book has it, and because the product of matrices does need it.
"""

from __future__ import annotations

import functools

from numba import cuda, float32, float64

from simsuite.routes.arrays import as_numba

TX, TY = 32, 8  # points of a tile, each with a thread of its own
WIDTH, HEIGHT = TX + 2, TY + 2  # with the rim


@functools.cache
def make_step(real):
    """The kernel for plates of type `real`, one of Numba's."""

    @cuda.jit
    def step(u, v, rx, ry):
        tile = cuda.shared.array((HEIGHT, WIDTH), real)
        ny, nx = u.shape
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
        if x < nx and y < ny:
            tile[ty, tx] = u[y, x]
            if tx == 1 and x > 0:
                tile[ty, 0] = u[y, x - 1]
            if tx == TX and x < nx - 1:
                tile[ty, TX + 1] = u[y, x + 1]
            if ty == 1 and y > 0:
                tile[0, tx] = u[y - 1, x]
            if ty == TY and y < ny - 1:
                tile[TY + 1, tx] = u[y + 1, x]
        cuda.syncthreads()
        if x < nx and y < ny:
            c = tile[ty, tx]
            if 0 < x < nx - 1 and 0 < y < ny - 1:
                along_x = tile[ty, tx - 1] - (c + c) + tile[ty, tx + 1]
                along_y = tile[ty - 1, tx] - (c + c) + tile[ty + 1, tx]
                c += rx * along_x + ry * along_y
            v[y, x] = c

    return step


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of Numba's; edges keep their values."""
    u = as_numba(u, 2)
    here, there = cuda.device_array(u.shape, u.dtype), cuda.device_array(u.shape, u.dtype)
    here.copy_to_device(u)
    ny, nx = u.shape
    step = make_step(float32 if u.dtype.itemsize == 4 else float64)
    launch = step[(-(-nx // TX), -(-ny // TY)), (TX, TY)]
    rx, ry = u.dtype.type(rx), u.dtype.type(ry)
    for _ in range(steps):
        launch(here, there, rx, ry)
        here, there = there, here
    return here
