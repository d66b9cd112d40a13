"""How long steps take: what `auto` compares.

A run is `Work`: so many times an amount of one kind, such as 128 steps of adi on 4 million cells. `Rates` say how many
seconds that is, by `trials` on the device that the run is on, or as is usual on a kind of device, which is enough to
see what is cheap on any and what is out of the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from simsuite.solvers.heat.adi.adi import ITERATIONS
from simsuite.solvers.heat.exact.separation import axes
from simsuite.solvers.heat.exact.transform import is_fast
from simsuite.solvers.heat.explicit.explicit import is_plain
from simsuite.solvers.heat.grid.discretisation import Discretisation

# Kinds of work. The amount of all but the last is a number of cells; that of a product with the modes of an axis, cells
# times those along the axis.
EXPLICIT_PLAIN = "explicit steps with constant coefficients"
EXPLICIT_GENERAL = "explicit steps with coefficients that vary"
EXPLICIT_CHANGING = "explicit steps one by one"
RKL2_PLAIN = "rkl2 stages with constant coefficients"
RKL2_GENERAL = "rkl2 stages with coefficients that vary"
ADI = "adi steps"
EXACT = "exact steps"
PRODUCT = "matrix products of exact steps"
KINDS = (EXPLICIT_PLAIN, EXPLICIT_GENERAL, EXPLICIT_CHANGING, RKL2_PLAIN, RKL2_GENERAL, ADI, EXACT, PRODUCT)

_OF_LAWS = 3.0  # by how much evaluating conductivities makes an explicit step or a stage longer, as timed on CPUs
_OF_SOURCES = 1.5  # and evaluating sources


@dataclass(frozen=True)
class Work:
    """`count` times `amount` of a kind."""

    kind: str
    amount: float
    count: float


@dataclass(frozen=True)
class Times:
    """Seconds for an amount of work: straight lines through what was measured, amounts increasing, and on from the
    first and the last two. More work never takes less time: of a measurement that says so the time before counts."""

    amounts: tuple[float, ...]
    seconds: tuple[float, ...]

    def at(self, amount: float) -> float:
        """Seconds for an amount, 0 or more."""
        seconds = tuple(accumulate(self.seconds, max))
        if len(seconds) == 1:
            return seconds[0] * amount / self.amounts[0]
        after = next((i for i, a in enumerate(self.amounts[1:], 1) if a >= amount), len(seconds) - 1)
        (a, b), (s, t) = self.amounts[after - 1 : after + 1], seconds[after - 1 : after + 1]
        return max(s + (t - s) * (amount - a) / (b - a), min(s, s * amount / a))


@dataclass(frozen=True)
class Rates:
    """times: by kind of work. origin: whose they are, in words."""

    times: Mapping[str, Times]
    origin: str

    def seconds(self, work: Iterable[Work]) -> float:
        """What all of it takes."""
        return sum(w.count * self.times[w.kind].at(w.amount) for w in work)


def work_of(stepper: str, steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    """What a run takes. rate_wanted: whether the rate of change is, which the kernels for constant coefficients do not
    find."""
    cells = made.nx * made.ny
    plain = is_plain(made) and not rate_wanted
    moving = not all(made.static)
    longer = (_OF_LAWS if made.law is not None else 1.0) * (_OF_SOURCES if moving else 1.0)
    if stepper == "exact":
        dense = sum(axis.n for axis in axes(made) if not is_fast(axis))
        return [Work(EXACT, cells, steps), *([Work(PRODUCT, cells * dense, steps)] if dense else [])]
    if stepper == "adi":
        return [Work(ADI, cells, steps * (ITERATIONS if made.nonlinear else 1))]
    if stepper == "rkl2":
        return [Work(RKL2_PLAIN if plain else RKL2_GENERAL, cells, steps * stages * longer)]
    if plain:
        return [Work(EXPLICIT_PLAIN, cells, steps)]
    changing = moving or made.nonlinear or made.any_held
    return [Work(EXPLICIT_CHANGING if changing else EXPLICIT_GENERAL, cells, steps * longer)]


def _usual(origin: str, times: Mapping[str, tuple[float, float]]) -> Rates:
    """times: by kind, microseconds in any case, and nanoseconds for each of the amount."""
    few, many = 1e4, 1e7
    return Rates(
        {
            kind: Times((few, many), tuple(1e-6 * fixed + 1e-9 * each * n for n in (few, many)))
            for kind, (fixed, each) in times.items()
        },
        origin,
    )


# In float64; float32 takes between half of that and all. As timed on two cores of an AMD EPYC (Zen 4) and on an H200
# (docs/performance.md), to one digit.
TWO_CORES = _usual(
    "what is usual on two CPU cores",
    {
        EXPLICIT_PLAIN: (0.4, 0.3),
        EXPLICIT_GENERAL: (1.0, 0.7),
        EXPLICIT_CHANGING: (6.0, 3.0),
        RKL2_PLAIN: (6.0, 1.5),
        RKL2_GENERAL: (8.0, 4.0),
        ADI: (30.0, 30.0),
        EXACT: (100.0, 30.0),
        PRODUCT: (0.0, 0.7),
    },
)
H200 = _usual(
    "what is usual on an H200",
    {
        EXPLICIT_PLAIN: (0.6, 0.0007),
        EXPLICIT_GENERAL: (4.0, 0.002),
        EXPLICIT_CHANGING: (8.0, 0.02),
        RKL2_PLAIN: (3.0, 0.01),
        RKL2_GENERAL: (3.0, 0.02),
        ADI: (50.0, 0.1),
        EXACT: (50.0, 0.12),
        PRODUCT: (0.0, 0.0001),
    },
)
