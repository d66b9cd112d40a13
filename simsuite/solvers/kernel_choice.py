"""Which kernels a stepper uses: the readable ones of Numba, or programs in CUDA C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from simsuite.core import Backend
from simsuite.errors import DeviceError

Made = TypeVar("Made")


def kernel_of(choice: str, backend: Backend) -> str:
    """Either "numba" or "nvrtc". choice: the same, or "auto".

    Raises DeviceError where programs are asked for and cannot be had.
    """
    if choice == "nvrtc" and not backend.compiles:
        raise DeviceError(f'kernel = "nvrtc" needs a CUDA GPU, and this run is on {backend.name}')
    return "nvrtc" if choice != "numba" and backend.compiles else "numba"


def made_or_not(make: Callable[[], Made], choice: str, chosen: dict[str, str]) -> tuple[Made | None, dict[str, str]]:
    """What programs are made into, and what was chosen: None and Numba where the device cannot have them, unless they
    were asked for."""
    try:
        return make(), chosen
    except DeviceError as reason:
        if choice == "nvrtc":
            raise
        return None, {"kernel": "numba", "kernel_note": f"Numba's kernels, since {reason}"}
