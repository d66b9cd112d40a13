"""The CPU: `numba.njit(parallel=True)` kernels on NumPy arrays."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from simsuite.backends.compile_ahead import CompileAhead, compile_ahead
from simsuite.backends.host import Copied, HostBackend
from simsuite.backends.kernel_cache import cache_directory
from simsuite.backends.numba_arrays import import_arrays
from simsuite.backends.threads import load_openmp, on_threads, threads_available
from simsuite.backends.tuning import Timed, shortest, times
from simsuite.core import Backend, HostArray, Kernel, Pending, Snapshot
from simsuite.words import counted

_SMALL = 1 << 16  # bytes of a small array
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
        self._ahead: CompileAhead | None = None  # not None in the context of `compiling_ahead`

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        import numba  # not imported when a CPU is opened: the simulator may be chosen after that

        here = f"{counted(numba.get_num_threads(), 'core')} of {self.device_name}"

        def measure(i: int) -> Timed:
            if i == 0:
                self.announce(f"timing {question} on {here}, this once")
            trials[i]()  # compiles kernels
            return shortest(lambda: _seconds(trials[i]), _TRIES, _TRYING, _PATIENCE)

        return times(cache_directory(), f"{question} on {here}", len(trials), measure)

    @contextlib.contextmanager
    def compiling_ahead(self, rehearse: Callable[[Backend], None]) -> Iterator[None]:
        """See `capabilities.CompilesAhead`."""
        if self.threads < 2:
            yield
            return
        with compile_ahead(lambda: rehearse(_Rehearsing(self._ahead))) as self._ahead:
            try:
                yield
            finally:
                self._ahead = None

    def missing(self, name: str) -> None:
        super().missing(name)
        if self._ahead is not None:
            self._ahead.missing(name)

    def found(self, name: str) -> None:
        if self._ahead is not None:
            self._ahead.found(name)

    def kernels(self, module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
        load_openmp()  # not loaded before: a command that only asks about a run need not wait for Numba
        import_arrays("numba.np")
        return super().kernels(module, functions)

    def on_threads(self, n: int) -> contextlib.AbstractContextManager[None]:
        return on_threads(n)

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        loops: Callable[..., None] = kernel
        return loops


class _Rehearsing(CpuBackend):
    """The CPU in a process that compiles kernels and does not run them. Arrays have the right shapes and types; large
    ones are full of zeros, which take no memory, while functions of Python may use what is in small ones."""

    def __init__(self, ahead: CompileAhead | None) -> None:
        super().__init__()
        self._ahead = ahead

    def array(self, host: HostArray) -> HostArray:
        return super().array(host) if host.nbytes <= _SMALL else self.zeros(host.shape, host.dtype)

    def to_host(self, array: HostArray) -> HostArray:
        return array

    def copy(self, source: HostArray, target: HostArray) -> None:
        return None

    def stage(self, step: int, arrays: Mapping[str, HostArray]) -> Pending:
        return Copied(Snapshot(step, arrays))

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        return [1.0] * len(trials)


def _seconds(trial: Callable[[], None]) -> float:
    began = time.perf_counter()
    trial()
    return time.perf_counter() - began
