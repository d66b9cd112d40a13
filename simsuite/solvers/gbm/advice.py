"""What people often get wrong in Monte Carlo scenarios: said before a run, or where one comes to NaN."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.scenario.gbm import GbmScenario
from simsuite.scenario.schedule import Schedule

_WILD = 4.0  # volatilities from here on, 400 %, are hardly ever meant
_STEEP = 1.0  # rates, yields and drifts from here on, 100 % a year


def scale_warnings(scenario: GbmScenario) -> list[str]:
    """A sentence for each number that was probably meant in per cent."""
    market = scenario.market
    found = list(_in_per_cent("market.rate", market.rate, _STEEP))
    if market.drift is not None:
        found += _in_per_cent("market.drift", market.drift, _STEEP)
    for name, asset in zip(scenario.asset_names, scenario.asset):
        found += _in_per_cent(f"the volatility of {name!r}", asset.volatility, _WILD)
        found += _in_per_cent(f"the dividend_yield of {name!r}", asset.dividend_yield, _STEEP)
    return found


def _in_per_cent(what: str, curve: Schedule, limit: float) -> Iterator[str]:
    largest = max(curve.values, key=abs)
    if abs(largest) >= limit:
        yield f"{what} is {largest:g}, that is {100 * largest:g} %: if {largest:g} % is meant, write {largest / 100:g}"


def remedies(scenario: GbmScenario) -> list[str]:
    """What may have brought a price to Inf, or a payoff to NaN."""
    found = scale_warnings(scenario)
    if scenario.run.precision == "float32":
        found.append('sums along paths of float32 end at 3.4e38: try precision = "float64"')
    if any(option.style == "expression" for option in scenario.option):
        found.append("an option's expression may be no number for some prices, such as the logarithm of a negative one")
    return found or ["prices beyond 1e150 times the spot count as overflown: check rates, volatilities and time.end"]
