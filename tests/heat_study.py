"""Automatic steps of many random plates: their errors and their work, by as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import heat_work
import numpy as np
from heat_random import random_plate

from simsuite.backends import open_backend

STEPPERS = ("auto", "rkl2", "adi")


@dataclass(frozen=True)
class Found:
    """errors: by stepper, the largest at any frame in units of tolerance times range. planned: what `auto` took.
    work: of `auto`, s. best: which stepper needs the least work with the best equal steps, and how much."""

    seed: int
    tolerance: float
    errors: dict[str, float]
    planned: str
    work: float
    best: tuple[str, float]

    @property
    def ratio(self) -> float:
        """Of the work of `auto` to the best."""
        return self.work / self.best[1]


def study(seeds: Iterable[int], switches: bool, device: str = "cpu", compared: bool = True) -> Iterator[Found]:
    """One after the other, as they are done. compared: whether the best equal steps are looked for."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, initializer=_alone) as pool:
        yield from pool.map(partial(_look, switches=switches, device=device, compared=compared), seeds)


def _alone() -> None:
    """Take one thread, as there is a process for every core."""
    import numba

    numba.set_num_threads(1)


def _look(seed: int, switches: bool, device: str, compared: bool) -> Found:
    plate, backend = random_plate(seed, switches, 16), open_backend(device)
    problem = heat_work.problem_of(plate)
    frames = problem.layout.series[0].steps
    want = np.array(plate.reference([problem.clock.time(step) for step in frames]))
    unit = problem.scenario.time.tolerance * float(np.ptp(want))
    found = {stepper: heat_work.automatic(plate, backend, want, stepper) for stepper in STEPPERS}
    errors, work = {stepper: error / unit for stepper, (error, _) in found.items()}, found["auto"][1]
    best = heat_work.best(plate, backend, want, 2 * work) if compared else ("none", 2 * work)
    return Found(seed, problem.scenario.time.tolerance, errors, problem.plan.stepper, work, best)
