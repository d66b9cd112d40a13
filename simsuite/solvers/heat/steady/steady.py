"""The steady state, found at once: the temperatures at which as much heat leaves every cell as comes in.

    F(T) = 0 in all cells that are not held (F: see `balance`)

This is solved by Newton's method, A δ = F, T ← T + s δ, with A = -∂F/∂T and the largest s = 1, ½, ¼, .. that makes F
smaller. In linear problems the first step leads to the solution and others take its rounding errors away. A δ = F is
solved

- by fast diagonalisation where the axes separate (see `separation`; R. E. Lynch, J. R. Rice, D. H. Thomas, Direct
  solution of partial difference equations by tensor product methods, Numerische Mathematik 6 (1964) 185-199),
- on grids of up to DIRECT cells by elimination,
- on larger ones by conjugate gradients, or BiCGSTAB where A is not symmetric, preconditioned by `multigrid`.

Where Newton's method does not converge, as with conductivities that vanish at some temperature, iterations with the
present values of conductivities and sources (Picard) come closer to the solution first. The solution has order 2 in
space; in the end F is at most TOLERANCE of the largest flux."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from simsuite.errors import NumericalFailure
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.exact.separation import obstacle, separate
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.steady.balance import Balance
from simsuite.solvers.heat.steady.inverses import Diagonal, Direct, Inverse, Iterative, Solve
from simsuite.solvers.heat.steady.no_steady_state import help_without_steady_state

TOLERANCE = 1e-10  # the largest F that is left, relative to the largest flux
DIRECT = 500_000  # the most cells for which the matrix is factorised
_NEWTON, _PICARD = 60, 30  # the most iterations of an attempt by Newton's method and by Picard's
_SHORTEST = 1.0 / 1024.0  # the least part of a step that is tried
# relative rounding of temperatures; a flux that it causes cannot be told from a wrong balance
_ROUNDING = 16 * 2.0**-52
_UNBALANCED = 1e-6  # share of all heat: more than rounding makes its balance be off
_LOOKS, _FEW = 400, 6  # temperatures at each side of the mean that are looked at; the most that are tried


@dataclass(frozen=True, eq=False)
class SteadySolution:
    """T: (ny, nx), float64. residual: the largest |F| in a cell, relative to the largest flux through a face or from a
    source; or, if that is more, to the smallest flux that has ten digits in double precision. iterations: the number of
    steps, or of iterations of the iterative solver if there is one. method: in words."""

    T: np.ndarray
    residual: float
    iterations: int
    method: str


def solve_steady(made: Discretisation, scenario: HeatScenario) -> SteadySolution:
    """The steady state of a problem in which nothing depends on time.

    Raises NumericalFailure if it is not found, or is not determined.
    """
    linear = not made.nonlinear
    inverse: Inverse
    if linear and obstacle(scenario, made) is None:
        inverse = Diagonal(separate(made))
    else:
        symmetric = made.law is None and not any(f.depends_on("T") for f in made.sources)
        inverse = Direct(symmetric) if made.held.size <= DIRECT else Iterative(symmetric)
    search = _Search(made, inverse, linear)
    with np.errstate(all="ignore"):
        found = any(search.improve(T, newton) for T, newton in search.attempts())
    steps = inverse.iterations or search.steps
    if not found:
        out = f"{search.residual:.1e} of the largest flux" if math.isfinite(search.residual) else "no finite number"
        message = f"no steady state was found: after {steps} iterations the heat balance of the cells is out by {out}"
        help = help_without_steady_state(scenario, made)
        raise NumericalFailure(f"{message}; {TOLERANCE:.0e} is wanted\n  = help: {help}")
    method = inverse.name if linear else f"Newton's method with {inverse.name}"
    return SteadySolution(search.T, search.residual, steps, method)


class _Search:
    """A search for the steady state. T, residual: the best temperatures so far, and their residual. steps: how often A
    δ = F was solved."""

    def __init__(self, made: Discretisation, inverse: Inverse, linear: bool) -> None:
        self._made, self._inverse, self._linear = made, inverse, linear
        self._balance = Balance(made)
        self._solve: Solve | None = None
        self.steps = 0
        self.T, self.residual = made.T0.astype(np.float64), math.inf
        self._level_is_free = not linear and not self._balance.fixes_level(self.T)

    def attempts(self) -> Iterator[tuple[np.ndarray, bool]]:
        """(T to start from, whether by Newton's method), one after another, until one succeeds."""
        T0 = self._made.T0.astype(np.float64)
        yield T0, True
        if self._level_is_free:
            yield from ((np.full(T0.shape, level), True) for level in self._levels(T0))
        if not self._linear:
            level = np.where(self._made.held, T0, 0.5 * sum(self._made.temperatures([0.0])))
            yield level, True
            yield level, False
            yield self.T, True

    def _levels(self, T0: np.ndarray) -> list[float]:
        """Temperatures at which as much heat comes in as goes out if all cells have them, those next to T0 first."""
        gain, mean = self._balance.level_gain(), float(np.mean(T0))
        away = np.concatenate([[0.0], np.geomspace(1e-3, 1e5, _LOOKS)])
        found = []
        for side in (-1.0, 1.0):
            looks = mean + side * away
            gains = np.array([gain(level) for level in looks.tolist()])
            for i in np.flatnonzero(gains[1:] * gains[:-1] < 0.0):
                found.append(float(brentq(gain, looks[i], looks[i + 1], disp=False)))
        return sorted(found, key=lambda level: abs(level - mean))[:_FEW]

    def improve(self, T: np.ndarray, newton: bool) -> bool:
        """Iterates as long as the residual falls. Returns whether that leads to the solution."""
        F = self._flux(T)
        for _ in range(_NEWTON if newton else _PICARD):
            if not np.any(F):
                break
            step = self._step(T, F, newton)
            if step is None:
                break
            new, new_F = self._along(T, F, step) if newton else (T + step, self._flux(T + step))
            gain = _size(F) / _size(new_F) if _size(new_F) > 0 else math.inf
            if not math.isfinite(_size(new_F)) or (newton and not gain > 1.0):
                break
            T, F = new, new_F
            if self.residual <= TOLERANCE and gain < 2.0:
                break
        return self.residual <= TOLERANCE

    def _flux(self, T: np.ndarray) -> np.ndarray:
        F, largest = self._balance.flux(T)
        noise = _ROUNDING * self._balance.stiffest(T) * float(np.max(np.abs(T)))
        residual = float(np.max(np.abs(F))) / (max(largest, noise / TOLERANCE) or 1.0)
        if self._level_is_free:
            # Where temperatures have run away, F may be as small as rounding, and yet more comes in than goes out.
            total, (size, slope) = abs(self._balance.gain(T)), self._balance.exchange(T)
            if total > max(_UNBALANCED * size, _ROUNDING * slope * float(np.max(np.abs(T)))):
                residual = max(residual, total / size)
        if residual < self.residual:
            self.T, self.residual = T, residual
        return F

    def _along(self, T: np.ndarray, F: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The temperatures at the part of a step that makes F small enough, or at the last part tried, and F there."""
        part = 1.0
        while True:
            new = T + part * step
            new_F = self._flux(new)
            if _size(new_F) <= (1.0 - 1e-4 * part) * _size(F) or part <= _SHORTEST:
                return new, new_F
            part *= 0.5

    def _step(self, T: np.ndarray, F: np.ndarray, newton: bool) -> np.ndarray | None:
        """The step δ, or None if A δ = F cannot be solved."""
        self.steps += 1
        free, step = self._balance.free, np.zeros(T.shape)
        if not np.all(np.isfinite(F)):
            return None
        try:
            if self._solve is None or not self._linear:
                self._solve = self._inverse.factor(lambda n: self._balance.response(T, n), newton and not self._linear)
            step[free] = self._solve(F[free])
        except RuntimeError:  # singular
            return None
        return step if np.all(np.isfinite(step)) else None


def _size(F: np.ndarray) -> float:
    size = float(np.linalg.norm(F))
    return size if math.isfinite(size) else math.inf
