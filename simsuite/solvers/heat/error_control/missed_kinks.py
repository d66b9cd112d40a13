"""What a step misses of a source or a conductivity that kinks or jumps at a temperature.

A source such as max(T - 350, 0) begins to act while a step is on its way. The stages of the step do not see that if the
temperature is passed after the last one at which the source is evaluated, and neither does an estimate of the error
that is made of the stages: 3 stages of rkl2 look at the source last at 0.4 of the step. Where the slope of q(T) changes
by σ at a share φ of a step from T₀ to T₁ that is

    σ T' Δt² (1 - φ)²/2 = |q(T₀) - 2 q(T½) + q(T₁)| Δt (1 - φ)/2   if φ is more than 1/2,   T½ = (T₀ + T₁)/2

so that MISSED Δt of this second difference, over ρc, is about the largest that it may be. Where q(T) is smooth the
second difference is q'' (T₁ - T₀)²/4, of the same order in Δt as the estimate, and less. A source that jumps by J, such
as a thermostat, is off for up to 0.6 Δt without being seen; its second difference is J.

A narrow ramp about T½, over which q(T) falls from a value to 0, looks like a straight line at T₀, T½ and T₁. So three
times the second difference at T₀, T¼ and T½, T¼ = (T₀ + T½)/2, is taken from the other one, and the larger of the two
results counts: where q(T) is smooth that is the first one, of which the second one is a quarter.

For a conductivity, q stands for the heat that cells exchange at the temperatures T₁, computed with the conductivities
that belong to T₀, T½ and T₁. So only the change of the conductivity counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.changes import jumping
from simsuite.expressions.tree import Apply, Node, names_in, walk
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.operator import OPERATOR, Operator, block_for

MISSED = 0.3  # half of the share of a step for which a source that kinks may act unseen: (1 - 0.4)/2
MISSED_JUMP = 0.6  # the share of a step for which a source that jumps may act, or have stopped, unseen
_KINKING = ("abs", "min", "max")


def kinks(tree: Node) -> bool:
    """Whether a function kinks at some temperature, and jumps at none."""
    at = [node for node in walk(tree) if isinstance(node, Apply) and node.op in _KINKING and "T" in names_in(node)]
    return bool(at) and not _jumps(tree)


def _jumps(tree: Node) -> bool:
    """Whether a function may jump at temperatures."""
    return any(jumping(tree, "T"))


def missed_share(trees: Iterable[Node]) -> float:
    """The largest factor of the second difference, as a share of a step, for which functions of T may act unseen; 0
    where none of them kinks or jumps at a temperature."""
    return max((MISSED_JUMP if _jumps(tree) else MISSED if kinks(tree) else 0.0 for tree in trees), default=0.0)


def _functions(made: Discretisation) -> tuple[list[Node], list[Node]]:
    """The conductivities that depend on T, and the sources."""
    laws = [] if made.law is None else [made.law.along_x.tree, made.law.along_y.tree]
    return laws, [f.tree for f in made.sources]


class MissedKinks:
    """Adds what a step may have missed to an estimate of its error. Fields are views of (ny, nx).

    The tables of sources and edges must be filled for row 0. The sources, conductances and edge rows that were computed
    last are overwritten."""

    def __init__(self, made: Discretisation, backend: Backend, operator: Operator, dtype: Any) -> None:
        self._operator, self._real = operator, np.dtype(dtype).type
        plate = (made.nx, made.ny), block_for(made)
        laws, powers = _functions(made)
        self._conducts, self._share = missed_share(laws) > 0.0, missed_share([*laws, *powers])
        self._bend = backend.launcher(backend.kernels(__name__).bend, *plate)
        self._add = backend.launcher(backend.kernels("simsuite.solvers.heat.adi.adi").ahead, *plate)
        self._rate = backend.launcher(backend.kernels(OPERATOR).rate, *plate)

    @classmethod
    def of(cls, made: Discretisation, backend: Backend, operator: Operator, dtype: Any) -> MissedKinks | None:
        """A `MissedKinks` for a problem, or None where nothing kinks or jumps at temperatures: then no kernel is
        needed."""
        laws, powers = _functions(made)
        return cls(made, backend, operator, dtype) if missed_share([*laws, *powers]) else None

    def add(self, error: Any, before: Any, after: Any, dt: float, spare: Sequence[Any]) -> None:
        """Queue the addition to `error` of what a step of dt from temperatures `before` to `after` may have missed.
        spare: two fields, which are overwritten."""
        moved = spare[0]
        self._add(after, before, self._real(-1), moved)  # T₁ - T₀
        self._add(before, moved, self._real(0.5), moved)
        (self._add_of_rates if self._conducts else self._add_of_sources)(error, before, after, dt, spare)

    def without_first_half(
        self, error: Any, before: Any, after: Any, dt: float, spare: Sequence[Any], largest: Callable[[Any], float]
    ) -> float:
        """What `largest` gives of the error if three times the second difference of the first half of the step is taken
        from it, after `add`; 0 where conductivities kink, or sources jump. `error` is as before then, but for rounding.
        """
        if self._conducts or self._share > MISSED:
            return 0.0
        sources, real = self._operator.sources, self._real
        middle, quarter = spare
        self._add(after, before, real(-1), middle)  # T₁ - T₀
        self._add(before, middle, real(0.25), quarter)
        sources.refresh(quarter, 0)
        self._add(sources.q, after, real(0), quarter)
        self._add(before, middle, real(0.5), middle)
        sources.refresh(middle, 0)
        self._add(sources.q, after, real(0), middle)
        sources.refresh(before, 0)
        second = error, sources.q, quarter, middle, self._operator.c
        self._bend(*second, real(-3.0 * self._share * dt))
        found = largest(error)
        self._bend(*second, real(3.0 * self._share * dt))
        return found

    def _add_of_sources(self, error: Any, before: Any, after: Any, dt: float, spare: Sequence[Any]) -> None:
        sources, real = self._operator.sources, self._real
        moved, between = spare
        sources.refresh(moved, 0)
        self._add(sources.q, after, real(0), between)
        sources.refresh(before, 0)
        self._add(sources.q, after, real(0), moved)
        sources.refresh(after, 0)
        self._bend(error, moved, between, sources.q, self._operator.c, real(self._share * dt))

    def _add_of_rates(self, error: Any, before: Any, after: Any, dt: float, spare: Sequence[Any]) -> None:
        """Like `add`, but for all heat that comes into cells, through faces as well as from sources."""
        o = self._operator
        moved, rates = spare
        for T, weight in ((moved, -2.0), (before, 1.0), (after, 1.0)):
            o.refresh(T, 0)
            self._rate(after, rates, o.plate, o.edges.at(0))
            self._add(error, rates, self._real(weight * self._share * dt), error)
