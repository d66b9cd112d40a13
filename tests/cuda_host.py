"""CUDA C++ kernels on the CPU: compiled by the host's C++ compiler, CUDA threads as fibers (`cuda_host.h`, `.cpp`).

Slow, for tiny grids, but every line of a kernel runs, with barriers, shuffles and shared memory. Products and sums are
rounded each, where a GPU fuses them, as in the kernels for the CPU: so results of both are the same bits.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import whole_text

HEADER = Path(__file__).with_name("cuda_host.h")
SOLVERS = Path(__file__).parents[1] / "simsuite" / "solvers"
# Files in whose place the header has code of its own.
DEVICE_ONLY = ("copies.cuh", "exchange.cuh", "overlap.cuh", "block_messages.cuh", "special.cuh", "tensor_cores.cuh")
COMPILER = shutil.which("c++") or shutil.which("g++")
# Distributions whose compilers set _FORTIFY_SOURCE, such as Ubuntu, end a program whose longjmp goes to another stack,
# as the threads of a block here do.
OPTIONS = ["-std=c++17", "-O1", "-U_FORTIFY_SOURCE", "-ffp-contract=off", "-fPIC", "-pthread", "-w"]
KERNEL = re.compile(r"__global__[^\n]*\n(\w+)\((.*?)\) \{", re.DOTALL)
LAUNCH = """
extern "C" void launch_%s(int blocks, int row, int layer, int threads, int together, void** a) {
  run_grid(blocks, row, layer, threads, together, [](void** a) { %s(%s); }, a);
}
"""


def built(name: str, text: str, *options: object) -> Path:
    """What the compiler makes of a program, kept under all that it is made of."""
    directory = Path(tempfile.gettempdir()) / "simsuite-cuda-on-host"
    directory.mkdir(exist_ok=True)
    made = directory / f"{hashlib.sha256(f'{text} {OPTIONS} {options}'.encode()).hexdigest()[:20]}.{name}"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=directory) as place:
            code = Path(place) / "code.cpp"
            code.write_text(text)
            command = [COMPILER, *OPTIONS, *map(str, options), str(code), "-o", f"{place}/{name}"]
            subprocess.run(command, check=True)
            Path(place, name).replace(made)
    return made


@functools.cache
def header() -> Path:
    """The header, beside what the compiler makes of it once: to read it takes as long as most kernels."""
    made = built("h.gch", HEADER.read_text(), "-x", "c++-header")
    place = made.with_suffix("")
    if not place.exists():
        shutil.copy(HEADER, made.with_suffix(f".{os.getpid()}")).replace(place)
    return place


@functools.cache
def start() -> Path:
    """What starts the threads of all kernels."""
    text = HEADER.with_suffix(".cpp").read_text().replace('#include "cuda_host.h"', HEADER.read_text())
    return built("start.o", text, "-c")


def launch_of(kernel: str, parameters: str) -> str:
    """The function that starts a kernel with arguments at the places in an array."""
    plain = parameters.replace(" POINTS", "")  # what programs for paths take of Sobol points
    types = [
        p.rpartition(" ")[0].replace("__restrict__", "").replace("__grid_constant__", "")
        for p in map(str.strip, plain.split(","))
    ]
    return LAUNCH % (kernel, kernel, ", ".join(f"*({t}*)a[{i}]" for i, t in enumerate(types)))


@functools.cache
def compiled(source: Path, macros: tuple[tuple[str, str | int], ...]) -> ctypes.CDLL:
    """The library of all kernels of a program with its macros: the compiler reads them all for any."""
    text = whole_text(source)
    for path in (path for name in DEVICE_ONLY for path in SOLVERS.rglob(name)):
        text = text.replace(whole_text(path), "")
    definitions = "\n".join(f"#define {name} {value}" for name, value in macros)
    launches = "".join(launch_of(*found) for found in KERNEL.findall(text))
    own = "-Wl,-Bsymbolic"  # libc has an `advance` too
    whole = f"{definitions}\n{text}\n{launches}"
    return ctypes.CDLL(str(built("program.so", whole, "-include", header(), start(), "-shared", own)))


def is_by_value(argument: Any) -> bool:
    """Whether a kernel takes a number or a struct, or else the address of an array."""
    return isinstance(argument, np.generic) or argument.dtype.names is not None


class HostProgram:
    """Stands in for `backends.program.CudaProgram`."""

    def __init__(self, source: Path, macros: Mapping[str, str | int]) -> None:
        self._source, self._macros = source, tuple(macros.items())

    def launcher(
        self,
        kernel: str,
        blocks: int | tuple[int, ...],
        threads: int,
        shared_bytes: int = 0,
        waits_for: str = "",
    ) -> Callable[..., None]:
        function = f"launch_{kernel}"
        columns, rows, layers = (*((blocks,) if isinstance(blocks, int) else blocks), 1, 1)[:3]
        together = columns if waits_for == "blocks" else 1

        def launch(*arguments: Any) -> None:
            kept = [np.array(a if is_by_value(a) else np.uint64(a.ctypes.data)) for a in arguments]
            pointers = (ctypes.c_void_p * len(kept))(*(a.ctypes.data for a in kept))
            for row, layer in itertools.product(range(rows), range(layers)):
                library = compiled(self._source, self._macros)
                getattr(library, function)(columns, row, layer, threads, together, pointers)

        return launch


class HostCuda(CpuBackend):
    """The CPU backend, with programs. `answer`: which of the candidates is to be the fastest; `candidates`: how many
    there were when it was last asked, and `question`: for what."""

    compiles = True
    processors = 16
    block_memory = 227 << 10
    answer = candidates = 0
    question = ""

    def program(self, source: Path, macros: Mapping[str, str | int]) -> HostProgram:
        return HostProgram(source, macros)

    def fastest(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        self.candidates, self.question = len(trials), question
        return self.answer


@pytest.fixture
def host_cuda() -> HostCuda:
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    return HostCuda()
