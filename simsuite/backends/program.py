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
from typing import TextIO

import numpy as np

from simsuite.backends.address import OnDevice, address
from simsuite.backends.cache_files import read_sealed, write_sealed
from simsuite.backends.kernel_cache import cache_directory
from simsuite.backends.loaders import Loaded, Loader, Shape
from simsuite.backends.threads import cores
from simsuite.core import HostArray
from simsuite.errors import DeviceError

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
    """A source file compiled for a device, by a thread of its own: many are compiled at the same time. loader: what
    loads it and launches its kernels."""

    def __init__(self, loader: Loader, arch: str, source: Path, macros: Mapping[str, str | int]) -> None:
        self._loader, self._overlaps = loader, int(arch.removeprefix("sm_")) >= _OVERLAPPING
        self._name = f"{source.name} cannot be compiled for {arch}"
        with self._compiling():
            self._code = _code(source, macros, arch, loader)

    @functools.cached_property
    def _module(self) -> Loaded:
        """The program in the device's memory; waits until it is compiled."""
        with self._compiling():
            return self._loader.load(self._code())

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
        if waits_for == "launches" and not self._overlaps:
            waits_for = ""
        x, y, z = ((blocks, 1, 1) if isinstance(blocks, int) else (*blocks, 1, 1))[:3]
        shape, module = Shape((x, y, z), threads, shared_bytes, waits_for), self._module
        explained = functools.partial(_explained, kernel, shape, self._loader)
        try:
            queue = module.launcher(kernel, shape)
        except Exception as e:  # errors have types of their own in each library
            raise explained(e) from e

        def launch(*arguments: np.generic | HostArray | OnDevice) -> None:
            try:
                queue([_passed(a) for a in arguments])
            except Exception as e:
                raise explained(e) from e

        return launch


def _explained(kernel: str, shape: Shape, loader: Loader, error: Exception) -> DeviceError:
    """What a launch, or preparing it, failed by, in the program's words: too many blocks at once, too much shared
    memory, a lost device."""
    grid = " x ".join(map(str, shape.grid))
    how = f"{grid} blocks of {shape.threads} threads, {shape.shared_bytes} bytes of shared memory, by {loader.name}"
    return DeviceError(f"{kernel} cannot be launched ({how}): {error}")


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    """The threads that compile programs: NVRTC lets other threads of Python run meanwhile."""
    # Modules that a thread imports while another one does are seen half imported.
    importlib.import_module("cuda.core")
    return ThreadPoolExecutor(cores(), "compiler")


def _code(source: Path, macros: Mapping[str, str | int], arch: str, loader: Loader) -> Callable[[], bytes]:
    """A function that returns the machine code: as read from the disk, or else as compiled in another thread and stored
    on the disk."""
    from cuda.bindings import nvrtc

    question = f"{program_text(source, macros)} {arch} {loader.compiler or nvrtc.nvrtcVersion()}"
    path = cache_directory() / f"{source.stem}-{hashlib.sha256(question.encode()).hexdigest()[:20]}.cubin"
    kept = read_sealed(path)
    if kept is not None:
        return lambda: kept

    def compiled() -> bytes:
        if loader.compiler is None:
            made = compile_program(source, macros, arch)
        else:
            made = loader.compile(program_text(source, macros), arch)
        write_sealed(path, made)
        return made

    return _compilers().submit(compiled).result


def _passed(argument: np.generic | HostArray | OnDevice) -> np.generic | HostArray:
    """An argument as a launch takes it: an array on the device, of any library, becomes its address; NumPy's numbers
    and structs (`solvers.structs`), which have the types that the kernel wants, stay as they are."""
    if isinstance(argument, (np.generic, np.ndarray)):
        return argument
    return np.uint64(address(argument))
