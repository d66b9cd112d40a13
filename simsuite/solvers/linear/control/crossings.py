"""The frequencies at which the response of a loop crosses a circle, or the real axis.

Where L(i w) crosses the circle of radius r around -c, s = i w is a zero of r^2 - (c + L(-s)) (c + L(s)); where it
crosses the real axis, one of L(s) - L(-s). Both are zeros of a system that is made of L and its adjoint, and so
generalised eigenvalues of a pencil: S. Boyd, V. Balakrishnan and P. Kabamba, A bisection method for computing the
H-infinity norm of a transfer matrix and related problems, Mathematics of Control, Signals and Systems 2 (1989) 207-219.
For a discrete system 1/z stands for -s.

Rounding moves eigenvalues off the axis, so that none is trusted: each, however far from the axis, divides the
frequencies into intervals that hold a crossing at most, which the response itself shows by its signs at their ends.
Bisection (Brent's method) then finds it to all digits. So no crossing is missed, whatever else lies between two points
of any grid; what only touches the circle, or lies within rounding of it, is no crossing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import block_diag, eigvals

from simsuite.libraries import decomposing, optimize
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.control.transfer import FrequencyResponse

_BEYOND = 1e3  # Frequencies are looked at up to this factor beyond all poles, zeros and candidates.
_PER_DECADE = 20  # so many further points
_FLAT = 1e-14  # A sine of the phase that is smaller than this has no sign.
_TRUE = 1e-5  # At a crossing the function is smaller than this; at a pole, where it jumps, it is not.
_HIGHEST = 1e250  # rad/s, lest squares overflow
_DECADES = 60.0  # Between the lowest and the highest frequency there are at most so many decades.


class Crossings:
    """The crossings of a plant with a single input and output. response: that of the plant."""

    def __init__(self, plant: Plant, response: FrequencyResponse) -> None:
        self._plant, self._response = plant.balanced, response

    def of_circle(self, centre: float, radius: float) -> np.ndarray:
        """The frequencies w > 0, rad/s, increasing, at which |centre + L| passes the radius, which is positive."""

        def size(G: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log(np.abs(centre + G) / radius)

        return self._crossed(size, self._at_radius(centre, radius), 0.0)

    def of_real_axis(self) -> np.ndarray:
        """The frequencies w > 0, rad/s, increasing, at which L is real and Im L changes its sign."""

        def sine(G: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(np.isfinite(G), G.imag / np.abs(G), 0.0)

        return self._crossed(sine, self._at_axis(), _FLAT)

    def grid(self, candidates: np.ndarray) -> np.ndarray:
        """Frequencies of which two neighbours have at most one of the candidates between them."""
        plant = self._plant
        with np.errstate(all="ignore"):
            special = np.abs(np.concatenate([plant.rates(plant.poles), plant.rates(plant.zeros)]))
            turning = np.abs(np.concatenate([plant.rates(plant.poles), plant.rates(plant.zeros)]).imag)
        found = np.concatenate([candidates, special, turning])
        found = found[np.isfinite(found) & (found > 0)]
        if not plant.continuous:
            found = found[found < plant.highest]
        largest = float(np.max(found, initial=1.0 if not len(found) else 0.0))
        top = min(largest * _BEYOND, plant.highest, _HIGHEST)
        found = found[found > top * 10.0**-_DECADES]
        bottom = min(float(np.min(found, initial=top)), top) / _BEYOND
        decades = max(int(np.ceil(np.log10(top / bottom) * _PER_DECADE)), 2)
        marks = np.unique(np.concatenate([found, np.geomspace(bottom, top, decades)]))
        # The point half way, by ratio, separates two marks that are close to each other, too.
        between = np.sqrt(marks[1:]) * np.sqrt(marks[:-1])
        return np.unique(np.concatenate([[bottom], between, [top]]))

    def _crossed(self, function: Callable[[np.ndarray], np.ndarray], candidates: np.ndarray, flat: float) -> np.ndarray:
        grid = self.grid(candidates)
        values = function(self._response(grid)[:, 0, 0])
        kept = np.abs(values) > flat
        grid, values = grid[kept], values[kept]
        return np.array(list(self._roots(function, grid, values)))

    def _roots(
        self, function: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, values: np.ndarray
    ) -> Iterator[float]:
        def at(w: float) -> float:
            found = float(function(self._response(np.array([w]))[:, 0, 0])[0])
            return found if np.isfinite(found) else float(np.copysign(1e300, found))

        for k in np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])):
            low, high = float(grid[k]), float(grid[k + 1])
            if np.sign(at(low)) == np.sign(at(high)):  # a single response may be rounded otherwise than one of many
                root = min(low, high, key=lambda w: abs(at(w)))
            else:
                root = float(optimize.brentq(at, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=500))
            if abs(at(root)) < _TRUE:
                yield root

    def _at_radius(self, centre: float, radius: float) -> np.ndarray:
        """Where |centre + L| may be the radius. The unknowns are the state, that of the adjoint system, and u."""
        A, B, C, D = (M / s for M, s in zip(self._scaled(), (1.0, 1.0, radius, radius)))
        D = D + centre / radius
        n, one = len(A), np.ones((1, 1))
        if self._plant.continuous:
            M = np.block([[A, np.zeros((n, n)), B], [-C.T @ C, -A.T, -C.T @ D], [D @ C, B.T, D @ D - one]])
            return self._values(M, block_diag(np.eye(2 * n), 0.0))
        M = np.block(
            [[A, np.zeros((n, n)), B], [np.zeros((n, n)), np.eye(n), np.zeros((n, 1))], [D @ C, B.T, D @ D - one]]
        )
        N = np.block([[np.eye(n), np.zeros((n, n + 1))], [C.T @ C, A.T, C.T @ D], [np.zeros((1, 2 * n + 1))]])
        return self._values(M, N)

    def _at_axis(self) -> np.ndarray:
        """Where L may be real. The unknowns are the states at s and at -s, or at z and at 1/z, and u."""
        A, B, C, _ = self._scaled()
        n, zero = len(A), np.zeros
        if self._plant.continuous:
            M = np.block([[A, zero((n, n)), B], [zero((n, n)), -A, -B], [C, -C, zero((1, 1))]])
            return self._values(M, block_diag(np.eye(2 * n), 0.0))
        M = np.block([[A, zero((n, n)), B], [zero((n, n)), np.eye(n), zero((n, 1))], [C, -C, zero((1, 1))]])
        N = np.block([[np.eye(n), zero((n, n + 1))], [zero((n, n)), A, B], [zero((1, 2 * n + 1))]])
        return self._values(M, N)

    def _scaled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The matrices, with B and C of the same size."""
        plant = self._plant
        b, c = (float(np.max(np.abs(M), initial=0.0)) or 1.0 for M in (plant.B, plant.C))
        unit = np.sqrt(c / b)
        return plant.A, plant.B * unit, plant.C / unit, plant.D

    def _values(self, M: np.ndarray, N: np.ndarray) -> np.ndarray:
        """The frequencies of the generalised eigenvalues, and their moduli, wherever they lie."""
        if not (np.all(np.isfinite(M)) and np.all(np.isfinite(N))):
            return np.empty(0)
        with np.errstate(all="ignore"), decomposing(len(M)):
            values = np.asarray(eigvals(M, N), np.complex128)
            rates = self._plant.rates(values[np.isfinite(values) & (values != 0)])
            found = np.abs(np.concatenate([rates.imag, rates]))
        return found[np.isfinite(found) & (found > 0)]
