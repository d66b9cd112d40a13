"""Checks that the timed computations are right: on random input, edges included, in the process that does the timing.

Explicit steps are compared with `reference_cpu` at the size that is timed, in many steps, up to rounding. Other
steppers are compared on a small grid with the matrix exponential of an independent discretisation, with steps so short
that little of their own error remains; and, if the device is not the CPU, on a larger grid with long steps with the
CPU's kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simsuite.backends import open_backend
from simsuite.bench.plates import Plate, started
from simsuite.core import Backend, Stepper
from simsuite.verify.heat.semidiscrete import SemiDiscrete

# The former is more than any kernel takes in a launch, the latter takes several recorded graphs.
FEW_STEPS, MANY_STEPS = 37, 229
SMALL = 256  # Plates of up to so many cells along an edge take MANY_STEPS.
EXPONENTIAL_CELLS, EXPONENTIAL_STEPS, SHORT_DT = 14, 8, 0.003
OWN_ERROR = 1e-5  # The error of these steps is 8·(λΔt)³/12 with λΔt = 0.03 for the fastest mode, times 4 for rkl2.
CPU_CELLS, CPU_STEPS = 200, 8
CPU_ROUNDINGS = 1e4  # The sums of two devices over long lines may differ by so many roundings.


@dataclass(frozen=True)
class Deviation:
    """How far a result is from the right one. error: the largest, relative to the largest number. limit: what rounding
    and the method account for.
    """

    error: float
    limit: float

    @property
    def right(self) -> bool:
        return self.error <= self.limit


def deviation(found: np.ndarray, wanted: np.ndarray, limit: float) -> Deviation:
    """The deviation of a field from another; NaN is never right."""
    return Deviation(float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))), limit)


def rounding(precision: str, steps: int) -> float:
    """The error that explicit steps may have: each makes a few roundings of numbers up to the largest, which add up at
    random.
    """
    return 4 * math.sqrt(steps) * float(np.finfo(precision).eps)


def explicit_deviation(backend: Backend, plate: Plate, stepper: Stepper) -> Deviation:
    """The deviation of a stepper that has just been started; it is advanced for this."""
    steps = MANY_STEPS if plate.n <= SMALL else FEW_STEPS
    stepper.advance(steps)
    found = backend.to_host(stepper.state["temperature"])
    return deviation(found, plate.after(steps), rounding(plate.precision, steps))


def stepper_deviation(backend: Backend, plate: Plate) -> Deviation:
    """The deviation of the plate's stepper, on other sizes: that of the first comparison which fails, or else of the
    last one.
    """
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
