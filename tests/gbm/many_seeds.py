"""Runs of one problem with random numbers of their own."""

from __future__ import annotations

import dataclasses
from typing import Any

import numba
from gbm_problems import run

from simsuite.core import Backend


def results_of_seeds(made: Any, seeds: int, cpu: Backend) -> list[Any]:
    """The results of runs of a Monte Carlo problem that differ in the seed, each on one thread."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    found = []
    try:
        for seed in range(seeds):
            drawn = made.scenario.run.model_copy(update={"seed": 1000 + seed})
            again = dataclasses.replace(made, scenario=made.scenario.model_copy(update={"run": drawn}))
            found.append(run(again, cpu)[0])
    finally:
        numba.set_num_threads(threads)
    return found
