"""The path-steps per second of the kernel that makes the paths, alone and through the stepper that `simsuite run` uses.

The kernel is timed alone, by marks in the device's queue, on what the stepper has just priced, and has to give the same
bits. The stepper's time includes all of a run: statistics at the frames, which are the first and the last step (or all
steps of what is stored), and the sums of the payoffs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.bench.checking import Deviation
from simsuite.bench.findings import Row
from simsuite.bench.gbm.cases import CASES, STEPS, Case
from simsuite.bench.gbm.effort import Effort
from simsuite.bench.gbm.needs import needs_of
from simsuite.bench.gbm.pricing import Run, checked, priced, run, stored_deviation
from simsuite.bench.gbm.units import Units
from simsuite.bench.machine import Machine
from simsuite.bench.timing import Patience, device_seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError


@dataclass(frozen=True)
class Device:
    """The device that things are timed on, with its limits."""

    backend: Backend
    machine: Machine
    units: Units | None
    patience: Patience


def rate_rows(device: Device, effort: Effort, sizes: Sequence[int], precisions: Sequence[str]) -> Iterator[Row]:
    """Yields a row for each case, precision and size, as it is measured. sizes: numbers of paths, () for what suits the
    device."""
    kind = device.backend.dialect
    for paths in sizes or (effort.paths[kind],):
        for case in CASES:
            for precision in precisions:
                n = min(paths, effort.stored[kind]) if case.stored and not sizes else paths
                name = {"case": case.name, "assets": case.assets, "precision": precision, "paths": n, "steps": STEPS}
                yield name | _measured(device, case, precision, n)


def _measured(device: Device, case: Case, precision: str, n: int) -> Row:
    backend = device.backend
    try:
        done = run(backend, case.problem(precision, n))
    except DeviceError as reason:
        return {"skipped": str(reason)}
    row: Row = {"kernel": done.stepper.chosen["kernel"], **priced(case, precision, done.estimate)}
    if case.stored and row["right"]:
        row |= checked(stored_deviation(backend, done))
    if not row["right"]:
        return row
    before = backend.to_host(done.stepper.state["x"])
    seconds = kernel_seconds(device, done, case.stored)
    if not np.array_equal(backend.to_host(done.stepper.state["x"]), before):
        return row | checked(Deviation(math.inf, 0.0))
    row |= {"kernel_rate": n * STEPS / seconds, "rate": n * STEPS / done.seconds}
    return row | _compared(row["kernel_rate"], needs_of(case, precision).limits(device.machine, device.units))


def kernel_seconds(device: Device, done: Run, stored: bool) -> float:
    """The time of the kernel for all steps of all paths, which are a single batch."""
    problem = done.problem
    n, blocks = problem.scenario.paths.count, -(-problem.n_steps // problem.block)
    frames = range(1, len(problem.frame_steps)) if stored else range(0)
    return device_seconds(
        device.backend, lambda: done.stepper.launches.advance(n, 0, 0, blocks, frames), device.patience
    )


def _compared(rate: float, limits: Mapping[str, float]) -> Row:
    if not limits:
        return {}
    least = min(limits, key=lambda name: limits[name])
    return {"limits": dict(limits), "limited_by": least, "fraction_of_limit": rate / limits[least]}
