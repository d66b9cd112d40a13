"""Numba's CUDA simulator: the CUDA kernels run as Python threads. Slow, for tests and teaching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

from simsuite.backends.host import HostBackend


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

    def launcher(self, kernel: Any, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        grid = tuple(-(-n // b) for n, b in zip(extent, block))

        def launch(*arguments: Any) -> None:
            kernel[grid, block](*arguments)  # here this configures the kernel itself: another launcher may do it again

        return launch
