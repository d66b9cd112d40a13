"""Importing NVIDIA's numba.cuda, which the package numba-cuda puts in the place of Numba's own, with any NumPy."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from simsuite.backends.numba_arrays import import_arrays

_ADVICE = "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"


def import_numba_cuda() -> ModuleType:
    """The module `numba.cuda`, with which kernels can be compiled and launched.

    An installation without .pth files leaves out the redirection to numba-cuda, so it is imported here; a second
    import of it does no harm. Raises what importing Numba raises.
    """
    with contextlib.suppress(ImportError):
        importlib.import_module("_numba_cuda_redirector")
    from numba import cuda

    if getattr(cuda, "implementation", None) == "NVIDIA" and not is_simulator():
        with _row_stack():
            importlib.import_module("numba.cuda.np.arrayobj")
            import_arrays("numba.cuda.np")
        _without_advice()
    module: ModuleType = cuda
    return module


def is_simulator() -> bool:
    """Whether Numba simulates a GPU in this process, by NUMBA_ENABLE_CUDASIM=1 before it was imported."""
    from numba import config

    return bool(config.ENABLE_CUDASIM)


def _without_advice() -> None:
    """Keep Numba from warning of kernels with few blocks, as small problems have, unless the environment asks for it:
    that is advice for those who write kernels."""
    if _ADVICE not in os.environ:
        importlib.import_module("numba.cuda.dispatcher").config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


@contextlib.contextmanager
def _row_stack() -> Iterator[None]:
    """A context in which `numpy.row_stack` exists, an alias of `numpy.vstack` that NumPy 2.5 removed.

    numba-cuda 0.30.4, its last version, asks for it while `numba.cuda.np.arrayobj` is imported, to register an
    implementation, and fails where NumPy does not have it.
    """
    numpy: Any = np  # Any: a name is set of which type checkers know only in some versions of NumPy
    if hasattr(numpy, "row_stack"):
        yield
        return
    numpy.row_stack = numpy.vstack
    try:
        yield
    finally:
        del numpy.row_stack
