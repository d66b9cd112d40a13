"""What every loader can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from simsuite.core import HostArray

if TYPE_CHECKING:
    from cupy.cuda import Stream

LOADERS = ("cupy", "cuda-core", "pycuda")  # the first is taken for "auto": its launches cost the host the least

Passed: TypeAlias = "np.generic | HostArray"
"""An argument of a kernel: a number, an address as uint64, or a struct as an array without dimensions."""
Launch: TypeAlias = Callable[[list[Passed]], None]


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched. grid: blocks along x, y and z. threads: of a block. shared_bytes: of dynamic shared
    memory. waits_for: "blocks" if all blocks must run at once, "launches" if the kernel may begin before the launch
    before it has ended (see `core.Program`)."""

    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    waits_for: str


class Loaded(Protocol):
    """A program in a device's memory."""

    def launcher(self, kernel: str, shape: Shape) -> Launch:
        """A function that launches a kernel with the given arguments. Both raise what the library raises."""


class Loader(Protocol):
    """name: as `run.loader` has it. stream: in which its kernels are launched, as CuPy represents it. compiler: the
    library's own, with its version; None if NVRTC compiles. notes: sentences on what it does by other means than its
    library."""

    name: str
    stream: Stream
    compiler: str | None
    notes: Sequence[str]

    def compile(self, text: str, arch: str) -> bytes:
        """Machine code for an architecture such as "sm_90", by `compiler`."""

    def load(self, code: bytes) -> Loaded: ...
