"""How long steps take. The stepper `auto` compares plans by that.

The work of a run is a list of `Work`: each is a number of times an amount of one kind, such as 128 steps of adi on 4
million cells. `Rates` say how many seconds that takes. They are measured by `trials` on the device of the run, or are
those usual on a kind of device, which is enough to see what is cheap on any device and what is out of the question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.stepper_record import KindOfWork, Usual, Work
from simsuite.solvers.heat.steppers import kinds_of_work, stepper_record


@dataclass(frozen=True)
class Times:
    """Seconds for an amount of work, from measurements with increasing amounts. Between measurements, and beyond the
    first and the last one, the time follows straight lines through two of them. More work never takes less time: a
    measurement that says so counts with the time of the one before it."""

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
    """The times of all kinds of work on a device. times: by kind of work. origin: which device they were measured on,
    in words."""

    times: Mapping[str, Times]
    origin: str

    def seconds(self, work: Iterable[Work]) -> float:
        """The seconds that all of this work takes."""
        return sum(w.count * self.times[w.kind].at(w.amount) for w in work)


def work_of(stepper: str, steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    """The work of a run. rate_wanted: whether the rate of change is wanted, which the kernels for constant coefficients
    do not compute."""
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
