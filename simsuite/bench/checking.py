"""Whether what is timed is right: on random input, edges included, in the process that does the timing.

Explicit steps at the size that is timed, in many steps, against `reference`, to rounding. Other steppers on a small
grid against the matrix exponential of an independent discretisation, with steps so short that little of their own error
remains; and, if the device is not the CPU, on a larger grid with long steps against the CPU's kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simsuite.backends import open_backend
from simsuite.bench.plates import Plate, started
from simsuite.core import Backend, Stepper
from simsuite.verify.heat.semidiscrete import SemiDiscrete

FEW_STEPS, MANY_STEPS = 37, 229  # the former more than any kernel takes a launch, the latter several recorded graphs
SMALL = 256  # cells along an edge, up to which many steps are made
EXPONENTIAL_CELLS, EXPONENTIAL_STEPS, SHORT_DT = 14, 8, 0.003
OWN_ERROR = 1e-5  # of these: 8·(λΔt)³/12 with λΔt = 0.03 for the fastest mode, times 4 for rkl2
CPU_CELLS, CPU_STEPS = 200, 8
CPU_ROUNDINGS = 1e4  # between the sums of two devices, over long lines


@dataclass(frozen=True)
class Deviation:
    """error: largest, relative to the largest number. limit: what rounding and method account for."""

    error: float
    limit: float

    @property
    def right(self) -> bool:
        return self.error <= self.limit


def deviation(found: np.ndarray, wanted: np.ndarray, limit: float) -> Deviation:
    """Of two fields; NaN is never right."""
    return Deviation(float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))), limit)


def rounding(precision: str, steps: int) -> float:
    """What explicit steps may be off by: a few roundings each, which are as good as random, of numbers up to the
    largest."""
    return 4 * math.sqrt(steps) * float(np.finfo(precision).eps)


def explicit_deviation(backend: Backend, plate: Plate, stepper: Stepper) -> Deviation:
    """Of a stepper that has just been started, which is advanced."""
    steps = MANY_STEPS if plate.n <= SMALL else FEW_STEPS
    stepper.advance(steps)
    found = backend.to_host(stepper.state["temperature"])
    return deviation(found, plate.after(steps), rounding(plate.precision, steps))


def stepper_deviation(backend: Backend, plate: Plate) -> Deviation:
    """Of the plate's stepper, on other sizes: a comparison that it does not stand, or else the last."""
    found, cpu = [_from_exponential(backend, plate)], open_backend("cpu")
    if backend.name != cpu.name:
        found.append(_from_cpu(backend, cpu, plate))
    return next((each for each in found if not each.right), found[-1])


def _from_exponential(backend: Backend, plate: Plate) -> Deviation:
    small = replace(plate, n=EXPONENTIAL_CELLS)
    T = small.start()
    run = started(small.problem(dt=SHORT_DT), backend, T)
    run.advance(EXPONENTIAL_STEPS)
    exact = SemiDiscrete(small.scenario())
    exact.start = T.astype(np.float64)
    wanted = exact.propagated(EXPONENTIAL_STEPS * SHORT_DT)
    limit = OWN_ERROR + rounding(plate.precision, 8 * EXPONENTIAL_STEPS)
    return deviation(backend.to_host(run.state["temperature"]), wanted, limit)


def _from_cpu(backend: Backend, cpu: Backend, plate: Plate) -> Deviation:
    larger = replace(plate, n=CPU_CELLS)
    problem, T, found = larger.problem(), larger.start(), []
    for each in (backend, cpu):
        run = started(problem, each, T)
        run.advance(CPU_STEPS)
        found.append(each.to_host(run.state["temperature"]).astype(np.float64))
    return deviation(found[0], found[1], CPU_ROUNDINGS * float(np.finfo(plate.precision).eps))
