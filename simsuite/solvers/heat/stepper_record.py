"""What the rest of the program knows of a stepper: one `StepperRecord` for each, in the stepper's own file.

The steppers' modules are found by their names (see `steppers`), so that nothing else has to list them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simsuite.core import Backend, Clock, Snapshot, Stepper
from simsuite.scenario.heat import HeatRun, HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.table import ROWS

SAFETY = 0.9  # share of the largest stable step, so that the shortest waves decay as well
ORDER_IN_SPACE = 2  # the order of the finite volumes that all steppers use
VARYING: Mapping[str, Any] = {  # a material by which the kernels for coefficients that vary are timed
    "material": {"conductivity": "1 + 0.5*sin(x)*cos(y)", "density": 1.0, "specific_heat": "1 + 0.3*cos(x)"}
}
# the factor by which evaluating conductivities makes an explicit step or a stage longer, as timed on CPUs
_OF_LAWS = 3.0
_OF_SOURCES = 1.5  # the factor by which evaluating sources makes it longer

Obstacle = tuple[tuple[str | int, ...], str]
"""The path of a key of the scenario that keeps a stepper from being used, and the reason in words."""


@dataclass(frozen=True)
class StepLimits:
    """How long explicit steps may be, s.

    stable: at the temperatures of the data. safe: at all temperatures that sources may drive cells to. monotone: such
    that the maximum principle holds, at the temperatures of the data.
    """

    stable: float
    safe: float
    monotone: float


@dataclass(frozen=True)
class Ingredients:
    """What a stepper is made from. stages: of each step. kernel: the kind of kernels that the run asks for. beside:
    what is stepped by other processes."""

    made: Discretisation
    wanted: Wanted
    clock: Clock
    backend: Backend
    start: Snapshot
    stages: int
    kernel: str
    beside: NoNeighbours = ALL_ROWS


@dataclass(frozen=True)
class Work:
    """`count` times an `amount` of a kind of work, given by its name."""

    kind: str
    amount: float
    count: float


@dataclass(frozen=True)
class Usual:
    """The usual time of an amount of work on a device: microseconds in any case, and nanoseconds for each unit."""

    fixed: float
    each: float


@dataclass(frozen=True)
class Trial:
    """How a kind of work is timed: some steps of length dt (s), each of so many stages, on square plates. sections:
    those of the scenario that differ from a plate with constant coefficients. times_line: whether the amount of work is
    the number of cells times the number of cells along both axes, instead of the number of cells."""

    steps: int
    dt: float
    sections: Mapping[str, Any] = field(default_factory=dict)
    stages: int = 1
    times_line: bool = False

    def amount(self, n: int) -> float:
        """The amount of work of one step, or of one of its stages, on a plate of n × n cells."""
        return float(n * n * (2 * n if self.times_line else 1))


@dataclass(frozen=True)
class KindOfWork:
    """A kind of work whose time is known for each amount of it, which is the number of cells unless its trial says
    otherwise. The usual times are for float64, to one digit, on two cores of an AMD EPYC (Zen 4) and on an H200
    (docs/notes/heat_steppers_gpu.md); float32 takes between half of them and all."""

    name: str
    two_cores: Usual
    h200: Usual
    trial: Trial


def longer(made: Discretisation) -> float:
    """How many times as long an evaluation of dT/dt takes because coefficients or sources change on the way."""
    return (_OF_LAWS if made.law is not None else 1.0) * (_OF_SOURCES if not all(made.static) else 1.0)


def bytes_of_fields(made: Discretisation, fields: int) -> int:
    """The memory for so many fields, for conductivities that depend on T, and for the tables of the edges."""
    fields += 4 if made.law is not None else 0
    rows = 2 * (ROWS + 3) * 2 * made.edges.size * 8  # the data of edges, and the coefficients computed from them
    return fields * made.T0.nbytes + rows


@dataclass(frozen=True)
class StepperRecord:
    """A stepper of the heat equation.

    name: as in `time.stepper`. words: the same in a summary. order_in_time: of its error; None if it makes no error in
    time. make: the stepper itself. kinds: the kinds of work that its steps consist of. work: what a run takes, from the
    number of steps, stages of each, the problem, and whether rates of change are wanted. device_bytes: the memory that
    it allocates, from the problem, whether the kernels for constant coefficients apply, and [run].
    bound: the largest stable step, s. automatic: the length of steps with dt = "auto", s, where that follows from what
    is stable; None where it follows from the error of steps, or where steps go from frame to frame. controls_error:
    whether it can choose steps by their error. stages: the number of stages of a step of some length, from the largest
    safe explicit step; None for methods without stages. most_stages: the largest number of these.
    error_bound: a bound of the error of all steps, see `explicit_error`; None where none is known.
    obstacle: the first thing in a scenario that the stepper cannot do; None for a stepper that can do everything.
    has_plain_kernels: whether it has kernels for constant coefficients, whose ledger is a rise in temperature.
    chooses_kernel: whether `run.kernel` selects its kernels. solves: whether steps solve equations, by which the
    ledger closes to less than rounding.
    """

    name: str
    words: str
    order_in_time: int | None
    make: Callable[[Ingredients], Stepper]
    kinds: Sequence[KindOfWork]
    work: Callable[[int, int, Discretisation, bool], list[Work]]
    device_bytes: Callable[[Discretisation, bool, HeatRun], int]
    bound: Callable[[StepLimits], float] = lambda limits: math.inf
    automatic: Callable[[StepLimits], float] | None = None
    controls_error: bool = False
    stages: Callable[[float, float], int] | None = None
    most_stages: int = 0
    error_bound: Callable[[Discretisation, Clock, Sequence[float], float, Sequence[float]], float | None] | None = None
    obstacle: Callable[[HeatScenario, Discretisation], Obstacle | None] | None = None
    has_plain_kernels: bool = False
    chooses_kernel: bool = False
    solves: bool = False
