"""CUDA C++ compiled at run time by NVRTC, specialised by macros, and kept on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TextIO

import numpy as np

from simsuite.backends.address import OnDevice, address
from simsuite.backends.cache_files import read_sealed, write_sealed
from simsuite.backends.kernel_cache import cache_directory
from simsuite.backends.threads import cores
from simsuite.core import HostArray
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    import cupy

_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # the number of this attribute of a function in the driver's API
_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory that a launch may take without setting that attribute
_OVERLAPPING = 90  # from this architecture on a launch can begin before the one before it has ended


def whole_text(source: Path) -> str:
    """A source file with the files that it includes, named from where it is, in their places."""

    def included(match: re.Match[str]) -> str:
        return whole_text(source.parent / match[1])

    return re.sub(r'^#include "(.+)"$', included, source.read_text(encoding="utf-8"), flags=re.MULTILINE)


def program_text(source: Path, macros: Mapping[str, str | int]) -> str:
    """The text that is compiled: the source after the definitions of the macros."""
    return "".join(f"#define {name} {value}\n" for name, value in macros.items()) + whole_text(source)


def compile_program(source: Path, macros: Mapping[str, str | int], arch: str, log: TextIO | None = None) -> bytes:
    """Machine code for an architecture such as "sm_90". log: a text stream for what the compiler says.

    Sums and products are fused where the source says `fma` and nowhere else, and subnormal numbers are kept: so there
    is one way to round. Raises what the compiler raises.
    """
    from cuda.core import Program, ProgramOptions

    more: dict[str, list[str]] = {"ptxas_options": ["-v"]} if log is not None else {}
    options = ProgramOptions(name=source.name, arch=arch, std="c++17", fma=False, ftz=False, **more)
    return bytes(Program(program_text(source, macros), "c++", options).compile("cubin", logs=log).code)


class CudaProgram:
    """A source file compiled for a device of CuPy's, by a thread of its own: many are compiled at the same time.
    stream: in which its kernels run."""

    def __init__(
        self, cupy: ModuleType, arch: str, stream: cupy.cuda.Stream, source: Path, macros: Mapping[str, str | int]
    ) -> None:
        self._cupy, self._stream, self._overlaps = cupy, stream, int(arch.removeprefix("sm_")) >= _OVERLAPPING
        self._name = f"{source.name} cannot be compiled for {arch}"
        with self._compiling():
            self._code = _code(source, macros, arch)

    @functools.cached_property
    def _module(self) -> cupy.cuda.function.Module:
        """The program as a loaded module; waits until it is compiled."""
        with self._compiling():
            module = self._cupy.cuda.function.Module()
            module.load(self._code())
        return module

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        """Turns errors of compiling into a DeviceError: there may be no compiler, or the compiler or the driver is too
        old, and each of these errors has a type of its own."""
        try:
            yield
        except Exception as e:
            raise DeviceError(f"{self._name}: {e}") from e

    def launcher(
        self,
        kernel: str,
        blocks: int | tuple[int, ...],
        threads: int,
        shared_bytes: int = 0,
        waits_for: str = "",
    ) -> Callable[..., None]:
        """`kernel` bound to a launch of so many blocks of so many threads, with dynamic shared memory. Waits until the
        program is compiled, and raises DeviceError if it cannot be."""
        grid = (blocks,) if isinstance(blocks, int) else blocks
        function = self._module.get_function(kernel)
        together = {"enable_cooperative_groups": True} if waits_for == "blocks" else {}
        if shared_bytes > _WITHOUT_ASKING:
            with _explained(kernel):
                from cupy_backends.cuda.api import driver

                driver.funcSetAttribute(function.ptr, _MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes)

        if waits_for == "launches" and self._overlaps:
            return _early_launch(function, grid, threads, shared_bytes, self._stream)

        def launch(*arguments: np.generic | HostArray | OnDevice) -> None:
            passed = tuple(map(_passed, arguments))
            with _explained(kernel):
                function(grid, (threads,), passed, shared_mem=shared_bytes, stream=self._stream, **together)

        return launch


def _early_launch(
    function: cupy.cuda.function.Function,
    grid: tuple[int, ...],
    threads: int,
    shared_bytes: int,
    stream: cupy.cuda.Stream,
) -> Callable[..., None]:
    """A function that launches a kernel which may begin before the launch before it has ended. CuPy cannot ask for
    that, but the driver can."""
    from cuda.bindings import driver

    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = (*grid, 1, 1)[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes, config.hStream = shared_bytes, stream.ptr
    config.attrs, config.numAttrs = [attribute], 1

    def launch(*arguments: np.generic | HostArray | OnDevice) -> None:
        passed = [_passed(a) for a in arguments]
        types = tuple(_c_type(a.dtype) for a in passed)
        (status,) = driver.cuLaunchKernelEx(config, function.ptr, (tuple(a.item() for a in passed), types), 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise DeviceError(f"{function.name} cannot be launched: {status.name}")

    return launch


_c_type = functools.cache(np.ctypeslib.as_ctypes_type)


@contextlib.contextmanager
def _explained(kernel: str) -> Iterator[None]:
    """Turns errors of a launch into a DeviceError: too many blocks at once, too much shared memory and a lost device
    raise errors of different types."""
    try:
        yield
    except Exception as e:
        raise DeviceError(f"{kernel} cannot be launched: {e}") from e


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    """The threads that compile programs: NVRTC lets other threads of Python run meanwhile."""
    # Modules that a thread imports while another one does are seen half imported.
    importlib.import_module("cuda.core")
    return ThreadPoolExecutor(cores(), "compiler")


def _code(source: Path, macros: Mapping[str, str | int], arch: str) -> Callable[[], bytes]:
    """A function that returns the machine code: as read from the disk, or else as compiled in another thread and stored
    on the disk."""
    from cuda.bindings import nvrtc

    question = f"{program_text(source, macros)} {arch} {nvrtc.nvrtcVersion()}"
    path = cache_directory() / f"{source.stem}-{hashlib.sha256(question.encode()).hexdigest()[:20]}.cubin"
    kept = read_sealed(path)
    if kept is not None:
        return lambda: kept

    def compiled() -> bytes:
        made = compile_program(source, macros, arch)
        write_sealed(path, made)
        return made

    return _compilers().submit(compiled).result


def _passed(argument: np.generic | HostArray | OnDevice) -> np.generic | HostArray:
    """An argument as a launch takes it: an array on the device, of any library, becomes its address; NumPy's numbers
    and structs (`solvers.structs`), which have the types that the kernel wants, stay as they are."""
    if isinstance(argument, (np.generic, np.ndarray)):
        return argument
    return np.uint64(address(argument))
