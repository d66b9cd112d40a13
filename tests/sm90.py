"""Compiling Numba CUDA kernels for an H100/H200 on a machine without a GPU: what a test can know about them there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Hashable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

Name = TypeVar("Name", bound=Hashable)


def compile_sm90(kernel, signature):
    """(ptx, info) of a `cuda.jit` dispatcher or Python function for the argument types in `signature`.

    info: registers per thread, spill_bytes (stores and loads), stack_bytes (local memory), shared_bytes.
    """
    from cuda.core import Linker, LinkerOptions, ObjectCode

    from simsuite.backends.numba_cuda import import_numba_cuda

    cuda = import_numba_cuda()
    function = getattr(kernel, "py_func", kernel)
    device = SimpleNamespace(compute_capability=(9, 0))
    with patch("numba.cuda.dispatcher.get_current_device", lambda: device):
        code, _ = cuda.compile(function, signature, cc=(9, 0), device=False, abi="numba", output="ltoir")

    def link(target, **options):
        linker = Linker(
            ObjectCode.from_ltoir(code),
            options=LinkerOptions(arch="sm_90", link_time_optimization=True, **options),
        )
        return linker.link(target).code, linker.get_info_log()

    ptx, _ = link("ptx", ptx=True)
    _, log = link("cubin", ptxas_options="-v")

    def total(pattern):
        return sum(int(number) for number in re.findall(pattern, log))

    info = {
        "registers": max(int(number) for number in re.findall(r"Used (\d+) registers", log)),
        "spill_bytes": total(r"(\d+) bytes spill (?:stores|loads)"),
        "stack_bytes": total(r"(\d+) bytes stack frame"),
        "shared_bytes": total(r"(\d+) bytes smem"),
    }
    return ptx.decode(), info


def passed(contract: Any, **fields: Any) -> Any:
    """The type of a group of arguments as kernels take it, from those of its fields."""
    from numba import types

    return types.Tuple(tuple(contract(**fields)))


def ptx_of(text: str) -> str:
    """PTX of CUDA C++ for compute capability 9.0, compiled as `backends.program` does."""
    from cuda.bindings import nvrtc

    def checked(status, *rest):
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
        return rest[0] if rest else None

    program = checked(*nvrtc.nvrtcCreateProgram(text.encode(), b"program", 0, [], []))
    options = [b"-arch=compute_90", b"-std=c++17", b"-fmad=false", b"-ftz=false"]
    checked(*nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * checked(*nvrtc.nvrtcGetPTXSize(program))
    checked(*nvrtc.nvrtcGetPTX(program, ptx))
    return ptx.decode()


def few(programs: Mapping[Name, tuple[Path, Mapping[Any, Any]]], together: int = 2) -> list[Name]:
    """Names of some of these sources with macros: enough for every two values of macros that ever meet to do so, or
    for as many as are said to."""
    meeting = {
        name: set(itertools.combinations([("", source), *macros.items()], together))
        for name, (source, macros) in programs.items()
    }
    missing, found = set().union(*meeting.values()), []
    while missing:
        found.append(max(meeting, key=lambda name: len(meeting[name] & missing)))
        missing -= meeting[found[-1]]
    return found


def others_long(names: Iterable[Any], some: Container[Any], several: bool = False) -> list[Any]:
    """As parameters of a test, of which `make long` takes all and `make test` some. several: each of them is a tuple of
    as many arguments."""
    return [
        name if name in some else pytest.param(*(name if several else (name,)), marks=pytest.mark.long)
        for name in names
    ]
