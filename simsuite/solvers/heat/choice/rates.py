"""How long steps take: what `auto` compares.

A run is `Work`: so many times an amount of one kind, such as 128 steps of adi on 4 million cells. `Rates` say how many
seconds that is, by `trials` on the device that the run is on, or as is usual on a kind of device, which is enough to
see what is cheap on any and what is out of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.stepper_record import KindOfWork, Usual, Work
from simsuite.solvers.heat.steppers import kinds_of_work, stepper_record


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
    return stepper_record(stepper).work(steps, stages, made, rate_wanted)


def _usual(origin: str, of: Callable[[KindOfWork], Usual]) -> Rates:
    few, many = 1e4, 1e7
    times = {}
    for name, (_, kind) in kinds_of_work().items():
        usual = of(kind)
        times[name] = Times((few, many), tuple(1e-6 * usual.fixed + 1e-9 * usual.each * n for n in (few, many)))
    return Rates(times, origin)


TWO_CORES = _usual("what is usual on two CPU cores", lambda kind: kind.two_cores)
H200 = _usual("what is usual on an H200", lambda kind: kind.h200)
