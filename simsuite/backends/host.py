"""What the backends whose arrays live in ordinary memory have in common."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simsuite.backends.numba_kernels import NumbaKernels
from simsuite.core import DeviceArray, Fence, Fourier, HostArray, Kernel, Pending, Products, Program, Recorder, Snapshot
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    import numpy.typing as npt

_LINE = 64  # bytes


def memory_available() -> int | None:
    """Bytes that the system says can be had without swapping, the file cache included; None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _zeros(shape: tuple[int, ...], dtype: np.dtype) -> HostArray:
    """An array of zeros that begins on a cache line: vectors that lie across two lines take twice as long to store."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + _LINE, np.uint8)
    begin = -raw.ctypes.data % _LINE
    return raw[begin : begin + size].view(dtype).reshape(shape)


class Copied:
    """A snapshot that is on the host already."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __enter__(self) -> Snapshot:
        return self._snapshot

    def __exit__(self, *exc: object) -> None:
        return None


class _Done:
    """A fence of a host, whose work is finished when the call that does it returns."""

    def __init__(self) -> None:
        self._at = time.perf_counter()

    def wait(self) -> None:
        return None

    def seconds_since(self, earlier: _Done) -> float:
        return self._at - earlier._at


class _Direct:
    """A recorder that makes launches at once: calls on the host cost so little that none are recorded."""

    def replay(self, key: Hashable, launches: Callable[[], None]) -> None:
        launches()

    def prepare(self, key: Hashable, launches: Callable[[], None]) -> None:
        return None


class _SciPyFourier:
    """SciPy's transforms: each row has the same bits on any number of threads."""

    name = "SciPy"

    def plan(self, kind: str, rows: int, n: int, dtype: npt.DTypeLike) -> Callable[[HostArray, HostArray], None]:
        from scipy import fft

        transforms: dict[str, Callable[[HostArray], HostArray]] = {
            "real": lambda source: fft.rfft(source, axis=1, workers=-1),
            "back": lambda source: fft.irfft(source, n, axis=1, norm="forward", workers=-1),
            "complex": lambda source: fft.fft(source, axis=1, workers=-1),
        }
        transform = transforms[kind]
        return lambda source, target: np.copyto(target, transform(source))


class HostBackend(NumbaKernels):
    """Arrays are NumPy arrays, kernels run when called."""

    libraries: tuple[str, ...] = ("numba", "numpy")
    name: str
    device_name: str
    dialect: str
    simulated = False
    note: str | None = None
    processors = 1
    block_memory = 0
    compiles = False
    timed = False
    announce: Callable[[str], None] = staticmethod(lambda text: None)
    threads = 1

    def array(self, host: HostArray) -> HostArray:
        kept = _zeros(host.shape, host.dtype)
        kept[...] = host
        return kept

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> HostArray:
        return _zeros(shape if isinstance(shape, tuple) else (shape,), np.dtype(dtype))

    def view(self, array: HostArray) -> HostArray:
        return array

    def to_host(self, array: HostArray) -> HostArray:
        return array.copy()

    def copy(self, source: HostArray, target: HostArray) -> None:
        np.copyto(target, source)

    def arithmetic(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        raise NotImplementedError

    def address(self, array: DeviceArray) -> int:
        if not array.flags.c_contiguous:
            raise ValueError(f"an array in C order is needed, not one of shape {array.shape}")
        return int(array.ctypes.data)

    def program(self, source: Path, macros: Mapping[str, str | int]) -> Program:
        raise DeviceError(f"{self.name} does not run CUDA C++")

    def fastest(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        return 0

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        raise NotImplementedError

    def on_threads(self, n: int) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def fourier(self) -> Fourier:
        return _SciPyFourier()

    def products(self) -> Products | None:
        """None: the last bits of a BLAS depend on the number of threads."""
        return None

    def recorder(self) -> Recorder:
        return _Direct()

    def stage(self, step: int, arrays: Mapping[str, HostArray]) -> Pending:
        return Copied(Snapshot(step, {name: a.copy() for name, a in arrays.items()}))

    def fence(self) -> Fence:
        return _Done()

    def follow(self) -> None:
        return None

    def memory_free(self) -> int:
        return memory_available() or sys.maxsize
