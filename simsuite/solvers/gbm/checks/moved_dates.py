"""Warns of dates that fall between two time steps: each is moved to the nearer one, and one sentence says so, with the
distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simsuite.scenario.gbm import GbmScenario, Time
from simsuite.solvers.gbm.payoffs.functionals import Dates
from simsuite.solvers.schedule import frame_times
from simsuite.words import measured

_ROUNDING = 1e-9  # tolerance, relative to all time, within which a date counts as on a step
_SHOWN = 3  # options, assets and frames that are named at most
_DAYS = 365
_MOST_STEPS = 100_000  # largest number of steps that is proposed
_DENOMINATOR = 10_000  # largest denominator of a date as a fraction of all time


@dataclass(frozen=True)
class _Schedule:
    """The dates of an option, asset or output. what: whose dates they are. off: the most, in years, by which one of
    them is moved. parts: the number of equal parts of all time at whose ends all the dates lie; None if there is no
    such reasonable number."""

    what: str
    off: float
    parts: int | None


def moved_date_warnings(scenario: GbmScenario) -> Iterator[str]:
    """Yields one sentence if any dates are moved."""
    time, schedules = scenario.time, list(_schedules(scenario))
    moved = [schedule for schedule in schedules if schedule.off > _ROUNDING * time.end]
    if not moved:
        return
    named = ", ".join(f"{schedule.what} by {_length(schedule.off)}" for schedule in moved[:_SHOWN])
    more = f" and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else ""
    yield f"dates between two time steps are taken at the nearer one: {named}{more}{_cure(schedules, time.steps)}"


def _length(years: float) -> str:
    days = years * _DAYS
    return f"up to {measured(f'{years:.3g}', 'year')}" + (f" ({days:.3g} days)" if 0.05 <= days < _DAYS else "")


def _cure(schedules: list[_Schedule], steps: int) -> str:
    """Proposes a number of steps, no less than now, with which all dates fall on steps."""
    parts = [schedule.parts for schedule in schedules]
    if any(count is None for count in parts):
        return ""
    common = math.lcm(*(count for count in parts if count is not None))
    found = -(-steps // common) * common
    return f"; with time.steps = {found} all are on steps" if found <= _MOST_STEPS else ""


def _schedules(scenario: GbmScenario) -> Iterator[_Schedule]:
    time = scenario.time
    for name, option in zip(scenario.option_names, scenario.option):
        words, dates = option.own_dates
        if option.maturity is not None:
            yield _listed(f"maturity of {name!r}", [option.maturity], time)
        if isinstance(dates, int):
            own = time.until(option.maturity)
            steps = Dates(dates).steps(own.steps)
            off = np.abs(np.arange(1, dates + 1) / dates - steps / own.steps).max()
            parts = dates if own is time else _parts([own.end / time.end / dates])
            yield _Schedule(f"{words} of {name!r}", float(off) * own.end, parts)
        elif dates:
            yield _listed(f"{words} of {name!r}", dates, time)
    for name, asset in zip(scenario.asset_names, scenario.asset):
        if asset.dividends:
            yield _listed(f"dividends of {name!r}", [dividend.time for dividend in asset.dividends], time)
    output = scenario.output
    if output.times is not None:
        times = [t for t in output.times if 0 < t < time.end]
        if times:
            yield _listed("frames of output.times", times, time)
    elif output.every is not None and output.every < time.end:
        shares = np.array(frame_times(output, time.end)) / time.end
        off = np.abs(shares - np.rint(shares * time.steps) / time.steps).max()
        yield _Schedule("frames of output.every", float(off) * time.end, _parts([output.every / time.end]))


def _listed(what: str, times: list[float], time: Time) -> _Schedule:
    off = max(abs(t - time.end * (time.nearest_step(t) / time.steps)) for t in times)
    return _Schedule(what, off, _parts([t / time.end for t in times]))


def _parts(shares: list[float]) -> int | None:
    """The number of equal parts of all time at whose ends these dates lie, given as shares of all time; None if there
    is none."""
    near = [Fraction(share).limit_denominator(_DENOMINATOR) for share in shares]
    if any(abs(float(fraction) - share) >= _ROUNDING for fraction, share in zip(near, shares)):
        return None
    return math.lcm(*(fraction.denominator for fraction in near))
