"""The peers NumPy on the CPU and CuPy on a GPU: slices of a padded array, as beginners write them, with a temporary
array for every operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simsuite.bench.peers.peer import Peer, Running


def _numpy(T: np.ndarray, r: float, device: str) -> Running:
    return _start(np, T, r, np.asarray, lambda: None)


def _cupy(T: np.ndarray, r: float, device: str) -> Running:
    import cupy

    return _start(cupy, T, r, cupy.asnumpy, cupy.cuda.Device().synchronize)


def _start(xp: Any, T: np.ndarray, r: float, to_host: Callable[[Any], np.ndarray], wait: Callable[[], None]) -> Running:
    P = xp.asarray(np.pad(T, 1))
    inside = P[1:-1, 1:-1]

    def advance(n: int) -> None:
        for _ in range(n):
            P[0], P[-1], P[:, 0], P[:, -1] = -P[1], -P[-2], -P[:, 1], -P[:, -2]
            inside[:] += r * (P[1:-1, :-2] + P[1:-1, 2:] + P[:-2, 1:-1] + P[2:, 1:-1] - 4 * inside)
        wait()

    return Running(advance, lambda: to_host(inside))


NUMPY_SLICES = Peer("NumPy slices", "numpy", ("cpu",), _numpy)
CUPY_SLICES = Peer("CuPy slices", "cupy", ("cuda",), _cupy)
