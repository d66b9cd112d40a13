"""How far states found by modes are off.

A = W (M + E) W^-1 with the coupling E (see `spectral.decompose`), and A^k is taken as W M^k W^-1. The difference is, to
first order, W (E o G) W^-1 with G_ij = (l_i^k - l_j^k)/(l_i - l_j), and so is that of 1 + A + .. + A^(k-1) with these
sums instead of powers: N. J. Higham, Functions of Matrices (2008), theorem 3.11. So the error of the decomposition is
known for the very state, not only bounded; it stops growing with k where eigenvalues are apart. In continuous time the
same holds of A dt, its eigenvalues z, and exp(k z) and (exp(k z) - 1)/z instead of powers and sums. To that come

- what E may yet do to eigenvalues, to second order in it: k times that;
- rounding of coordinates and their factors, and of the product with W, by half the root of n.

All of it is relative to the norm of the whole state, as it is and in the scaling that balances A. The result is twice
the largest at any frame looked at. tests/test_spectral.py has it beside errors that are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.solvers.linear.spectral.decompose import Modes

FRAMES = 12  # that are looked at, of more: the first and last ones and some between
SAFETY = 2.0
_CLOSE = 1e-6  # times 1/k: eigenvalues so close to each other are as good as equal
_TOGETHER = 256  # rows at a time
_NEAR = 1e-4  # times 1/k: eigenvalues so close to 1 are as good as 1


@dataclass(frozen=True)
class Loss:
    """error: about what the state is off by at the worst frame, relative to its norm; inf where modes overflow.
    overflow: the step at about which the state does, if it does."""

    error: float
    overflow: int | None = None


def loss(
    modes: Modes, start: np.ndarray, inputs: np.ndarray, frames: Sequence[int], dtype: Any, dt: float | None = None
) -> Loss:
    """start (n, p): coordinates of some states; inputs (n,): of what inputs add a step. dtype: of the run. dt: of a
    step in continuous time, as `rates` takes it."""
    with np.errstate(all="ignore"):
        run = _Run(modes, start, inputs, np.dtype(dtype), dt)
        worst, before = 0.0, 0
        for k in _some(frames):
            if run.state_overflows(k):
                return Loss(math.inf, run.overflow(before, k))
            worst, before = max(worst, run.error(k)), k
    return Loss(SAFETY * worst)


def _some(frames: Sequence[int]) -> list[int]:
    """Steps of frames, without 0."""
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
            # The difference keeps what is left of eigenvalues that are 1 but for their rest; so do their logarithms.
            self._off = (modes.values - 1) + modes.rest
            self._logs, self._less, self._sizes = _logarithms(self._values, self._off), 1, np.abs(self._values)
        else:
            self._off = self._logs = self._values
            self._less, self._sizes = 0, np.ones(len(self._values))
        self._columns = modes.columns, modes.scale[:, None] * modes.columns
        self._squares = [np.sum(np.square(columns), axis=0) for columns in self._columns]

    def _powers(self, k: int) -> list[np.ndarray]:
        """l^k, and the sums."""
        near = np.abs(self._off) * k < 1e-12
        sums = np.expm1(k * self._logs) / np.where(near, 1.0, self._off)
        return [np.exp(k * self._logs), np.where(near, k, sums)]

    def _slopes(self, k: int, S: np.ndarray) -> list[np.ndarray]:
        """How both change with l. S: the sums."""
        slope, off = k * np.exp((k - self._less) * self._logs), self._off
        near = np.abs(off) * k < _NEAR
        return [slope, np.where(near, 0.5 * k * (k - self._less), (slope - S) / np.where(near, 1.0, off))]

    def _added(self, factors: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """What modes come to by such factors of states and inputs, and the sizes of what is added there. What is not
        there does not overflow."""
        parts = [np.where(c == 0, 0.0, factor[:, None] * c) for factor, c in zip(factors, self._parts)]
        return parts[0] + parts[1], np.abs(parts[0]) + np.abs(parts[1])

    def state_overflows(self, k: int) -> bool:
        coordinates, _ = self._added(self._powers(k))
        return not np.max(np.abs(self._columns[1] @ self._modes.real_coordinates(coordinates))) <= self._largest

    def overflow(self, before: int, k: int) -> int:
        """The step at which it does, between one at which it does not and one at which it does."""
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
        """Of each state, in both scalings."""
        z = self._modes.real_coordinates(coordinates)
        return np.array([np.linalg.norm(columns @ z, axis=0) for columns in self._columns])

    def _spread(self, errors: np.ndarray) -> np.ndarray:
        """The norms of what errors of coordinates, of random signs, make of states."""
        return np.sqrt([2 * (squares @ np.square(errors)) for squares in self._squares])

    def _missing(self, k: int, at: list[np.ndarray], slopes: list[np.ndarray]) -> np.ndarray:
        """Complex coordinates (n, p) of what the coupling adds. at: what `_powers` gives; slopes: how it changes."""
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
    """Of eigenvalues, which are 1 + from_one."""
    logs = np.log(np.where(values == 0, 1e-300, values))
    x, y = from_one.real, from_one.imag
    near = 0.5 * np.log1p(x * (2 + x) + y * y) + 1j * logs.imag
    return np.where(np.abs(from_one) < 0.5, near, logs)
