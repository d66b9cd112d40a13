"""Numba's CUDA simulator: the CUDA kernels run as Python threads. Slow, for tests and teaching.

SciPy and NumPy take the place of the device's libraries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

from simsuite.backends.host import HostBackend
from simsuite.core import Products


class _NumPyProducts:
    name = "NumPy"

    def multiply(self, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        np.matmul(A, B, out=out)

    def multiply_add(self, A: Any, B: Any, out: Any, add: bool) -> None:
        a, b, c = (view._ary for view in (A, B, out))
        c[...] = a @ b + (c if add else 0)


def _is_alive(thread: Any, known: Callable[[Any], bool] = simulator.BlockThread.is_alive) -> bool:
    """Of a thread of a block, all of which the simulator asks over and over, for half of the time if it did not let
    those that compute go on in between."""
    alive = known(thread)
    if alive and not thread.syncthreads_blocked:
        time.sleep(0)
    return alive


simulator.BlockThread.is_alive = _is_alive


class CudaSimulatorBackend(HostBackend):
    """The grid of a real launch, one Python thread a CUDA thread."""

    name = "cudasim"
    dialect = "cuda"
    device_name = "Numba CUDA simulator"

    def __init__(self) -> None:
        if not config.ENABLE_CUDASIM:
            raise RuntimeError("numba was imported before NUMBA_ENABLE_CUDASIM was set")

    def view(self, array: np.ndarray) -> Any:
        return FakeCUDAArray(array)

    def products(self) -> Products:
        return _NumPyProducts()

    def launcher(self, kernel: Any, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        grid = tuple(-(-n // b) for n, b in zip(extent, block))

        def launch(*arguments: Any) -> None:
            kernel[grid, block](*arguments)  # here this configures the kernel itself: another launcher may do it again

        return launch
