"""The cost of modes, beside that of powers and steps: counted, and timed where the count is in favour of modes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eig

from simsuite.core import Backend
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.matmul.product import product

OPERATIONS = 65  # A decomposition takes so many times n^3 operations: 25 for the eigenvectors, 40 for their residual.
LITTLE = 10**7  # A decomposition of up to so many operations on the host is not timed.
_TRIAL = 10**6  # Products with so many multiplications together are timed.
_TRIED = 192  # The eigenvectors of a matrix of so many rows are timed.


@dataclass(frozen=True)
class Pace:
    """The pace of a machine, in seconds: of a product with the states on the device, and of an operation with modes on
    the host.
    """

    product: float
    operation: float

    def modes(self, jumps: Jumps) -> float:
        """The seconds that a run by modes takes."""
        return OPERATIONS * jumps.n**3 * self.operation + jumps.frames * self.product

    def columns(self, jumps: Jumps, columns: float) -> float:
        """The seconds that so many products with a column take, in the unit of `Jumps.columns`."""
        return columns / jumps.wide * self.product


def columns_of_modes(jumps: Jumps) -> float:
    """The cost of modes in the unit of `Jumps.columns`, if the host is as fast as the device."""
    return OPERATIONS * jumps.n / 2 + jumps.frames * jumps.wide


def gain_by_modes(jumps: Jumps, others: float, timed: Callable[[], Pace | None]) -> float:
    """How many times less work modes are than `others`, which is in the unit of `Jumps.columns`: as counted and, if
    that is at least 1, as timed, whichever is less. timed: gives the pace, or None where there is no device to time.
    """
    gain = others / columns_of_modes(jumps)
    pace = timed() if gain >= 1 and OPERATIONS * jumps.n**3 > LITTLE else None
    return gain if pace is None else min(gain, pace.columns(jumps, others) / pace.modes(jumps))


def pace(backend: Backend, jumps: Jumps, dtype: Any, kernel: str) -> Pace:
    """The pace of the device and of this host, timed now. kernel: as `product` takes it."""
    n, m = jumps.n, jumps.m
    A, X, out, no_bias = (backend.zeros(shape, dtype) for shape in ((n, n), (n, m), (n, m), (1, n)))
    multiply, used = product(backend, A, m, kernel, biased=False)
    views = [backend.view(a) for a in (X, no_bias, out)]

    often = max(_TRIAL // (n * n * m), 1)

    def trial() -> None:
        for _ in range(often):
            multiply(views[0], views[1], 0, 0, 1, views[2])

    (seconds,) = backend.times(f"{often} products of {n} x {n} and {m} columns in {np.dtype(dtype)} ({used})", [trial])
    return Pace(seconds / often, _seconds_of_modes() / (25 * _TRIED**3))


def _seconds_of_modes() -> float:
    A = np.random.default_rng(1).standard_normal((_TRIED, _TRIED))
    found = []
    for _ in range(2):
        begun = time.perf_counter()
        eig(A)
        found.append(time.perf_counter() - begun)
    return min(found)
