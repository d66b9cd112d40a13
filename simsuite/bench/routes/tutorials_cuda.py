"""Kernels of Numba as widespread tutorials have them, timed beside those of the roads."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import cuda, float32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

from simsuite.routes.arrays import checked
from simsuite.routes.matmul.shapes import sizes

TPB = 16


@cuda.jit
def step(u: Any, v: Any, rx: Any, ry: Any) -> None:
    i, j = cuda.grid(2)  # threads that are neighbours have neighbouring i, which are rows
    ny, nx = u.shape
    if i < ny and j < nx:
        c = u[i, j]
        if 0 < i < ny - 1 and 0 < j < nx - 1:
            c += rx * (u[i, j - 1] - 2 * c + u[i, j + 1]) + ry * (u[i - 1, j] - 2 * c + u[i + 1, j])
        v[i, j] = c


def advance(u: Any, steps: int, rx: float, ry: float) -> Any:
    """The plate after so many steps; see `routes.heat`."""
    u = cuda.as_cuda_array(checked(u, 2), sync=False)
    here, there = cuda.device_array(u.shape, u.dtype), cuda.device_array(u.shape, u.dtype)
    here.copy_to_device(u)
    ny, nx = u.shape
    launch = step[(-(-ny // TPB), -(-nx // TPB)), (TPB, TPB)]
    for _ in range(steps):
        launch(here, there, rx, ry)
        here, there = there, here
    return here


@cuda.jit
def european(states: Any, out: Any, s0: Any, strike: Any, drift: Any, dev: Any, discount: Any, steps: int) -> None:
    i = cuda.grid(1)
    if i < out.size:
        s = s0
        for _ in range(steps):
            s *= math.exp(drift + dev * xoroshiro128p_normal_float32(states, i))
        out[i] = discount * max(s - strike, float32(0))


@cuda.jit
def asian(states: Any, out: Any, s0: Any, strike: Any, drift: Any, dev: Any, discount: Any, steps: int) -> None:
    i = cuda.grid(1)
    if i < out.size:
        s, total = s0, float32(0)
        for _ in range(steps):
            s *= math.exp(drift + dev * xoroshiro128p_normal_float32(states, i))
            total += s
        out[i] = discount * max(total / float32(steps) - strike, float32(0))


@functools.lru_cache(1)
def _states(paths: int, seed: int) -> Any:
    return create_xoroshiro128p_states(paths, seed=seed)


def payoffs(contract: Any, seed: int, out: Any) -> Any:
    """A discounted payoff of each path, whose generator has a state of its own; see `routes.gbm`. The states go on from
    call to call."""
    view = cuda.as_cuda_array(checked(out, 1), sync=False)
    names = ("spot", "strike", "drift", "deviation", "discount")
    numbers = [np.float32(getattr(contract, name)) for name in names]
    kernel = asian if contract.asian else european
    kernel[-(-view.size // 256), 256](_states(view.size, seed), view, *numbers, contract.steps)
    return out


@cuda.jit
def fast_matmul(a: Any, b: Any, c: Any) -> None:
    """The kernel of that name in Numba's documentation, which is right for square matrices whose size is a multiple of
    TPB."""
    sa, sb = cuda.shared.array((TPB, TPB), float32), cuda.shared.array((TPB, TPB), float32)
    x, y = cuda.grid(2)
    tx, ty, bpg = cuda.threadIdx.x, cuda.threadIdx.y, cuda.gridDim.x
    if x >= c.shape[0] and y >= c.shape[1]:
        return
    tmp = float32(0.0)
    for i in range(bpg):
        sa[ty, tx] = a[y, tx + i * TPB]
        sb[ty, tx] = b[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = tmp


def product(a: Any, b: Any) -> Any:
    """C = A B; see `routes.matmul`."""
    m, _, n = sizes(a, b)
    c = cuda.device_array((m, n), "float32")
    grid = (-(-n // TPB), -(-m // TPB))
    fast_matmul[grid, (TPB, TPB)](cuda.as_cuda_array(a, sync=False), cuda.as_cuda_array(b, sync=False), c)
    return c
