"""Launches of the readable kernels, on the CPU and on GPUs. Payoffs are arithmetic on whole arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.sharing import evaluate_each
from simsuite.solvers.gbm.american.exercise_policy import FIRST_PATH, learning_paths, untrained_policy
from simsuite.solvers.gbm.american.regression import learn
from simsuite.solvers.gbm.paths.kernels.arguments import (
    Between,
    Dated,
    Increments,
    Paths,
    Policy,
    Random,
    Stretch,
    Terms,
)
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.portfolio_launches import NumbaPortfolio
from simsuite.solvers.gbm.paths.tables import tables
from simsuite.solvers.gbm.payoffs.exercise_rights import basis_specs, learning_steps
from simsuite.solvers.gbm.payoffs.functionals import EXTREMES, marks
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise
from simsuite.solvers.gbm.portfolio.portfolio import computed_together, portfolio_of
from simsuite.solvers.gbm.sobol import sobol_tables
from simsuite.solvers.gbm.sobol.arguments import Points
from simsuite.solvers.gbm.statistics.statistics import GROUP

_BLOCK = 128  # threads of a block, with a path each


class NumbaLaunches:
    def __init__(self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._plan, self._backend, self._arrays = plan, backend, arrays
        self._views = {name: backend.view(a) for name, a in arrays.items()}
        n_assets, held = plan.n_assets, plan.held
        self.seen = backend.zeros((plan.most_watched, n_assets, held), plan.dtype)
        self._seen = backend.view(self.seen)
        self._each_seen = [backend.view(self.seen[i]) for i in range(plan.most_watched)]
        made = tables(plan, plan.dtype) | sobol_tables.numba_tables(plan)
        self._tables = {name: backend.array(a) for name, a in made.items()}
        self._constants = {name: backend.view(a) for name, a in self._tables.items()}
        self._alike = tuple(self._arguments())
        self._bind()
        self._portfolio = NumbaPortfolio(plan, backend, arrays, self._views, self._constants["frames"])
        self._compile()

    def _bind(self) -> None:
        plan, backend = self._plan, self._backend
        n_assets, held, payoffs = plan.n_assets, plan.held, plan.payoffs
        kernels = backend.kernels("simsuite.solvers.gbm.statistics.statistics")
        groups = -(-held // GROUP) * kernels.THREADS
        block = (kernels.THREADS, 1)
        make_advance = backend.kernels("simsuite.solvers.gbm.paths.kernels.paths").make_advance
        step_terms, rights = plan.dynamics.step_terms, basis_specs(payoffs.functionals)
        stack = sobol_tables.bridge_of(plan).depth if plan.uses_sobol else 0
        codes, drawn = plan.functional_codes, (stack, plan.summed)
        self._kernel = make_advance(n_assets, codes, plan.dtype, plan.normal, step_terms, rights, *drawn)
        self._advance = backend.launcher(self._kernel, (held,), (min(_BLOCK, held),))
        self._clear = backend.launcher(kernels.clear, (kernels.THREADS, n_assets), block)
        self._moments = backend.launcher(kernels.moments, (groups, n_assets), block)
        if plan.stored_here:
            self._record = backend.launcher(
                kernels.record, (plan.stored_here, n_assets), (min(plan.stored_here, _BLOCK), 1)
            )
        chunk = computed_together(plan, backend)
        self._values_array = backend.zeros((len(payoffs.values), chunk), np.float64)
        if payoffs.trees:
            self._values = backend.view(self._values_array)
            chunk_groups = -(-chunk // GROUP) * kernels.THREADS
            self._payoffs = backend.launcher(kernels.payoffs, (chunk_groups, len(payoffs.products)), block)

    def _compile(self) -> None:
        """Launches every kernel on no paths at all, so that it is compiled now and not when a clock is running."""
        self._clear(self._views["moments"], self._views["histogram"], 0, 0)
        self.advance(0, 0, 0, 1, range(0))
        self.moments(0, 0, range(0, 1))
        if self._plan.stored_here:
            self._record(self._each_seen[0], self._views["paths"], 0, 0)
        if self._plan.payoffs.trees:
            self._add_payoffs(0, 0)

    def learn(self) -> None:
        plan, backend = self._plan, self._backend
        n, steps = learning_paths(plan), learning_steps(plan.holders)
        noise = backend.zeros((len(steps), plan.n_assets, n), plan.dtype)
        x = backend.zeros((plan.n_assets, n), plan.dtype)
        kept = backend.zeros((len(plan.functional_codes), n), plan.dtype)
        advance = backend.launcher(self._kernel, (n,), (min(_BLOCK, n),))
        paths = tuple(map(backend.view, Paths(x=x, kept=kept, seen=noise)))
        self._stretch(advance, paths, n, FIRST_PATH, 0, -(-int(steps[-1]) // plan.block), steps.tolist())
        policy = learn(backend, plan.holders, steps, noise, untrained_policy(plan))
        backend.copy(backend.array(policy), self._arrays["policy"])

    def apply_policy(self) -> None:
        with self._backend.arithmetic():
            self._tables["rules"][...] = self._arrays["policy"]

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None:
        views = self._views
        paths = tuple(Paths(x=views["x"], kept=views.get("kept", views["x"]), seen=self._seen))
        steps = [self._plan.frame_steps[frame] for frame in frames]
        self._stretch(self._advance, paths, n, first_path, begin, end, steps)

    def _stretch(
        self, launch: Any, paths: tuple[Any, ...], n: int, first_path: int, begin: int, end: int, steps: list[int]
    ) -> None:
        """Launches the blocks begin .. end - 1. paths: what is advanced. steps: those after which the noise is kept in
        `seen`."""
        looked_at = 0
        for block, watched in marks(steps, self._plan.block):
            self._blocks(launch, paths, n, first_path, begin, block + 1, watched, looked_at)
            begin, looked_at = block + 1, looked_at + watched.bit_count()
        if begin < end:
            self._blocks(launch, paths, n, first_path, begin, end)

    def _blocks(
        self, launch: Any, paths: tuple[Any, ...], n: int, first_path: int, begin: int, end: int, watched: int = 0,
        first_seen: int = 0,
    ) -> None:  # fmt: skip
        plan = self._plan
        valid = min(plan.block, plan.n_steps - (end - 1) * plan.block)
        stretch = Stretch(begin=begin, end=end, valid=valid, watched=watched, first_seen=first_seen)
        launch(paths, n, first_path, tuple(stretch), *self._alike)

    def _arguments(self) -> Iterator[tuple[Any, ...]]:
        """The arguments that all launches of `advance` have in common, in their order."""
        plan, tables = self._plan, self._constants
        yield tuple(Random(seed=plan.seed, antithetic=plan.antithetic))
        for group in (Increments, Dated, Between, Terms):
            yield tuple(tables[name] for name in group._fields)
        yield tuple(Policy(row=tables["policy_row"], rules=tables["rules"]))
        bridge = {name: tables[name] for name in Points._fields if name != "numbering"}
        yield tuple(Points(numbering=tables["open_numbering"], **bridge))

    def clear(self, slot: int) -> None:
        self._clear(self._views["moments"], self._views["histogram"], slot, self._plan.n_assets)
        self._portfolio.clear(slot)

    def record(self, which: int, frame: int) -> None:
        if self._plan.stored_here:
            self._record(self._each_seen[which], self._views["paths"], frame, self._plan.stored_here)

    def moments(self, n: int, first_path: int, frames: range) -> None:
        plan, views = self._plan, self._views
        for which, frame in enumerate(frames):
            self._moments(
                self._each_seen[which], n, first_path, self._constants["frames"], frame, plan.slot(frame),
                views["moments"], views["histogram"], views["fault"],
            )  # fmt: skip
        self._portfolio.expose(self._each_seen, n, frames)

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        payoffs = self._plan.payoffs
        if not (payoffs.trees or portfolio_of(self._plan).risk):
            return
        together = self._values_array.shape[1]
        for begin in range(0, n, together):
            count = min(together, n - begin)
            with self._backend.arithmetic(), np.errstate(all="ignore"):
                paths = slice(begin, begin + count)
                variables = ends(self._plan, self.seen[which], self._arrays.get("kept"), paths)
                for values, found in zip(self._values_array, evaluate_each(payoffs.values, variables)):
                    values[:count] = found
                self._portfolio.tally(variables, count)
            if payoffs.trees:
                self._add_payoffs(count, first_path + begin)

    def _add_payoffs(self, n: int, first_path: int) -> None:
        plan, views, tables = self._plan, self._views, self._constants
        self._payoffs(
            self._values, n, first_path, plan.width, tables["numbering"], tables["shifts"], tables["assets"],
            tables["products"], plan.n_assets,
            views["options"], views["fault"],
        )  # fmt: skip


def ends(plan: PathPlan, y: Any, taken: Any, paths: slice) -> dict[str, Any]:
    """The variables of payoffs for some paths, from their noise in the end and what functionals have kept (`taken`)."""
    found = {noise(a): y[a, paths].astype(np.float64) for a in range(plan.n_assets)}
    found |= {last(a): np.exp2(found[noise(a)]) * plan.end_growth[a] for a in range(plan.n_assets)}
    for i, functional in enumerate(plan.payoffs.functionals):
        value = taken[i, paths].astype(np.float64)
        found[kept(i)] = np.exp2(value) if functional.kind in EXTREMES else value
    return found
