"""The CPU: `numba.njit(parallel=True)` kernels on NumPy arrays."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simsuite.backends.host import HostBackend


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


class CpuBackend(HostBackend):
    """Kernels are compiled functions that loop over the whole extent themselves."""

    name = "cpu"
    dialect = "cpu"

    def __init__(self, note: str | None = None) -> None:
        self.device_name = _cpu_name()
        self.note = note

    def launcher(self, kernel: Any, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        return kernel
