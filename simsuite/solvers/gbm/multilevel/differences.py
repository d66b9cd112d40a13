"""Sums of payoffs of fine paths, less those of coarse ones, for multilevel Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.sharing import evaluate_each
from simsuite.solvers.gbm.multilevel.levels import Level
from simsuite.solvers.gbm.multilevel.plan import GPU_CHUNK, MultilevelPlan
from simsuite.solvers.gbm.paths.launches_numba import ends
from simsuite.solvers.gbm.paths.payoff_launches import ProgramPayoffs
from simsuite.solvers.gbm.portfolio.portfolio import PAYOFFS_CHUNK
from simsuite.solvers.gbm.statistics.statistics import GROUP


class Differences(Protocol):
    def add(self, number: int, n: int, first_path: int, noises: list[Any], taken: list[Any]) -> None:
        """Adds the differences of n pairs of paths of a level, from number first_path on. noises: y of fine and coarse
        paths; taken: what functionals have kept of them."""


def chunk_of(backend: Backend) -> int:
    return GPU_CHUNK if backend.compiles else PAYOFFS_CHUNK


class ArrayDifferences:
    """Computes the payoffs by arithmetic on whole arrays."""

    def __init__(self, plan: MultilevelPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._plan, self._backend = plan, backend
        kernels = backend.kernels("simsuite.solvers.gbm.statistics.statistics")
        payoffs, chunk = plan.payoffs, min(chunk_of(backend), plan.room)
        self._array = backend.zeros((len(payoffs.values), chunk), np.float64)
        self._values = backend.view(self._array)
        extent = (-(-chunk // GROUP) * kernels.THREADS, len(payoffs.products))
        self._add = backend.launcher(kernels.payoffs, extent, (kernels.THREADS, 1))
        blame = np.array([payoffs.asset(value) for value in range(len(payoffs.values))], np.int64)
        numbering, products = np.array(plan.open_numbering, np.int64), np.array(payoffs.products, np.int64)
        self._held = [backend.array(a) for a in (numbering, blame, products)]
        self._shifts = [backend.array(level.shifts) for level in plan.levels]
        self._sums = [arrays["options"][number : number + 1] for number in range(len(plan.levels))]
        self._numbering, self._blame, self._products = (backend.view(a) for a in self._held)
        self._views = [(backend.view(a), backend.view(b)) for a, b in zip(self._shifts, self._sums)]
        self._fault = backend.view(arrays["fault"])
        self._launch(0, 0, 0)  # compiles the kernel now

    def add(self, number: int, n: int, first_path: int, noises: list[Any], taken: list[Any]) -> None:
        level: Level = self._plan.levels[number]
        assert level.coarse is not None
        assert level.fewer_steps is not None
        for begin in range(0, n, self._array.shape[1]):
            count = min(self._array.shape[1], n - begin)
            paths = slice(begin, begin + count)
            with self._backend.arithmetic(), np.errstate(all="ignore"):
                of_fine = ends(level.fine, noises[0], taken[0], paths)
                for values, found in zip(self._array, evaluate_each(level.payoffs.values, of_fine)):
                    values[:count] = found
                of_coarse = ends(level.coarse, noises[1], taken[1], paths)
                for values, found in zip(self._array, evaluate_each(level.fewer_steps.values, of_coarse)):
                    values[:count] -= found
            self._launch(number, count, first_path + begin)

    def _launch(self, number: int, n: int, first_path: int) -> None:
        shifts, sums = self._views[number]
        self._add(
            self._values, n, first_path, self._plan.width, self._numbering, shifts, self._blame, self._products,
            self._plan.n_assets, sums, self._fault,
        )  # fmt: skip


class ProgramDifferences:
    """Computes and adds payoffs at once, by a program in CUDA C++."""

    def __init__(self, plan: MultilevelPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays
        self._levels: list[ProgramPayoffs | None] = []
        for level in plan.levels:
            if level.coarse is None or level.fewer_steps is None:
                self._levels.append(None)
                continue
            paying = replace(level.fine, payoffs=level.payoffs)
            self._levels.append(ProgramPayoffs(paying, backend, (level.coarse, level.fewer_steps)))

    def add(self, number: int, n: int, first_path: int, noises: list[Any], taken: list[Any]) -> None:
        level = self._levels[number]
        assert level is not None
        fine, coarse = ((y, y if kept is None else kept) for y, kept in zip(noises, taken))
        level.add(*fine, n, first_path, self._arrays["options"][number], self._arrays["fault"], coarse)
