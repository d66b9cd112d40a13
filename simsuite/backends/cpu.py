"""The CPU: `numba.njit(parallel=True)` kernels on NumPy arrays."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from simsuite.backends.host import HostBackend
from simsuite.backends.kernel_cache import cache_directory
from simsuite.backends.numba_arrays import import_arrays
from simsuite.backends.threads import load_openmp, on_threads, threads_available
from simsuite.backends.tuning import Timed, shortest, times
from simsuite.core import Kernel
from simsuite.words import counted

_TRIES, _TRYING, _PATIENCE = 4, 0.2, 2.0  # how often a trial is timed at least, for how long, and for how long at most


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
    timed = True

    def __init__(self, note: str | None = None) -> None:
        self.device_name = _cpu_name()
        self.note = note
        self.threads = threads_available()

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        import numba  # not imported when a CPU is opened: the simulator may be chosen after that

        here = f"{counted(numba.get_num_threads(), 'core')} of {self.device_name}"

        def measure(i: int) -> Timed:
            if i == 0:
                self.announce(f"timing {question} on {here}, this once")
            trials[i]()  # compiles kernels
            return shortest(lambda: _seconds(trials[i]), _TRIES, _TRYING, _PATIENCE)

        return times(cache_directory(), f"{question} on {here}", len(trials), measure)

    def kernels(self, module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
        load_openmp()  # not loaded before: a command that only asks about a run need not wait for Numba
        import_arrays("numba.np")
        return super().kernels(module, functions)

    def on_threads(self, n: int) -> contextlib.AbstractContextManager[None]:
        return on_threads(n)

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        loops: Callable[..., None] = kernel
        return loops


def _seconds(trial: Callable[[], None]) -> float:
    began = time.perf_counter()
    trial()
    return time.perf_counter() - began
