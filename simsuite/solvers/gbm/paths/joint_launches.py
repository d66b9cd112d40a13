"""Paths in several markets at once, and the sums of joint payoffs over them (joint/joint.py).

The paths of each market that is not the run's own are made by the kernels of a plain run, with tables of that market
and the random numbers of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.sharing import evaluate_each
from simsuite.solvers.gbm.paths.launches_numba import ends
from simsuite.solvers.gbm.paths.payoff_launches import ProgramPayoffs
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise
from simsuite.solvers.gbm.portfolio.portfolio import computed_together
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import GROUP


class Made(Protocol):
    """The launches of a market."""

    seen: Any

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None: ...


class JointLaunches(Protocol):
    def advance(self, n: int, first_path: int, begin: int, end: int) -> None:
        """Makes blocks of the paths in all other markets."""

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        """Adds joint payoffs of n paths that have ended. which: the number of the end among the frames that the run
        looked at last."""


@dataclass(frozen=True)
class JointStatement(Statement):
    """The run as its joint payoffs see it: with the assets of all markets."""

    @property
    def n_assets(self) -> int:
        return self.joint_assets

    @cached_property
    def end_growth(self) -> np.ndarray:
        assert self.joint is not None
        end = np.array([self.n_steps])
        with np.errstate(over="ignore"):
            return np.exp2(np.concatenate([market.dynamics.centre(end)[:, 0] for market in self.joint.markets]))

    @cached_property
    def shifts(self) -> np.ndarray:
        return np.zeros(len(self.payoffs.values))


def market_arrays(plan: PathPlan, arrays: Mapping[str, Any]) -> Iterator[tuple[PathPlan, Mapping[str, Any]]]:
    """The plan of each other market, with its share of the arrays of the state."""
    x, functional = 0, 0
    for of in plan.market_plans():
        count = len(of.functional_codes)
        own = {"x": arrays["joint_x"][x : x + plan.n_assets]}
        own |= {"kept": arrays["joint_kept"][functional : functional + count]} if count else {}
        x, functional = x + plan.n_assets, functional + count
        yield of, {name: arrays[name] for name in ("moments", "histogram", "fault")} | own


class _Joint:
    """own, each: the launches of the run, and of each other market."""

    def __init__(
        self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any], own: Made, each: Sequence[Made]
    ) -> None:
        assert plan.joint is not None
        self._plan, self._backend, self._arrays, self._own, self._each = plan, backend, arrays, own, each
        self._plans = plan.market_plans()
        self._kept = [of.get("kept") for _, of in market_arrays(plan, arrays)]
        self._with_run = plan.joint.markets[0].is_run
        self._statement = JointStatement(
            plan.scenario, plan.dynamics, plan.joint.payoffs, plan.frame_steps, plan.batch, plan.joint, plan.share
        )

    def advance(self, n: int, first_path: int, begin: int, end: int) -> None:
        for of, launches in zip(self._plans, self._each):
            launches.advance(n, first_path, begin, end, of.frames_within(begin * of.block, end * of.block))

    def _ends(self, which: int) -> list[tuple[PathPlan, Any, Any]]:
        """The plan of each market with the noise at the end, and what was kept of paths."""
        run = [(self._plan, self._own.seen[which], self._arrays.get("kept"))] if self._with_run else []
        made = ((of, launches.seen[0], taken) for of, launches, taken in zip(self._plans, self._each, self._kept))
        return [*run, *made]


class ArrayJoint(_Joint):
    """Computes the payoffs by arithmetic on whole arrays."""

    def __init__(
        self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any], own: Made, each: Sequence[Made]
    ) -> None:
        super().__init__(plan, backend, arrays, own, each)
        kernels = backend.kernels("simsuite.solvers.gbm.statistics.statistics")
        of, payoffs = self._statement, self._statement.payoffs
        self._array = backend.zeros((len(payoffs.values), computed_together(plan, backend)), np.float64)
        self._values = backend.view(self._array)
        extent = (-(-self._array.shape[1] // GROUP) * kernels.THREADS, len(payoffs.products))
        self._add = backend.launcher(kernels.payoffs, extent, (kernels.THREADS, 1))
        blame = np.array([payoffs.asset(value) for value in range(len(payoffs.values))], np.int64)
        tables = np.array(plan.numbering, np.int64), of.shifts, blame, np.array(payoffs.products, np.int64)
        self._held = [backend.array(a) for a in tables]
        self._tables = [backend.view(a) for a in self._held]
        self._sums, self._fault = backend.view(arrays["joint"]), backend.view(arrays["joint_fault"])
        self._launch(0, 0)  # compiles the kernel now

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        together = self._array.shape[1]
        for begin in range(0, n, together):
            count = min(together, n - begin)
            with self._backend.arithmetic(), np.errstate(all="ignore"):
                variables = self._variables(which, slice(begin, begin + count))
                for values, found in zip(self._array, evaluate_each(self._statement.payoffs.values, variables)):
                    values[:count] = found
            self._launch(count, first_path + begin)

    def _variables(self, which: int, paths: slice) -> dict[str, Any]:
        found, functionals = dict[str, Any](), 0
        for m, (plan, y, taken) in enumerate(self._ends(which)):
            own, before = ends(plan, y, taken, paths), m * plan.n_assets
            for a in range(plan.n_assets):
                found |= {last(before + a): own[last(a)], noise(before + a): own[noise(a)]}
            count = len(plan.payoffs.functionals)
            found |= {kept(functionals + i): own[kept(i)] for i in range(count)}
            functionals += count
        return found

    def _launch(self, n: int, first_path: int) -> None:
        numbering, shifts, blame, products = self._tables
        self._add(
            self._values, n, first_path, self._plan.width, numbering, shifts, blame, products,
            self._statement.n_assets, self._sums, self._fault,
        )  # fmt: skip


class ProgramJoint(_Joint):
    """Brings the ends of the paths of all markets together, and adds up payoffs by programs in CUDA C++."""

    def __init__(
        self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any], own: Made, each: Sequence[Made]
    ) -> None:
        super().__init__(plan, backend, arrays, own, each)
        of = self._statement
        if self._each:
            self._y = backend.zeros((of.n_assets, plan.held), plan.dtype)
            self._taken = backend.zeros((max(len(of.payoffs.functionals), 1), plan.held), plan.dtype)
        self._payoffs = ProgramPayoffs(of, backend)

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        sums, fault, functionals = self._arrays["joint"][0], self._arrays["joint_fault"], 0
        if not self._each:
            y = self._own.seen[which]
            self._payoffs.add(y, self._arrays.get("kept", y), n, first_path, sums, fault)
            return
        for m, (plan, y, taken) in enumerate(self._ends(which)):
            self._backend.copy(y, self._y[m * plan.n_assets : (m + 1) * plan.n_assets])
            count = len(plan.payoffs.functionals)
            if count:
                self._backend.copy(taken, self._taken[functionals : functionals + count])
            functionals += count
        self._payoffs.add(self._y, self._taken, n, first_path, sums, fault)
