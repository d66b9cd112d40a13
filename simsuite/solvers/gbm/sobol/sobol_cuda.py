"""Increments of paths from Sobol points on a GPU, in a readable form: every thread computes all bits of its own
numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32, uint32, uint64

from simsuite.sobol.normal import inverse_normal32, inverse_normal64
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK


@cuda.jit(device=True)
def coordinate(directions: Any, shift: Any, point: Any) -> Any:
    """The 32 bits of a coordinate of a point."""
    x = uint32(shift)
    for b in range(32):
        if uint64(point) >> uint64(b) & uint64(1):
            x ^= directions[b]
    return x


def make_bridge(n_assets: int, normal: Any) -> tuple[Any, Any]:
    """The functions start(whole, waiting, begin, ..) and follow(z, block, visit, depth, whole, waiting, ..), which end
    on the arguments points (see `arguments.py`), replicate, point; see `sobol_cpu.py`.

    whole[component] and waiting[depth, component] are the thread's own; both return (visit, depth).
    """
    N, PER_BLOCK = n_assets, NORMALS_PER_BLOCK[np.dtype(normal)]
    single = np.dtype(normal) == np.float32
    real = float32 if single else float64

    @cuda.jit(device=True)
    def left(visit, a, gain, points, r, point):
        x = coordinate(points.directions[r, visit, a], points.shift[r, visit, a], point)
        z = inverse_normal32(x) if single else inverse_normal64(x, points.offset[r, visit, a])
        return real(points.weights[visit, 0] * gain + points.weights[visit, 1] * z)

    @cuda.jit(device=True)
    def start(whole, waiting, begin, points, r, point):
        for a in range(N):
            whole[a] = left(0, a, real(0), points, r, point)
        visit, depth, first, beyond = int32(1), int32(0), int32(0), int32(points.opened.shape[0])
        while first < begin and beyond - first > 1:
            fours = ((beyond - first) * PER_BLOCK + 3) // 4
            m = first + (fours + 1) // 2 * 4 // PER_BLOCK if fours > 1 else first + 1
            for a in range(N):
                gain = left(visit, a, whole[a], points, r, point)
                if begin < m:
                    waiting[depth, a] = whole[a] - gain
                    whole[a] = gain
                else:
                    whole[a] -= gain
            if begin < m:
                visit, depth, beyond = visit + 1, depth + 1, m
            else:
                visit, first = visit + (m - first) * PER_BLOCK, m
        return visit, depth

    @cuda.jit(device=True)
    def follow(z, block, visit, depth, whole, waiting, points, r, point):
        for _ in range(points.opened[block]):
            for a in range(N):
                gain = left(visit, a, whole[a], points, r, point)
                waiting[depth, a] = whole[a] - gain
                whole[a] = gain
            visit, depth = visit + 1, depth + 1
        for a in range(N):
            half = left(visit, a, whole[a], points, r, point)
            rest = whole[a] - half
            if PER_BLOCK == 2:
                z[a, 0] = half
                z[a, 1] = rest
            else:
                z[a, 0] = left(visit + 1, a, half, points, r, point)
                z[a, 1] = half - z[a, 0]
                z[a, PER_BLOCK - 2] = left(visit + 2, a, rest, points, r, point)
                z[a, PER_BLOCK - 1] = rest - z[a, PER_BLOCK - 2]
        visit += PER_BLOCK - 1
        if depth > 0:  # unless this is the last block
            depth -= 1
            for a in range(N):
                whole[a] = waiting[depth, a]
        return visit, depth

    return start, follow
