"""How many bytes of its device each method takes, and whether they are there."""

from __future__ import annotations

import math
from typing import Any

from simsuite.core import Backend, Device
from simsuite.errors import DeviceError
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import device_bytes as power_bytes
from simsuite.solvers.linear.spectral.stepper import device_bytes as spectral_bytes
from simsuite.solvers.linear.stepping.step import device_bytes as step_bytes
from simsuite.solvers.linear.system import LinearSystem


def bytes_of_method(method: str, system: LinearSystem, jumps: Jumps, dtype: Any, steps: int) -> int:
    if method == "power":
        return power_bytes(system, jumps, dtype)
    return step_bytes(system, dtype, steps) if method == "step" else spectral_bytes(system, dtype)


def lack_of_memory(device: Device | None, system: LinearSystem, jumps: Jumps, dtype: Any, method: str) -> str | None:
    """A message that says why a method does not fit on the device; None if it fits, or if the device cannot be opened,
    which is reported later.
    """
    backend, need = opened(device), bytes_of_method(method, system, jumps, dtype, 0)
    free = math.inf if backend is None else backend.memory_free()
    if backend is None or need <= free:
        return None
    name = "powers" if method == "power" else "modes"
    return f"{name} need {need / 1e9:.2f} GB, {backend.name} has {free / 1e9:.2f} GB free"


def opened(device: Device | None) -> Backend | None:
    try:
        return None if device is None else device()
    except DeviceError:
        return None
