"""What becomes of errors where sources give more for a higher temperature.

Errors δ are carried on as small differences of temperatures are, with λ = (∂q/∂T)/ρc,

    ∂δ/∂t = λ δ + diffusion

An error made at a time t may grow by exp(λ τ) in the time τ that is left, less what diffusion takes out of it: by
exp(μ τ), μ being the largest eigenvalue of the right side. Nor does it grow for ever. Where nothing but T itself moves
the temperatures, their rate of change obeys the same equation: an error that is a shift in time stays one, and grows by
no more than |∂T/∂t| does, the largest that it is anywhere over what it is where the error is made. So

    growth ≤ min(exp(min(λ, μ) τ), max |∂T/∂t| / |∂T/∂t|)

That matters for fronts that run into a state which is unstable, such as those of ∂T/∂t = D ∂²T/∂x² + r T (1 - T): far
ahead of one temperatures differ from that state by less than any tolerance, and yet what they are there decides when
the front arrives (pulled fronts: van Saarloos, Front propagation into unstable states, Physics Reports 386, 2003,
section 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.heat.adi.adi import AdiSteps
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.operator import Operator, block_for
from simsuite.solvers.heat.time_scales.growth_bounds import fastest_growth

# the number of steps in which errors are followed between two looks, for each growth by e, and at most
PARTS, MOST_PARTS = 3.0, 64
_SMALL = 1e-4  # share of the range by which temperatures are varied to see how sources respond
_MORE = 1e3  # the least such variation, in units of rounding in temperatures
_ITERATIONS = 4  # the number of power iterations, each for a time 1/λ
_SMOOTHED = 0.5  # For so many times 1/λ diffusion acts on errors before it is seen how large they are.
# the most e-fold growth that is computed: more than any error may have, and e to it is still a number in float32
_MOST = 80.0


class ErrorGrowth:
    """Follows errors on a device. Fields are views of (ny, nx). Those that are given as `spare` are overwritten.

    largest: the function for the largest absolute value of a field. kinking: whether a source kinks at a temperature.
    The sources' tables must be filled for row 0; the sources that were computed last are overwritten."""

    def __init__(
        self,
        made: Discretisation,
        backend: Backend,
        operator: Operator,
        adi: AdiSteps,
        largest: Callable[[Any], float],
        dtype: Any,
        kinking: bool = False,
    ) -> None:
        self._kinking = kinking
        self._made, self._operator, self._adi, self._largest = made, operator, adi, largest
        self._real = np.dtype(dtype).type
        self._eps = float(np.finfo(dtype).eps)
        k = backend.kernels(__name__)
        plate = (made.nx, made.ny), block_for(made)
        self._grow, self._shift, self._slope = (backend.launcher(f, *plate) for f in (k.grow, k.shift, k.slope))
        self._multiply, self._weigh = (backend.launcher(f, *plate) for f in (k.multiply, k.weigh))
        self._add = backend.launcher(backend.kernels("simsuite.solvers.heat.adi.adi").ahead, *plate)

    def follow(self, E: Any, T: Any, t: float, since: float, span: tuple[float, float], spare: Sequence[Any]) -> None:
        """Queue the effect of diffusion and sources on errors E in a time `since`, up to time t, s.

        T: temperatures by then. span: the least and the largest temperature so far, K. spare: two fields."""
        fastest = fastest_growth(self._made.whole, t, *span)
        parts = 1 + int(min(MOST_PARTS - 1, PARTS * fastest * since))
        for _ in range(parts):  # each of these steps divides a mode of eigenvalue κ by 1 + κ·since/parts
            self._adi.smooth(E, T, 0, 2.0 * since / parts)
            self._feed(E, T, since / parts, span, spare)

    def _feed(self, E: Any, T: Any, since: float, span: tuple[float, float], spare: Sequence[Any]) -> None:
        """Queue the effect of sources on the errors E in a time `since`: that time multiplied by the change of the
        sources that errors cause. This change is computed for a part or a multiple of the errors that is _SMALL of the
        range of temperatures. It is the central difference: by a difference to one side, errors below 0 would seem to
        grow where a source such as -T² cools cells that are much colder than others.

        Where a source kinks, it is computed for the errors themselves if they are more than rounding: where
        temperatures rest just below the kink, larger ones would pass it and seem to grow for ever."""
        q1, moved = spare
        sources, real = self._operator.sources, self._real
        largest = self._largest(E)
        by = _SMALL * (span[1] - span[0])
        if self._kinking:
            by = max(largest, _MORE * self._eps * max(map(abs, span)))
        part = by / largest if largest > 0 else 0.0
        if not (math.isfinite(part) and part > 0):
            return
        other = 0.0 if self._kinking else -part
        self._add(T, E, real(part), moved)
        sources.refresh(moved, 0)
        self._add(sources.q, E, real(0), q1)
        self._add(T, E, real(other), moved)
        sources.refresh(moved, 0)
        self._grow(E, q1, sources.q, self._operator.c, real(since / (part - other)))

    def rate(self, T: Any, t: float, span: tuple[float, float], spare: Sequence[Any]) -> float:
        """About the largest μ, 1/s, at temperatures T, by power iteration; 0 where it is negative. spare: two
        fields."""
        if fastest_growth(self._made.whole, t, *span) == 0.0:
            return 0.0
        rates, V = spare
        self._slopes(T, span, rates, V)
        most = self._largest(rates)
        if not (0 < most < math.inf):
            return 0.0
        self._add(rates, rates, self._real(0), V)
        before = after = 0.0
        for i in range(_ITERATIONS):  # each of these iterations multiplies a mode by (1 + λ/most) / (1 + κ/most)
            self._multiply(V, rates, self._real(1.0 / most))
            self._adi.smooth(V, T, 0, 2.0 / most)
            if i >= _ITERATIONS - 2:
                before, after = after, self._largest(V)
        return 2.0 * most * max(0.0, 1.0 - before / after) if after > 0 else 0.0

    def grown(
        self,
        error: Any,
        T: Any,
        before: Any,
        span: tuple[float, float],
        rate: float,
        left: float,
        noise: float,
        spare: Sequence[Any],
    ) -> float:
        """The largest error, K, that the errors of one step may grow to in the time that is left, s. Errors where λ is
        not positive do not count.

        T, before: temperatures after the step and before it, K. rate: μ, 1/s. spare: two fields."""
        rates, W = spare
        real = self._real
        self._add(T, before, real(-1), W)
        fastest = self._largest(W)
        self._slopes(T, span, rates, W)
        most = self._largest(rates)
        self._add(error, error, real(0), W)
        self._adi.smooth(W, T, 0, 2.0 * min(_SMOOTHED / most, left) if most > 0 else 0.0)
        numbers = map(real, (rate, left, fastest, noise, 0.0, 1.0, _MOST))
        self._weigh(W, error, T, before, rates, *numbers)
        return self._largest(W)

    def _slopes(self, T: Any, span: tuple[float, float], rates: Any, moved: Any) -> None:
        """Queue λ, 1/s, where it is positive, and 0 elsewhere."""
        sources, real = self._operator.sources, self._real
        by = max(_SMALL * (span[1] - span[0]), _MORE * self._eps * max(map(abs, span)))
        self._shift(T, real(by), moved)
        sources.refresh(moved, 0)
        self._add(sources.q, T, real(0), rates)
        self._shift(T, real(-by), moved)
        sources.refresh(moved, 0)
        self._slope(rates, sources.q, self._operator.c, real(0.5 / by), real(0))
