"""About how long a heat run takes, at rates that are usual."""

from __future__ import annotations

import math

from simsuite.core import Clock
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.stepper_choice.method import ADI_STEPS, expected_stages
from simsuite.solvers.heat.stepper_choice.rates import H200, TWO_CORES, work_of

# Seconds that a step with control of its error takes besides the work per cell, for launches and for reading back the
# estimate before the next step. The numbers are those of small grids, to one digit.
CONTROL_ON_CPU, CONTROL_ON_GPU = 4e-4, 1e-3


def usual_seconds(plan: Plan, clock: Clock, made: Discretisation, rate_wanted: bool, gpu: bool) -> float:
    """The seconds that all steps of a plan usually take, on two CPU cores or on an H200. Where steps find out on the
    way how long they may be, the expected number of them is counted, and the method that is faster."""
    rates = H200 if gpu else TWO_CORES
    if plan.control is None:
        return rates.seconds(work_of(plan.stepper, clock.end, plan.stages, made, rate_wanted))
    steps = plan.control.expected
    stages = expected_stages(clock.times[-1], steps, plan.control.safe)
    works = {
        "rkl2": work_of("rkl2", steps, stages, made, rate_wanted),
        "adi": work_of("adi", math.ceil(ADI_STEPS * steps), 0, made, rate_wanted),
    }
    controlling = steps * (CONTROL_ON_GPU if gpu else CONTROL_ON_CPU)
    return controlling + min(rates.seconds(works[name]) for name in plan.control.methods)
