"""Automatic steps of many random plates: their errors and their work, by as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from heat_random import random_plate
from heat_work import Reference, automatic, best, problem_of

from simsuite.backends import open_backend

STEPPERS = ("auto", "rkl2", "adi")
MOST = 2.0  # times the work of `auto`, beyond which no equal steps are tried


@dataclass(frozen=True)
class Found:
    """errors: by stepper, the largest at any frame in units of tolerance times range. always: likewise, at the end of
    any step. planned: what `auto` took. work: of `auto`, s. best: which stepper needs the least work with the best
    equal steps to keep the tolerance at the end of every step, and how much; best_at_frames: to keep it at frames."""

    seed: int
    tolerance: float
    errors: dict[str, float]
    always: dict[str, float]
    planned: str
    work: float
    best: tuple[str, float]
    best_at_frames: tuple[str, float]


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
    solution = plate.solution
    at_frames, always = (Reference(plate, solution, everywhere) for everywhere in (False, True))
    found = {stepper: automatic(plate, backend, always, stepper) for stepper in STEPPERS}
    problem, work = problem_of(plate), found["auto"].work
    best_of = {
        of: best(plate, backend, of, MOST * work) if compared else ("none", MOST * work) for of in (always, at_frames)
    }
    return Found(
        seed,
        problem.scenario.time.tolerance,
        {stepper: run.at_frames / always.enough for stepper, run in found.items()},
        {stepper: run.always / always.enough for stepper, run in found.items()},
        problem.plan.stepper,
        work,
        best_of[always],
        best_of[at_frames],
    )
