"""One NVIDIA GPU: CuPy owns memory and streams, and loads programs in CUDA C++; Numba launches its own kernels.

Everything that advances the state is queued in one stream, `compute`; snapshots leave in another (see `staging`).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib.util
import os
import re
import statistics
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from simsuite.backends.address import address
from simsuite.backends.cuda_libraries import CuBlas, CuFft
from simsuite.backends.install import GPU_PACKAGES
from simsuite.backends.kernel_cache import cache_directory
from simsuite.backends.loaders import Loader, open_loader
from simsuite.backends.nccl import NcclLink, installed_nccl, new_identity
from simsuite.backends.numba_cuda import import_numba_cuda
from simsuite.backends.numba_kernels import NumbaKernels
from simsuite.backends.numba_launch import NumbaLaunch
from simsuite.backends.profiler import CudaProfiler
from simsuite.backends.program import CudaProgram
from simsuite.backends.staging import Staging
from simsuite.backends.tuning import Timed, choose, times
from simsuite.core import DeviceArray, Fence, Fourier, HostArray, Kernel, Pending, Products, Program, Recorder
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    import cupy
    import numpy.typing as npt
    from numba import cuda

_GRAPHS = 128  # how many graphs are kept at once
_TRIES = 5  # how often a trial is timed; the median counts


def _kernel_module() -> str:
    """The version of the driver itself, after a comma, where Linux tells it."""
    try:
        found = re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", Path("/proc/driver/nvidia/version").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    return "" if found is None else f", {found[0]}"


def _import_cupy() -> ModuleType:
    """CuPy, or a DeviceError that says what is missing, Numba's CUDA target included."""
    try:
        ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        raise DeviceError("there is no NVIDIA driver on this machine") from None
    try:
        import cupy
    except ImportError as e:
        raise DeviceError(f"CuPy cannot be imported ({e}): {GPU_PACKAGES}") from None
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise DeviceError("no CUDA device found")
    except cupy.cuda.runtime.CUDARuntimeError as e:
        raise DeviceError(f"the CUDA driver does not answer ({e})") from None
    if importlib.util.find_spec("numba_cuda") is None:
        raise DeviceError(f"numba-cuda is not installed (only Numba's built-in target): {GPU_PACKAGES}")
    module: ModuleType = cupy
    return module


def count_gpus() -> int:
    """How many GPUs this process sees. Raises DeviceError, with the reason, if none can be used."""
    return int(_import_cupy().cuda.runtime.getDeviceCount())


def _import_numba() -> ModuleType:
    """numba.cuda, which takes most of a second, or a DeviceError that says what is wrong with it."""
    try:
        cuda = import_numba_cuda()
    except Exception as e:
        raise DeviceError(f"numba.cuda cannot be imported ({e}): {GPU_PACKAGES}") from None
    if getattr(cuda, "implementation", None) != "NVIDIA":
        raise DeviceError(f"numba.cuda is not that of the package numba-cuda: {GPU_PACKAGES}")
    return cuda


class _EventFence:
    def __init__(self, cupy: ModuleType, stream: cupy.cuda.Stream) -> None:
        self._cupy, self._event = cupy, cupy.cuda.Event(block=True)
        self._event.record(stream)

    def wait(self) -> None:
        self._event.synchronize()

    def seconds_since(self, earlier: _EventFence) -> float:
        self.wait()
        milliseconds: float = self._cupy.cuda.get_elapsed_time(earlier._event, self._event)
        return 1e-3 * milliseconds


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A context without garbage collection, for while a stream is captured: the collector may destroy graphs of a
    stepper that is gone, which is not permitted then and spoils the capture."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class _GraphRecorder:
    """Keeps the graphs of the launches that come again and again.

    The first time launches are made one by one (kernels compile then), the second time they are recorded as a CUDA
    graph, which from then on is one launch: 1.4 microseconds a kernel instead of 12.
    """

    def __init__(self, stream: cupy.cuda.Stream, capture_mode: int) -> None:
        self._stream, self._mode = stream, capture_mode
        self._seen: set[Hashable] = set()
        self._graphs: dict[Hashable, cupy.cuda.Graph] = {}  # the least recently used first

    def replay(self, key: Hashable, launches: Callable[[], None]) -> None:
        graph = self._graphs.pop(key, None)
        if graph is None:
            if key not in self._seen:
                self._seen.add(key)
                launches()
                return
            graph = self._record(launches)
            if len(self._graphs) >= _GRAPHS:
                self._graphs.pop(next(iter(self._graphs)))
        self._graphs[key] = graph
        graph.launch(self._stream)

    def prepare(self, key: Hashable, launches: Callable[[], None]) -> None:
        graph = self._graphs[key] = self._record(launches)
        graph.upload(self._stream)

    def _record(self, launches: Callable[[], None]) -> cupy.cuda.Graph:
        with self._stream, _no_garbage_collection():
            self._stream.begin_capture(self._mode)
            try:
                launches()
            except BaseException:
                self._stream.end_capture()
                raise
            return self._stream.end_capture()


class CudaBackend(NumbaKernels):
    """GPU number `index`. loader: what loads programs in CUDA C++ and launches their kernels, see `backends.loaders`.
    Raises DeviceError if it cannot be used."""

    dialect = "cuda"
    libraries: tuple[str, ...] = ("numba", "numpy", "numba-cuda", "cupy-cuda13x", "cupy-cuda12x")
    simulated = False
    note: str | None = None
    compiles = True
    timed = True
    announce: Callable[[str], None]

    def __init__(self, index: int = 0, loader: str = "auto") -> None:
        cupy = _import_cupy()
        count = cupy.cuda.runtime.getDeviceCount()
        if index >= count:
            raise DeviceError(f"there is no cuda:{index}; this machine has {count} CUDA device(s)")
        self._cupy = cupy
        self.name = f"cuda:{index}"
        try:
            self._open(index)
            self._use(open_loader(loader, cupy, index))
        except DeviceError:
            raise
        except Exception as e:  # exclusive mode, a driver too old, a card that fell off the bus: each has its own type
            raise DeviceError(f"{self.name} cannot be used: {e}") from e

    def _open(self, index: int) -> None:
        cupy = self._cupy
        self._device = cupy.cuda.Device(index)
        self._device.use()
        properties = cupy.cuda.runtime.getDeviceProperties(index)
        self.device_name = properties["name"].decode()
        self.processors = properties["multiProcessorCount"]
        self.block_memory = properties["sharedMemPerBlockOptin"]
        self._arch = f"sm_{properties['major']}{properties['minor']}"
        self.announce = lambda text: None
        self.threads = 1
        self._fourier: CuFft | None = None
        self._products: CuBlas | None = None
        self._programs: dict[Hashable, CudaProgram] = {}

    def _use(self, loader: Loader) -> None:
        self._loader, self.compute, self.note = loader, loader.stream, "; ".join(loader.notes) or None
        self._staging = Staging(self._cupy, self._device, self.compute, self._allocating)

    @functools.cached_property
    def _numba(self) -> tuple[ModuleType, cuda.Stream]:
        """The module numba.cuda, set to this device, and Numba's object for the compute stream. Runs whose kernels are
        all in CUDA C++ never import it."""
        cuda = _import_numba()
        try:
            cuda.select_device(self._device.id)
            return cuda, cuda.external_stream(self.compute.ptr)
        except Exception as e:  # errors of the driver, each with its own type
            raise DeviceError(f"{self.name} cannot be used by Numba: {e}") from e

    def kernels(self, module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
        _ = self._numba  # imports numba.cuda, which the module of kernels imports by that name
        return super().kernels(module, functions)

    def array(self, host: HostArray) -> DeviceArray:
        with self._allocating():
            return self._cupy.asarray(np.ascontiguousarray(host), blocking=True)

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
        with self._allocating():
            return self._cupy.zeros(shape, dtype)

    def view(self, array: DeviceArray) -> DeviceArray:
        cuda, _ = self._numba
        return cuda.as_cuda_array(array, sync=False)

    def address(self, array: DeviceArray) -> int:
        return address(array)

    def to_host(self, array: DeviceArray) -> HostArray:
        with self.compute:
            host: HostArray = self._cupy.asnumpy(array)
        return host

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        with self.compute:
            self._cupy.copyto(target, source)

    def arithmetic(self) -> contextlib.AbstractContextManager[None]:
        return self._allocating()

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        grid = tuple(-(-n // b) for n, b in zip(extent, block))
        _, stream = self._numba
        from cupy_backends.cuda.api import driver

        return NumbaLaunch(kernel, grid, block, (stream, self.compute.ptr), driver)

    def program(self, source: Path, macros: Mapping[str, str | int]) -> Program:
        question = source, tuple(macros.items())
        if question not in self._programs:
            self._programs[question] = CudaProgram(self._loader, self._arch, source, macros)
        return self._programs[question]

    def fastest(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        what = f"compiling and trying {len(trials)} kernels for {self.device_name}, this once"
        return choose(cache_directory(), self._here(question), len(trials), self._timed(what, trials))

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        what = f"timing {question} on {self.device_name}, this once"
        return times(cache_directory(), self._here(question), len(trials), self._timed(what, trials))

    def _here(self, question: str) -> str:
        return f"{question} on {self.device_name}, {self._cupy.cuda.runtime.runtimeGetVersion()}"

    def _timed(self, what: str, trials: Sequence[Callable[[], None]]) -> Callable[[int], Timed]:
        """A function that gives the time of a trial, by its index: the median of a few runs, after two that do not
        count."""

        def measure(i: int) -> Timed:
            if i == 0:
                self.announce(what)
            begin, end = (self._cupy.cuda.Event() for _ in range(2))
            found: list[float] = []
            for _ in range(2 + _TRIES):
                begin.record(self.compute)
                trials[i]()
                end.record(self.compute)
                end.synchronize()
                found.append(self._cupy.cuda.get_elapsed_time(begin, end))
            return Timed(1e-3 * statistics.median(found[2:]))

        return measure

    def on_threads(self, n: int) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def fourier(self) -> Fourier:
        if self._fourier is None:
            self._fourier = CuFft(self._allocating)
        return self._fourier

    def products(self) -> Products:
        if self._products is None:
            with self._allocating():
                self._products = CuBlas(self._cupy, self.compute.ptr)
        return self._products

    def recorder(self) -> Recorder:
        return _GraphRecorder(self.compute, self._cupy.cuda.runtime.streamCaptureModeThreadLocal)

    def stage(self, step: int, arrays: Mapping[str, DeviceArray]) -> Pending:
        return self._staging.stage(step, arrays)

    @contextlib.contextmanager
    def _allocating(self) -> Iterator[None]:
        """A context in which the compute stream is CuPy's current one, so that memory from CuPy's pool belongs to
        it."""
        try:
            with self.compute:
                yield
        except self._cupy.cuda.memory.OutOfMemoryError as e:
            raise DeviceError(f"not enough memory on {self.name}: {e}") from None

    @property
    def bus_address(self) -> int:
        return int(re.sub(r"\W", "", self._device.pci_bus_id), 16)

    def lacks_links(self) -> str | None:
        try:
            installed_nccl()
        except DeviceError as error:
            return str(error)
        return None

    def link_identity(self) -> tuple[int, ...]:
        return new_identity()

    def link(self, identity: tuple[int, ...], rank: int, size: int) -> NcclLink:
        with self._device:
            return NcclLink(self.compute, identity, rank, size)

    def fence(self) -> Fence:
        return _EventFence(self._cupy, self.compute)

    def profiler(self) -> CudaProfiler:
        """See `capabilities.Profiled`."""

        def elapsed(since: Fence, event: cupy.cuda.Event) -> float:
            assert isinstance(since, _EventFence)
            milliseconds: float = self._cupy.cuda.get_elapsed_time(since._event, event)
            return 1e-3 * milliseconds

        return CudaProfiler(self._cupy, self._staging, elapsed)

    def follow(self) -> None:
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(self._cupy.cuda.get_current_stream())
        self.compute.wait_event(event)

    @property
    def driver(self) -> str:
        major, minor = divmod(self._cupy.cuda.runtime.driverGetVersion() // 10, 100)
        return f"CUDA {major}.{minor}{_kernel_module()}"

    def memory_free(self) -> int:
        free: int = self._device.mem_info[0] + self._cupy.get_default_memory_pool().free_bytes()
        return free
