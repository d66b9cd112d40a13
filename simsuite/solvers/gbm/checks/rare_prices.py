"""Warns of assets whose mean is dominated by prices so high that hardly any path reaches them, and says what helps.

If the logarithm at the end has the standard deviation s, the mean of the price is dominated by paths that are s
deviations up, and the mean of its square by those 2 s up. The mean over n random paths has the relative standard error
sqrt((e^{s^2} - 1) / n). Where that is 10 %, standard errors from the paths are a third to a half of it in the median
(s from 2.5 to 3.6), and where it is 1 %, 0.8 of it (s = 2.5): so that is how many paths are proposed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.checks.alternatives import RANDOM, goes
from simsuite.solvers.gbm.results.text_lines import with_error
from simsuite.solvers.gbm.style_record import style_of
from simsuite.words import measured

_RARE = 2.5  # deviations of the logarithm from which on there is a warning
_SETTLED = {"pseudo": 0.01, "sobol": 0.1}  # relative error of the mean that the proposed number of paths is to reach
_MOST_PATHS = 1e10  # hardly anybody makes more paths
_FAR_OFF = 5.0  # standard errors from which on a mean counts as missed
_MISSED = 0.5  # relative error from which on a mean counts as missed if its standard error is not known
_INEXACT = 1e-5  # relative tolerance of a mean: more than what sums in float32 can lose
_HIGH = "what gains by high prices, such as calls,"


def rare_price_warnings(scenario: GbmScenario) -> Iterator[str]:
    """A sentence for each asset whose mean is dominated by prices that hardly any path reaches. Standard errors by
    Sobol points take such prices into account, so with these the sentence comes only if the error is as large as the
    mean."""
    count, end = scenario.paths.count, scenario.time.end
    for a, name in enumerate(scenario.asset_names):
        deviation = _deviation(scenario, a)
        sobol = scenario.paths.sampling == "sobol"
        if deviation <= _RARE or (_error(deviation, count) < 1 if sobol else _enough(deviation, "pseudo") <= count):
            continue
        what = f"{name!r} has a volatility of {deviation:.3g} over {measured(f'{end:g}', 'year')}"
        if sobol:
            few = f"hardly any of {count} points carries its mean, and"
            found = f"{few} standard errors of {_HIGH} are larger than prices, or unknown"
        else:
            few = "few paths carry its mean, and with too few of them"
            found = f"{few} standard errors and ci95 of {_HIGH} are far too small"
        yield f"{what}: {found}; {_remedies(scenario, deviation, True)}"


def missed_means(scenario: GbmScenario, results: Mapping[str, Any]) -> list[str]:
    """A sentence for each asset whose mean over the paths differs from its known value by far more than the standard
    error explains."""
    assets = results.get("assets", {})
    return [
        _missed(scenario, a, assets[name])
        for a, name in enumerate(scenario.asset_names)
        if "mean_exact" in assets.get(name, {}) and _is_far_off(assets[name])
    ]


def _is_far_off(asset: Mapping[str, Any]) -> bool:
    error, exact = asset["mean_standard_error"], asset["mean_exact"]
    if asset["mean"] == 0:  # all prices were too small to be told from 0
        return True
    off = abs(asset["mean"] - exact)
    return bool(off > (_MISSED * exact if error is None else _FAR_OFF * error + _INEXACT * exact))


def _missed(scenario: GbmScenario, a: int, asset: Mapping[str, Any]) -> str:
    name, exact = scenario.asset_names[a], asset["mean_exact"]
    sobol, error = scenario.paths.sampling == "sobol", asset["mean_standard_error"]
    mean = f"{asset['mean']:.5g}" if sobol else with_error(asset["mean"], error)
    remedies = _remedies(scenario, _deviation(scenario, a), False)
    small = "too small, too" if error is not None else "too small, or unknown"
    too_small = "" if sobol else f", and standard errors and ci95 of {_HIGH} are {small}"
    return (
        f"the mean of {name!r} over these {'points' if sobol else 'paths'} is {mean}, but {exact:.5g} is exact: hardly "
        f"any of them has the high prices that carry it{too_small}; {remedies}"
    )


def _remedies(scenario: GbmScenario, deviation: float, before: bool) -> str:
    """What can be done about it. before: whether the run is still to come; only then are Sobol points proposed."""
    found, count = [], scenario.paths.count
    if not scenario.option or any(style_of(option).has_parity(option) for option in scenario.option):
        found.append("price the put and go by put-call parity")
    pseudo = scenario.paths.sampling == "pseudo"
    if before and pseudo and _error(deviation, count) < 1 and goes(scenario, {"sampling": "sobol", **RANDOM}):
        found.append('take sampling = "sobol", whose errors count such paths in')
    enough = _enough(deviation, scenario.paths.sampling)
    if enough <= _MOST_PATHS:
        found.append(f"take {enough:.2g} paths" if enough > count else "take more paths")
    found.append("take fewer years")
    return f"{', '.join(found[:-1])}, or {found[-1]}" if len(found) > 1 else found[0]


def _enough(deviation: float, sampling: str) -> float:
    """The number of random paths, rounded up to two digits, over which the mean has the relative error _SETTLED."""
    paths = (math.exp(min(deviation**2, 700.0)) - 1) / _SETTLED[sampling] ** 2
    digit = 10.0 ** (math.floor(math.log10(paths)) - 1)
    return math.ceil(paths / digit) * digit


def _error(deviation: float, paths: int) -> float:
    """Relative standard error of a mean over random paths."""
    return math.sqrt(math.exp(min(deviation**2, 700.0)) / paths)


def _deviation(scenario: GbmScenario, a: int) -> float:
    end = scenario.time.end
    return scenario.asset[a].volatility.root_mean_square(end) * math.sqrt(end)
