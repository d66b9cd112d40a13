"""CUDA C++ compiled at run time by NVRTC, specialised by macros. CuPy keeps what it compiled on disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

# Fused multiply-adds are those that the source says: so there is one way to round.
OPTIONS = ("-std=c++17", "-fmad=false")


def whole_text(source: Path) -> str:
    """A source file with the files beside it that it includes: CuPy's cache looks at the text alone."""

    def included(match: re.Match[str]) -> str:
        return whole_text(source.with_name(match[1]))

    return re.sub(r'^#include "(.+)"$', included, source.read_text(encoding="utf-8"), flags=re.MULTILINE)


class CudaProgram:
    """A source file compiled for the present device. stream: in which its kernels run."""

    def __init__(self, cupy: Any, stream: Any, source: Path, macros: Mapping[str, str | int]) -> None:
        self._stream = stream
        definitions = tuple(f"-D{name}={value}" for name, value in macros.items())
        self._module = cupy.RawModule(code=whole_text(source), options=(*OPTIONS, *definitions))

    def launcher(self, kernel: str, blocks: int, threads: int, shared_bytes: int = 0) -> Callable[..., None]:
        """`kernel` bound to a launch of so many blocks of so many threads, with dynamic shared memory."""
        function = self._module.get_function(kernel)
        if shared_bytes > 48 * 1024:
            function.max_dynamic_shared_size_bytes = shared_bytes

        def launch(*arguments: Any) -> None:
            with self._stream:
                function((blocks,), (threads,), tuple(map(_passed, arguments)), shared_mem=shared_bytes)

        return launch


def _passed(argument: Any) -> Any:
    """Arrays of any library as their addresses; numbers as they are, with the types that the kernel wants."""
    if isinstance(argument, np.generic):
        return argument
    return np.uint64(argument.__cuda_array_interface__["data"][0])
