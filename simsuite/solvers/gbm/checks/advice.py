"""Warnings about what people often get wrong in Monte Carlo scenarios. They are given before a run, after it, or where
a run comes to NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from simsuite.scenario.gbm import GbmScenario, Time
from simsuite.scenario.schedule import Schedule
from simsuite.solvers.gbm.checks.moved_dates import moved_date_warnings
from simsuite.solvers.gbm.checks.rare_prices import rare_price_warnings
from simsuite.solvers.gbm.checks.unsupported import steps_ending_at

_WILD = 4.0  # volatilities from here on, 400 %, are hardly ever meant
_STEEP = 1.0  # rates, yields and drifts from here on, 100 % a year, are hardly ever meant
_ODD = 3  # largest odd factor of a number of Sobol points that still counts as even: 3 * 2^k points are good, too
_SHOWN = 3  # times of changes that a warning names at most
_ROUNDING = 1e-9  # tolerance of a time, relative to a step or to all time


def warnings_of(scenario: GbmScenario) -> list[str]:
    """Warnings, a sentence each, about what can be run but is hardly meant."""
    return [
        *scale_warnings(scenario),
        *_never_used(scenario),
        *rare_price_warnings(scenario),
        *_uneven_points(scenario),
        *_biased_between_steps(scenario),
        *moved_date_warnings(scenario),
        *_money_that_drifts(scenario),
    ]


def scale_warnings(scenario: GbmScenario) -> list[str]:
    """Warnings, a sentence each, about numbers that were probably meant in per cent."""
    return [text for what, curve, limit in _curves(scenario) for text in _in_per_cent(what, curve, limit)]


def _curves(scenario: GbmScenario) -> Iterator[tuple[str, Schedule, float]]:
    """Yields each number or schedule that may change in time: its name, itself, and the value from which on it is
    hardly ever meant."""
    market = scenario.market
    yield "market.rate", market.rate, _STEEP
    if market.drift is not None:
        yield "market.drift", market.drift, _STEEP
    for name, asset in zip(scenario.asset_names, scenario.asset):
        yield f"the volatility of {name!r}", asset.volatility, _WILD
        yield f"the dividend_yield of {name!r}", asset.dividend_yield, _STEEP


def _in_per_cent(what: str, curve: Schedule, limit: float) -> Iterator[str]:
    largest = max(curve.values, key=abs)
    if abs(largest) >= limit:
        yield f"{what} is {largest:g}, that is {100 * largest:g} %: if {largest:g} % is meant, write {largest / 100:g}"


def _never_used(scenario: GbmScenario) -> Iterator[str]:
    """Warnings about values that a schedule takes only after the end of the run."""
    end = scenario.time.end
    for what, curve, _ in _curves(scenario):
        late = [t for t in curve.times if t > end * (1 + _ROUNDING)]
        if late:
            yield (
                f"{what} has a value from t = {late[0]:g} on, after the end at {end:g}: it is never used; "
                "times are in years"
            )


def _uneven_points(scenario: GbmScenario) -> Iterator[str]:
    """Warnings about a number of Sobol points per replicate that is far from a power of 2, so that the last points
    leave gaps between the others. Runs with a target stop at powers of 2 anyway."""
    paths = scenario.paths
    if paths.sampling != "sobol" or paths.target_standard_error > 0:
        return
    points = paths.count // paths.scrambles
    if points // (points & -points) > _ODD:
        fewer = 1 << (points.bit_length() - 1)
        yield (
            f"a replicate has {points} Sobol points, which is no power of 2, so that they are less even: with "
            f"paths.count = {fewer * paths.scrambles} ({paths.scrambles} replicates of {fewer}) errors are often "
            f"smaller, and with {2 * fewer * paths.scrambles} nearly always"
        )


def _money_that_drifts(scenario: GbmScenario) -> Iterator[str]:
    """Warnings about assets without volatility, which stand for money, but grow like shares."""
    market, names = scenario.market, scenario.asset_names
    if market.drift is None or market.drift == market.rate:
        return
    still = [repr(name) for name, asset in zip(names, scenario.asset) if not any(asset.volatility.values)]
    if still:
        have, grow = ("has", "grows") if len(still) == 1 else ("have", "grow")
        yield (
            f"{', '.join(still[:_SHOWN])} {have} no volatility, but {grow} at market.drift like every price, not at "
            "market.rate: money that bears interest needs a run without market.drift"
        )


def _biased_between_steps(scenario: GbmScenario) -> Iterator[str]:
    """Warnings about assets that options watch at all times, if the law of the price within a step is not that of a
    Brownian bridge."""
    names, time = scenario.asset_names, scenario.time
    watching: dict[int, list[str]] = {}
    for name, option in zip(scenario.option_names, scenario.option):
        if option.watched_continuously:
            watching.setdefault(option.asset_numbers(names)[0], []).append(repr(name))
    for a, options in watching.items():
        changes = _bends_within_steps(scenario, a)
        if changes:
            watch, prices = ("watches", "its price is") if len(options) == 1 else ("watch", "their prices are")
            keys = [key for key, curve in _moving(scenario, a) if _changes_at(curve, changes)]
            change = "changes" if len(keys) == 1 else "change"
            yield (
                f"{', '.join(options)} {watch} {names[a]!r} at all times, but {' and '.join(keys)} {change} at "
                f"{_moments(changes, time)}: {prices} biased, as between the ends of a step growth and volatility are "
                f"taken to be constant; {steps_ending_at(changes, time.end, time.steps, changes[0])}"
            )


def _moving(scenario: GbmScenario, a: int) -> Iterator[tuple[str, Schedule]]:
    """Yields the schedules that move an asset's price, with their names."""
    market, asset, name = scenario.market, scenario.asset[a], scenario.asset_names[a]
    if market.drift is None:
        yield "market.rate", market.rate
        yield f"the dividend_yield of {name!r}", asset.dividend_yield
    else:
        yield "market.drift", market.drift
    yield f"the volatility of {name!r}", asset.volatility


def _changes_at(curve: Schedule, times: list[float]) -> bool:
    """Whether the schedule changes its value at any of these times."""
    pieces = zip(curve.times[1:], pairwise(curve.values))
    return any(t in times and before != after for t, (before, after) in pieces)


def _moments(times: list[float], time: Time) -> str:
    """The times in words, with the steps within which they lie."""
    shown = [f"t = {t:g} (within time step {math.floor(t / time.end * time.steps) + 1})" for t in times[:_SHOWN]]
    return ", ".join(shown) + (" and later" if len(times) > _SHOWN else "")


def _bends_within_steps(scenario: GbmScenario, a: int) -> list[float]:
    """Times within a step at which the ratio of growth to squared volatility changes. As long as it does not change,
    the logarithm of the price is a Brownian motion with drift in the time measured by its variance, so that between the
    ends of a step it is a Brownian bridge."""
    market, asset, time = scenario.market, scenario.asset[a], scenario.time
    knots = sorted({t for _, curve in _moving(scenario, a) for t in curve.times if t < time.end} | {time.end})

    def bend(t: float) -> float:
        """The ratio of growth to squared volatility at a time; NaN where the price stands still."""
        growth = market.rate.at(t) - asset.dividend_yield.at(t) if market.drift is None else market.drift.at(t)
        variance = asset.volatility.at(t) ** 2
        return growth / variance if variance else growth * math.inf

    slopes = [bend((left + right) / 2) for left, right in pairwise(knots)]
    bent = [t for t, one, next in zip(knots[1:-1], slopes, slopes[1:]) if not math.isclose(one, next)]
    return [t for t in bent if abs((place := t / time.end * time.steps) - round(place)) > _ROUNDING * time.steps]


def blamed(scenario: GbmScenario, asset: int) -> str:
    """What a NaN or Inf may be in, of which only the asset is known."""
    name = f"asset {scenario.asset_names[asset]!r}"
    if not scenario.option:
        return name
    either = f"{name}, in its price or in what an option on it pays"
    return f"{either}, or in a Greek," if any(option.greeks for option in scenario.option) else f"{either},"


def remedies(scenario: GbmScenario) -> list[str]:
    """Sentences about what may have brought a price to Inf, or a payoff to NaN."""
    found = scale_warnings(scenario)
    if scenario.run.precision == "float32":
        found.append('sums along paths of float32 end at 3.4e38: try precision = "float64"')
    if any(option.style == "expression" for option in scenario.option):
        found.append("an option's expression may be no number for some prices, such as the logarithm of a negative one")
    if any(option.greeks for option in scenario.option):
        found.append("Greeks may overflow where prices do not: greeks = false in [[option]] leaves them out")
    return found or ["prices beyond 1e150 times the spot count as overflown: check rates, volatilities and time.end"]
