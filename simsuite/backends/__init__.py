"""Backends: the only place that knows whether arrays live on a CPU, on a GPU, or in the CUDA simulator."""

from __future__ import annotations

import os
import sys

from simsuite.core import Backend
from simsuite.errors import DeviceError


def open_backend(device: str, loader: str = "auto", gpu: int = 0) -> Backend:
    """The backend for `device`: "cpu", "cuda", "cuda:1", "cudasim", or "auto" (a GPU if one works, else the CPU).
    loader: what launches programs in CUDA C++ on a GPU, see `loaders`. gpu: which one, where `device` does not say.

    Raises DeviceError (exit code 4), with the reason, if a device asked for by name cannot be used.
    """
    if device == "auto":
        return _first_that_works(loader, gpu)
    if device == "cpu":
        from simsuite.backends.cpu import CpuBackend

        return CpuBackend()
    if device == "cudasim":
        return _simulator()
    from simsuite.backends.cuda import CudaBackend

    return CudaBackend(int(device.partition(":")[2] or gpu), loader)


def _first_that_works(loader: str, gpu: int) -> Backend:
    from simsuite.backends.cpu import CpuBackend

    try:
        return open_backend("cuda", loader, gpu)
    except DeviceError as reason:
        return CpuBackend(note=f"running on the CPU: {reason}")


def _simulator() -> Backend:
    """Numba chooses between GPU and simulator when it is first imported, so the choice has to come before that."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") in ("", "0"):
        if "numba" in sys.modules:
            raise DeviceError(
                "the CUDA simulator has to be chosen before numba is imported: "
                "set NUMBA_ENABLE_CUDASIM=1 and start again"
            )
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    from simsuite.backends.cudasim import CudaSimulatorBackend

    return CudaSimulatorBackend()
