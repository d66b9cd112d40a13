"""The limits of the device, as measured: how fast it copies, and how fast it multiplies and adds.

A kernel that takes one step a pass over memory cannot beat the copy rate; no kernel can beat the rate of arithmetic
instructions. Both are measured with the means that simsuite itself uses, so they are what a program can reach, not what
a data sheet promises; of several measurements the fastest counts, as a limit is what is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from simsuite.bench.timing import Patience, seconds
from simsuite.core import Backend

ROUNDS = 8
COPIED = 1 << 29  # So many bytes are copied, unless memory is short: more than any cache holds.
SHARE = 8  # A copy may take one part in so many of the free memory.
THREADS = (256,)


@dataclass(frozen=True)
class Machine:
    """The measured limits. copy: bytes a second, read plus written. fma: fused multiply-adds a second, by precision.
    write: bytes a second where nothing is read; 0 where that is not measured.
    """

    copy: float
    fma: Mapping[str, float]
    write: float = 0.0


def measure_machine(backend: Backend, precisions: Sequence[str], patience: Patience) -> Machine:
    """The limits of the device; measuring takes a few times the seconds of `patience`."""
    copy = copy_rate(backend, _copied(backend), patience)
    return Machine(copy, {p: fma_rate(backend, p, patience) for p in precisions})


def _copied(backend: Backend) -> int:
    return min(COPIED, backend.memory_free() // SHARE)


def write_rate(backend: Backend, patience: Patience) -> float:
    """The bytes a second of filling an array. Kernels that only store may exceed the copy rate up to this, since memory
    does not switch between reading and writing.
    """
    target = backend.zeros(_copied(backend) // 8, np.float64)
    view = backend.view(target)
    launch = backend.launcher(_kernels(backend).fill, (target.size,), THREADS)

    def work(n: int) -> None:
        for _ in range(n):
            launch(view, 1.0)

    nbytes: int = 8 * target.size
    return nbytes / seconds(backend, work, patience, pick=min)[0]


def copy_rate(backend: Backend, nbytes: int, patience: Patience) -> float:
    """The bytes a second, read plus written, of copying one array to another: by the device's own copy, which on a CPU
    uses one core, or by a kernel, whichever is faster.
    """
    numbers = nbytes // 8
    source = backend.array(np.ones(numbers))
    target: Any = backend.zeros(numbers, np.float64)
    views = backend.view(source), backend.view(target)
    launch = backend.launcher(_kernels(backend).copy, (numbers,), THREADS)

    def took(copy: Callable[[], None]) -> float:
        def work(n: int) -> None:
            for _ in range(n):
                copy()

        return seconds(backend, work, patience, pick=min)[0]

    return 2 * 8 * numbers / min(took(lambda: backend.copy(source, target)), took(lambda: launch(*views)))


def fma_rate(backend: Backend, precision: str, patience: Patience) -> float:
    """The fused multiply-adds a second of independent chains. Raises AssertionError if their result is wrong."""
    real = np.dtype(precision).type
    kernels = _kernels(backend)
    out = backend.array(np.zeros(kernels.ELEMENTS, precision))
    view = backend.view(out)
    launch = backend.launcher(kernels.chains, (kernels.ELEMENTS,), THREADS)

    def work(n: int) -> None:
        for _ in range(n):
            launch(view, real(0.5), real(1.0), ROUNDS)

    per_launch: int = kernels.ELEMENTS * ROUNDS * kernels.PER_ROUND
    found = per_launch / seconds(backend, work, patience, pick=min)[0]
    assert np.all(backend.to_host(out) == kernels.LIMIT), "x ← x/2 + 1 has not come to its limit"
    return found


def _kernels(backend: Backend) -> ModuleType:
    return backend.kernels(__name__)
