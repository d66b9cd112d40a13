"""What is kept of each path besides its end, for the options: sums and extremes over dates, and what exercise brought
to an option that could be exercised on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np

MOST_SCHEDULES = 32  # a bit of the table for each


class Kind(IntEnum):
    """Kinds of functionals, numbered as in kinds.cuh and paths_cpu.py. S is an asset's price, y the noise of its
    logarithm (dynamics.py)."""

    SUM = 1  # the sum of S / S(0)
    LOGARITHMS = 2  # the sum of y
    LEAST = 3  # the least of log2(S / S(0))
    LARGEST = 4
    LOWEST = 5  # the lowest of log2(S / S(0)) at all times, see continuous.py
    HIGHEST = 6
    SURVIVAL = 7  # the probability that a level was never reached
    WEIGHTED = 8  # the sum of w S / S(0), where w is a function of the date (weights.py); goes with SUM
    NOISY = 9  # the sum of y S / S(0); goes with SUM
    AT_LEAST = 10  # w at the date of LEAST; 0 before the first date
    AT_LARGEST = 11
    SQUARES = 12  # the sum of w (y - LATEST)^2
    LATEST = 13  # y at the latest date, 0 before the first
    EXERCISED = (
        14  # what exercise brought, in money of the end and units of the spot; below 0 until then (exercise_policy.py)
    )
    AT_LOWEST = 15  # w where LOWEST is attained, as far between two dates as that is between their prices
    AT_HIGHEST = 16
    SLOPE = 17  # how SURVIVAL changes as the logarithm of each price moves by w
    AT_EXERCISED = 18  # w on the date of exercise, 0 until then


EXTREMES = frozenset((Kind.LEAST, Kind.LARGEST, Kind.LOWEST, Kind.HIGHEST))  # these are kept as logarithms to base 2
SAMPLED = frozenset((Kind.LOWEST, Kind.HIGHEST))  # these take random numbers of their own
LEANING = frozenset((Kind.AT_LOWEST, Kind.AT_HIGHEST))
CONTINUOUS = SAMPLED | LEANING | {Kind.SURVIVAL, Kind.SLOPE}  # those of all times are due at every step
_GOES_WITH = {Kind.WEIGHTED: Kind.SUM, Kind.NOISY: Kind.SUM, Kind.AT_LEAST: Kind.LEAST, Kind.AT_LARGEST: Kind.LARGEST}
_GOES_WITH |= {Kind.AT_LOWEST: Kind.LOWEST, Kind.AT_HIGHEST: Kind.HIGHEST}
_GOES_WITH |= {Kind.SQUARES: Kind.LATEST, Kind.SLOPE: Kind.SURVIVAL}


class Quantity(Enum):
    """What weights are functions of; see weights.py."""

    TIME = "time"
    VARIANCE = "variance"
    DRIFT = "drift"
    PRECISION = "precision"
    BEFORE_END = "before the end"


@dataclass(frozen=True)
class Weight:
    """The weight of a date: a quantity to some power, less a number."""

    quantity: Quantity
    power: int = 1
    less: float = 0.0

    @property
    def at_start(self) -> float:
        """The weight at the start, where shares of time and drifts are 0."""
        return 0.0**self.power - self.less


@dataclass(frozen=True)
class Dates:
    """Time steps at whose end a price is looked at: either `evenly` many of them up to the end, or those that are
    listed. until: the step with which the options end that look at them, None for the last."""

    evenly: int | None = None
    listed: tuple[int, ...] = ()
    until: int | None = None

    @classmethod
    def all(cls, n_steps: int) -> Dates:
        return cls(n_steps)

    @property
    def count(self) -> int:
        return len(self.listed) if self.evenly is None else self.evenly

    def steps(self, n_steps: int) -> np.ndarray:
        """The steps in increasing order, counted from 1. Evenly spaced ones are nearest to i n_steps / evenly, i = 1 ..
        evenly."""
        if self.evenly is None:
            return np.array(self.listed, np.int64)
        return (2 * n_steps * np.arange(1, self.evenly + 1, dtype=np.int64) + self.evenly) // (2 * self.evenly)


@dataclass(frozen=True)
class Right:
    """The right to exercise once: a call or a put, with the strike in units of the spot. degree: that of the polynomial
    that decides about waiting."""

    call: bool
    strike: float
    degree: int


@dataclass(frozen=True)
class Functional:
    """Something that is kept of each path. level: that of a SURVIVAL and its SLOPE, as log2(S / S(0)). exercised: the
    EXERCISED that an AT_EXERCISED goes with."""

    kind: Kind
    asset: int
    dates: Dates
    level: float = 0.0
    weight: Weight | None = None
    right: Right | None = None
    exercised: Functional | None = None

    @property
    def partner(self) -> Functional | None:
        """Another functional, of the same asset and dates, that this one needs; None if it needs none."""
        if self.kind not in _GOES_WITH:
            return self.exercised
        return Functional(_GOES_WITH[self.kind], self.asset, self.dates, self.level)

    @property
    def given(self) -> float:
        """The number that kernels are given for it: its level, or the weight at the start for a SLOPE."""
        return self.level if self.kind != Kind.SLOPE or self.weight is None else self.weight.at_start


@dataclass
class Functionals:
    """The functionals that some options need, each once."""

    n_steps: int
    found: list[Functional] = field(default_factory=list)

    def number(self, functional: Functional) -> int:
        """The number of a functional, which is added if it is new. The partner that it needs is added before it; only
        LATEST is added after SQUARES, which needs its value from before the date."""
        partner = functional.partner
        if partner is not None and functional.kind != Kind.SQUARES:
            self.number(partner)
        if functional not in self.found:
            self.found.append(functional)
        if functional.kind == Kind.SQUARES:
            self.number(Functional(Kind.LATEST, functional.asset, functional.dates))
        return self.found.index(functional)


def schedules(functionals: Sequence[Functional], n_steps: int) -> list[Dates]:
    """The sets of dates that are not all steps, each once; set number i has bit i of `due_table`."""
    return list(dict.fromkeys(f.dates for f in functionals if f.dates.count < n_steps))


def due_table(functionals: Sequence[Functional], n_steps: int, length: int) -> np.ndarray:
    """[step], padded with 0 to `length`: a bit for each of `schedules`, set where the end of the step is one of its
    dates."""
    table = np.zeros(length, np.uint32)
    for bit, dates in enumerate(schedules(functionals, n_steps)):
        table[dates.steps(n_steps) - 1] |= np.uint32(1 << bit)
    return table


def marks(steps: Sequence[int], block: int) -> list[tuple[int, int]]:
    """The blocks that contain some of these time steps, each with a bit set for every such step in it. block: steps of
    a block."""
    found: dict[int, int] = {}
    for step in steps:
        which, j = divmod(step - 1, block)
        found[which] = found.get(which, 0) | 1 << j
    return list(found.items())


def bits(functionals: Sequence[Functional], n_steps: int) -> list[int]:
    """For each functional, the bit of `due_table` that says when it is due; -1 if it is due at every step."""
    known = schedules(functionals, n_steps)
    return [known.index(f.dates) if f.dates in known else -1 for f in functionals]


def weighted(functionals: Sequence[Functional]) -> list[tuple[int, Weight, Dates]]:
    """The weights that some functionals need, as (asset, weight, dates), each once: number i is row i of
    `weights.weight_table`."""
    return list(dict.fromkeys((f.asset, f.weight, f.dates) for f in functionals if f.weight is not None))


def codes(functionals: Sequence[Functional], n_steps: int) -> list[tuple[int, int, int, int, int]]:
    """What kernels know of each functional: kind, asset, bit of `due_table`, row of its weight, and number of its
    partner, 0 if it has none."""
    rows = weighted(functionals)
    found = []
    for f, bit in zip(functionals, bits(functionals, n_steps)):
        row = 0 if f.weight is None else rows.index((f.asset, f.weight, f.dates))
        found.append((int(f.kind), f.asset, bit, row, functionals.index(f.partner) if f.partner is not None else 0))
    return found
