"""What a method needs on the device of a run, and how fast the device is."""

from __future__ import annotations

import math
from typing import Any

from simsuite.core import Backend, Device
from simsuite.errors import DeviceError
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import device_bytes as power_bytes
from simsuite.solvers.linear.spectral.cost import Pace, pace
from simsuite.solvers.linear.spectral.stepper import device_bytes as spectral_bytes
from simsuite.solvers.linear.stepping.panel import device_bytes as panel_bytes
from simsuite.solvers.linear.stepping.step import device_bytes as step_bytes
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import Panel


def method_bytes(
    method: str, system: LinearSystem, jumps: Jumps, dtype: Any, steps: int, panel: Panel | None = None
) -> int:
    """Bytes that a method needs. panel: the rows that a process has, where several share them."""
    if method == "power":
        return power_bytes(system, jumps, dtype, panel)
    if method == "spectral":
        return spectral_bytes(system, dtype)
    return step_bytes(system, dtype, steps) if panel is None else panel_bytes(system, dtype, steps, panel)


def lack_of_memory(device: Device | None, system: LinearSystem, jumps: Jumps, dtype: Any, method: str) -> str | None:
    """A message that says why a method does not fit on the device; None if it fits, or if the device cannot be opened,
    which is reported later.
    """
    backend, need = _opened(device), method_bytes(method, system, jumps, dtype, 0)
    free = math.inf if backend is None else backend.memory_free()
    if backend is None or need <= free:
        return None
    name = "powers" if method == "power" else "modes"
    return f"{name} need {need / 1e9:.2f} GB, {backend.name} has {free / 1e9:.2f} GB free"


def timed_pace(device: Device | None, jumps: Jumps, dtype: Any, kernel: str) -> Pace | None:
    backend = _opened(device)
    return None if backend is None else pace(backend, jumps, dtype, kernel)


def _opened(device: Device | None) -> Backend | None:
    try:
        return None if device is None else device()
    except DeviceError:
        return None
