"""The choice of a stepper's kernels: the readable ones of Numba, or programs in CUDA C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from simsuite.core import Backend
from simsuite.errors import DeviceError

Made = TypeVar("Made")


def kernel_of(choice: str, backend: Backend) -> str:
    """The kernels to use: "numba" or "nvrtc". choice: one of these, or "auto".

    Raises DeviceError where programs in CUDA C++ are asked for and cannot be had.
    """
    if choice == "nvrtc" and not backend.compiles:
        raise DeviceError(f'kernel = "nvrtc" needs a CUDA GPU, and this run is on {backend.name}')
    return "nvrtc" if choice != "numba" and backend.compiles else "numba"


def made_or_not(make: Callable[[], Made], choice: str, chosen: dict[str, str]) -> tuple[Made | None, dict[str, str]]:
    """(what `make` makes from programs in CUDA C++, what was chosen). Where the device cannot run the programs, the
    former is None and Numba is chosen, unless the programs were asked for.
    """
    try:
        return make(), chosen
    except DeviceError as reason:
        if choice == "nvrtc":
            raise
        return None, {"kernel": "numba", "kernel_note": f"Numba's kernels, since {reason}"}
