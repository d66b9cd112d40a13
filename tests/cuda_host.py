"""CUDA C++ kernels on the CPU: compiled by the host's C++ compiler, CUDA threads as fibers (`cuda_host.h`).

Slow, for tiny grids, but every line of a kernel runs, with barriers, shuffles and shared memory. Products and sums are
rounded each, where a GPU fuses them, as in the kernels for the CPU: so results of both are the same bits.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
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
DEVICE_ONLY = ("copies.cuh", "exchange.cuh")  # the header has its own
COMPILER = shutil.which("c++") or shutil.which("g++")
LAUNCH = """
extern "C" void launch(int blocks, int threads, int together, void** a) {
  run_grid(blocks, threads, together, [=] { %s(%s); });
}
"""


@functools.cache
def compiled(source: Path, macros: tuple[tuple[str, str | int], ...], kernel: str) -> ctypes.CDLL:
    """The library of one kernel with its macros."""
    text = whole_text(source)
    for name in DEVICE_ONLY:
        text = text.replace(whole_text(source.with_name(name)), "")
    parameters = re.search(rf"\n{kernel}\((.*?)\) \{{", text, re.DOTALL)
    assert parameters is not None
    types = [p.rpartition(" ")[0].replace("__restrict__", "") for p in map(str.strip, parameters[1].split(","))]
    arguments = ", ".join(f"*({t}*)a[{i}]" for i, t in enumerate(types))
    whole = f"{HEADER.read_text()}\n{text}\n{LAUNCH % (kernel, arguments)}"
    directory = Path(tempfile.gettempdir()) / "simsuite-cuda-on-host"
    directory.mkdir(exist_ok=True)
    definitions = [f"-D{name}={value}" for name, value in macros]
    name = hashlib.sha256(f"{whole} {definitions}".encode()).hexdigest()[:20]
    library = directory / f"{name}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=directory) as place:
            code = Path(place) / "kernel.cpp"
            code.write_text(whole)
            options = ["-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", "-w"]
            subprocess.run([COMPILER, *options, *definitions, str(code), "-o", f"{place}/it.so"], check=True)
            Path(place, "it.so").replace(library)
    return ctypes.CDLL(str(library))


class HostProgram:
    """Stands in for `backends.program.CudaProgram`."""

    def __init__(self, source: Path, macros: Mapping[str, str | int]) -> None:
        self._source, self._macros = source, tuple(macros.items())

    def launcher(
        self, kernel: str, blocks: int, threads: int, shared_bytes: int = 0, cooperative: bool = False
    ) -> Callable[..., None]:
        together = blocks if cooperative else 1

        def launch(*arguments: Any) -> None:
            passed = [np.asarray(a) if isinstance(a, np.generic) else np.uint64(a.ctypes.data) for a in arguments]
            kept = [np.array(a) for a in passed]
            pointers = (ctypes.c_void_p * len(kept))(*(a.ctypes.data for a in kept))
            compiled(self._source, self._macros, kernel).launch(blocks, threads, together, pointers)

        return launch


class HostCuda(CpuBackend):
    """The CPU backend, with programs. `answer`: which of the candidates is to be the fastest; `candidates`: how many
    there were when it was last asked."""

    compiles = True
    processors = 16
    answer = candidates = 0

    def program(self, source: Path, macros: Mapping[str, str | int]) -> HostProgram:
        return HostProgram(source, macros)

    def fastest(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        self.candidates = len(trials)
        return self.answer


@pytest.fixture
def host_cuda() -> HostCuda:
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    return HostCuda()
