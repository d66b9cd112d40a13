"""Errors of a GPU that come while it works: memory is accessed where there is none, a launch fails, a card has fallen
off the bus, its driver was replaced.

They are raised by whichever library asks the driver next, mostly when it waits for what was queued long before, and
after one of them nothing works any more in that process. Libraries are not imported to know their errors. Arguments
that a driver refuses are no failure of the GPU but a mistake of the program, which is to be reported with all it shows.
"""

from __future__ import annotations

import re

_PACKAGES = ("cupy", "cupy_backends", "numba", "numba_cuda", "cuda")
_NAMES = (
    *("CUDARuntimeError", "CUDADriverError", "CUDAError", "CudaAPIError"),
    *("CUBLASError", "CUSOLVERError", "CURANDError", "CUSPARSEError", "CuFFTError"),
)
_MISTAKES = re.compile(r"Invalid(Value|Configuration|ResourceHandle|Symbol)|INVALID_(VALUE|HANDLE|IMAGE|CONTEXT)", re.I)


def gpu_failure(error: BaseException) -> str | None:
    """What failed, in one line, if the error comes from a GPU, its driver or its libraries; else None."""
    of = type(error)
    if of.__module__.partition(".")[0] not in _PACKAGES or of.__name__ not in _NAMES:
        return None
    text = " ".join(str(error).split()) or of.__name__
    return None if _MISTAKES.search(text) else text
