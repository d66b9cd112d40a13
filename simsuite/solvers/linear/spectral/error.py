"""An estimate of how far states found by modes are off.

A = W (M + E) W^-1 with the coupling E (see `spectral.decompose`), and A^k is taken as W M^k W^-1. The difference is, to
first order, W (E o G) W^-1 with G_ij = (l_i^k - l_j^k)/(l_i - l_j), where o multiplies entry by entry. The error of 1 +
A + .. + A^(k-1) is the same expression with these sums in place of the powers: N. J. Higham, Functions of Matrices
(2008), theorem 3.11. So the error of the decomposition is known for each state itself, not only bounded; it stops
growing with k where eigenvalues are apart. In continuous time A dt takes the place of A, z are its eigenvalues, and
exp(k z) and (exp(k z) - 1)/z take the place of powers and sums. Two more errors are added:

- what E may change of eigenvalues to second order, times k;
- rounding of coordinates and their factors, and of the product with W, by half the root of n.

All errors are relative to the norm of the whole state, both unscaled and in the scaling that balances A. The result is
twice the largest at any frame examined. tests/test_spectral.py compares it with errors that are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.solvers.linear.spectral.decompose import Modes

FRAMES = 12  # At most so many frames are examined: the first and last ones and some between.
SAFETY = 2.0
_CLOSE = 1e-6  # Eigenvalues that differ by less than this times 1/k count as equal.
_TOGETHER = 256  # So many rows are computed at a time.
_NEAR = 1e-4  # Eigenvalues that differ from 1 by less than this times 1/k count as 1.


@dataclass(frozen=True)
class Loss:
    """The error by modes. error: an estimate at the worst frame, relative to the norm of the state; inf where modes
    overflow. overflow: the step at about which the state overflows, if it does.
    """

    error: float
    overflow: int | None = None


def loss(
    modes: Modes, start: np.ndarray, inputs: np.ndarray, frames: Sequence[int], dtype: Any, dt: float | None = None
) -> Loss:
    """The loss of some states of a run. start (n, p): the coordinates of these states; inputs (n,): those of what
    inputs add a step. dtype: the precision of the run. dt: the length of a step in continuous time, as `rates` takes
    it.
    """
    with np.errstate(all="ignore"):
        run = _Run(modes, start, inputs, np.dtype(dtype), dt)
        worst, before = 0.0, 0
        for k in _some(frames):
            if run.state_overflows(k):
                return Loss(math.inf, run.overflow(before, k))
            worst, before = max(worst, run.error(k)), k
    return Loss(SAFETY * worst)


def _some(frames: Sequence[int]) -> list[int]:
    """The steps of some frames, without step 0."""
    later = frames[1:] if frames[0] == 0 else frames
    last = len(later) - 1
    places = np.concatenate([np.linspace(0, last, FRAMES - FRAMES // 2), np.geomspace(1, last + 1, FRAMES // 2) - 1])
    return [later[i] for i in sorted({round(place) for place in places})]


class _Run:
    def __init__(self, modes: Modes, start: np.ndarray, inputs: np.ndarray, dtype: Any, dt: float | None) -> None:
        self._modes, self._eps = modes, float(np.finfo(dtype).eps) / 2
        self._largest, self._smallest = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny) * 1e20
        self._parts = modes.complex_coordinates(start), modes.complex_coordinates(inputs[:, None])
        size = 1.0 if dt is None else dt
        self._values = size * modes.values + size * modes.rest
        self._coupling, self._second = size * modes.coupling, size * modes.second[:, None]
        if dt is None:
            # The difference keeps the digits of eigenvalues that are 1 but for their rest; so do their logarithms.
            self._off = (modes.values - 1) + modes.rest
            self._logs, self._less, self._sizes = _logarithms(self._values, self._off), 1, np.abs(self._values)
        else:
            self._off = self._logs = self._values
            self._less, self._sizes = 0, np.ones(len(self._values))
        self._columns = modes.columns, modes.scale[:, None] * modes.columns
        self._squares = [np.sum(np.square(columns), axis=0) for columns in self._columns]

    def _powers(self, k: int) -> list[np.ndarray]:
        """The powers l^k, and the sums 1 + l + .. + l^(k-1)."""
        near = np.abs(self._off) * k < 1e-12
        sums = np.expm1(k * self._logs) / np.where(near, 1.0, self._off)
        return [np.exp(k * self._logs), np.where(near, k, sums)]

    def _slopes(self, k: int, S: np.ndarray) -> list[np.ndarray]:
        """The derivatives of both results of `_powers` with respect to l. S: the sums."""
        slope, off = k * np.exp((k - self._less) * self._logs), self._off
        near = np.abs(off) * k < _NEAR
        return [slope, np.where(near, 0.5 * k * (k - self._less), (slope - S) / np.where(near, 1.0, off))]

    def _added(self, factors: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates of the state, as the sum of a factor times those of the start and a factor times those of
        inputs, and the sum of the moduli of both terms. Coordinates that are 0 stay 0, even where their factor
        overflows.
        """
        parts = [np.where(c == 0, 0.0, factor[:, None] * c) for factor, c in zip(factors, self._parts)]
        return parts[0] + parts[1], np.abs(parts[0]) + np.abs(parts[1])

    def state_overflows(self, k: int) -> bool:
        coordinates, _ = self._added(self._powers(k))
        return not np.max(np.abs(self._columns[1] @ self._modes.real_coordinates(coordinates))) <= self._largest

    def overflow(self, before: int, k: int) -> int:
        """The first step at which the state overflows, after `before`, at which it does not, and up to k, at which it
        does.
        """
        while k - before > 1:
            middle = (before + k) // 2
            before, k = (before, middle) if self.state_overflows(middle) else (middle, k)
        return k

    def error(self, k: int) -> float:
        at = self._powers(k)
        unit = float(np.max(self._added(at)[1]))
        if not np.all(np.isfinite(at[0])) or not unit <= self._largest:
            return math.inf
        if unit == 0.0:
            return 0.0
        slopes = [slope / unit for slope in self._slopes(k, at[1])]
        at = [factor / unit for factor in at]
        coordinates, sizes = self._added(at)
        state = self._norms(coordinates)
        second = self._second * self._added(slopes)[1]
        errors = self._norms(self._missing(k, at, slopes)) + self._spread(second) + self._spread(4 * self._eps * sizes)
        errors += 0.5 * math.sqrt(len(sizes)) * self._eps * state
        return float(np.max(np.where(state * unit > self._smallest, errors / state, 0.0)))

    def _norms(self, coordinates: np.ndarray) -> np.ndarray:
        """The norms of states with these coordinates, unscaled and scaled."""
        z = self._modes.real_coordinates(coordinates)
        return np.array([np.linalg.norm(columns @ z, axis=0) for columns in self._columns])

    def _spread(self, errors: np.ndarray) -> np.ndarray:
        """The norms of the errors of states that errors of coordinates with random signs cause."""
        return np.sqrt([2 * (squares @ np.square(errors)) for squares in self._squares])

    def _missing(self, k: int, at: list[np.ndarray], slopes: list[np.ndarray]) -> np.ndarray:
        """The complex coordinates (n, p) that the coupling adds to the state after k steps. at: the result of
        `_powers`; slopes: that of `_slopes`.
        """
        values, E = self._values, self._coupling
        found = np.zeros((len(values), self._parts[0].shape[1]), np.complex128)
        for i in range(0, len(values), _TOGETHER):
            rows = slice(i, i + _TOGETHER)
            gap = values[rows, None] - values
            close = k * np.abs(gap) <= _CLOSE * self._sizes
            gap[close] = 1.0
            for f, slope, c in zip(at, slopes, self._parts):
                if np.any(c):
                    found[rows] += (E[rows] * np.where(close, slope, (f[rows, None] - f) / gap)) @ c
        return found


def _logarithms(values: np.ndarray, from_one: np.ndarray) -> np.ndarray:
    """The logarithms of the eigenvalues `values`, which are 1 + from_one."""
    logs = np.log(np.where(values == 0, 1e-300, values))
    x, y = from_one.real, from_one.imag
    near = 0.5 * np.log1p(x * (2 + x) + y * y) + 1j * logs.imag
    return np.where(np.abs(from_one) < 0.5, near, logs)
