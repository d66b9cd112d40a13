"""The steppers by name."""

from __future__ import annotations

from simsuite.core import Backend, Clock, Snapshot, Stepper
from simsuite.solvers.heat.adi.adi import AdiStepper
from simsuite.solvers.heat.exact.exact import ExactStepper
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.rkl2.rkl2 import Rkl2Stepper


def make_stepper(
    name: str,
    stages: int,
    made: Discretisation,
    wanted: Wanted,
    clock: Clock,
    backend: Backend,
    start: Snapshot,
    kernel: str,
) -> Stepper:
    """The stepper that a plan names. stages: of a step of rkl2. kernel: which kernels explicit steps are to take."""
    if name == "rkl2":
        return Rkl2Stepper(made, wanted, clock, backend, start, stages)
    if name == "adi":
        return AdiStepper(made, wanted, clock, backend, start)
    if name == "exact":
        return ExactStepper(made, wanted, clock, backend, start)
    return ExplicitStepper(made, wanted, clock, backend, start, kernel)
