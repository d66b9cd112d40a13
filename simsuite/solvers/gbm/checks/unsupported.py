"""Refuses what a Monte Carlo scenario may say but the engine cannot do yet, instead of computing something else."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.gbm import Barrier, GbmScenario, Lookback, Option
from simsuite.solvers.gbm.market.jumps import MOST_A_STEP

_HELP = "leave it out, or take another value"
_WITHOUT_RISK = "leave out its holding, or the risk of [output]{}"
_PSEUDO = 'write sampling = "pseudo"'
_UNLIKE = 1e-9  # tolerance of 1 - cos^2 of two volatilities within a step: rounding of dates causes less
_ROUNDING = 1e-12
_MOST_TIMES = 1000  # largest number of steps, as a multiple of those given, that is proposed


def require_supported(model: GbmScenario) -> None:
    """Raises ScenarioError if the engine cannot do what the scenario asks for."""
    missing = not_yet(model)
    if missing:
        raise ScenarioError(missing)


def not_yet(model: GbmScenario) -> list[Mistake]:
    """All that the engine cannot do of what the scenario asks for; empty if it can do everything."""
    found = [*_plain_mistakes(model), *_unlike_volatilities(model)]
    for i, asset in enumerate(model.asset):
        if asset.jumps is not None and asset.jumps.intensity * model.time.end / model.time.steps > MOST_A_STEP:
            found.append(_mistake(("asset", i, "jumps", "intensity"), f"more than {MOST_A_STEP:g} jumps in a step"))
    for i, option in enumerate(model.option):
        if model.output.risk is not None and option.holding and option.exercised_early:
            what = "the risk of options that may be exercised early"
            found.append(_mistake(("option", i, "holding"), what, _WITHOUT_RISK.format("")))
        if model.output.risk is not None and option.holding and _expected_only(option):
            what = "the risk of barriers that are watched continuously"
            found.append(
                _mistake(("option", i, "holding"), what, _WITHOUT_RISK.format(', or take monitoring = "discrete"'))
            )
    return found


def _plain_mistakes(model: GbmScenario) -> Iterator[Mistake]:
    """Mistakes in keys of which the engine knows a single value."""
    paths = model.paths
    if paths.sampling == "sobol":
        yield from _beside_sobol(model)
    if paths.multilevel:
        yield from _beside_multilevel(model)
    for i, option in enumerate(model.option):
        if model.time.until(option.maturity).steps < model.time.steps:
            if option.watched_continuously:
                help = 'leave maturity out, or write monitoring = "discrete"'
                yield _mistake(("option", i, "maturity"), "continuous monitoring that ends before time.end", help)
            if paths.sampling == "sobol":
                yield _mistake(("option", i, "maturity"), "a maturity before time.end by Sobol points", _PSEUDO)
            if paths.multilevel:
                what = "a maturity before time.end by multilevel Monte Carlo"
                yield _mistake(("option", i, "maturity"), what, "leave it out, or leave multilevel out")


def _unlike_volatilities(model: GbmScenario) -> Iterator[Mistake]:
    """Steps have normal increments with one correlation, rho. Where the volatilities of two assets do not change in
    proportion within a step, the exact increments have the correlation rho times the cosine of the angle between both
    volatilities in L2 of that step. Such scenarios are refused."""
    rows, end, n = model.market.correlation, model.time.end, model.time.steps
    if rows is None or model.time.scheme != "exact":
        return
    curves = [asset.volatility for asset in model.asset]
    changes = sorted({t for curve in curves for t in curve.times if 0 < t < end})
    for k in sorted({math.floor(t / end * n) for t in changes}):
        knots = np.array([end * k / n, *(t for t in changes if end * k / n < t < end * (k + 1) / n), end * (k + 1) / n])
        middles = (knots[1:] + knots[:-1]) / 2
        sigma = np.array([[curve.at(t) for t in middles] for curve in curves]) * np.sqrt(np.diff(knots))
        square = np.sum(sigma**2, axis=1)
        most = np.outer(square, square)
        unlike = (most - (sigma @ sigma.T) ** 2 > _UNLIKE * most) & (np.array(rows) != 0)
        if unlike.any():
            pair = [int(a) for a in np.argwhere(unlike)[0]]
            a, b = sorted(pair, key=lambda a: float(np.ptp([curves[a].at(t) for t in middles])), reverse=True)
            piece, at = next((i, t) for i, t in enumerate(curves[a].times) if knots[0] < t < knots[-1])
            message = (
                f"the volatility of {model.asset_names[a]!r} changes within a step, where its correlation with "
                f"{model.asset_names[b]!r} is then less: that cannot be computed yet"
            )
            yield Mistake(("asset", a, "volatility", piece, 0), message, steps_ending_at(changes, end, n, at))
            return


def steps_ending_at(changes: list[float], end: float, n: int, at: float) -> str:
    """A sentence that proposes what to do about volatilities that change within steps. It names the end of a step that
    is nearest to the change at time `at`, with all digits, as a rounded date may miss it by little; and a number of
    steps with which all changes fall on ends of steps, if there is one."""
    nearest = min(max(round(at / end * n), 1), n - 1)  # a change at the very end would have no effect
    moved = "let it change at the end of a step" + (f" ({end * nearest / n!r}, not {at!r})" if nearest else "")
    for m in range(1, _MOST_TIMES):
        if all(abs(t / end * n * m - round(t / end * n * m)) < _ROUNDING * n * m for t in changes):
            return f"{moved}, or set time.steps = {n * m}"
    return moved


def _expected_only(option: Option) -> bool:
    """Whether paths give only the conditional expectation of the option's payoff, which has the same mean, and not the
    payoff itself."""
    return isinstance(option, Barrier) and option.monitoring == "continuous"


def _beside_sobol(model: GbmScenario) -> Iterator[Mistake]:
    """Mistakes in what cannot be combined with Sobol points: what needs independent paths, or random numbers besides
    those of the steps."""
    for key, asked in (("risk", model.output.risk is not None), ("exposure", model.output.exposure)):
        if asked:
            yield _mistake(("output", key), f"`{key}` by Sobol points", f"leave it out, or {_PSEUDO}")
    scheme = model.time.scheme
    if scheme != "exact":
        help = f'{_PSEUDO}, or scheme = "exact"'
        yield _mistake(("time", "scheme"), f'scheme = "{scheme}" by Sobol points', help)
    for i, asset in enumerate(model.asset):
        if asset.jumps is not None:
            yield _mistake(("asset", i, "jumps"), "jumps by Sobol points", f"{_PSEUDO}, or leave jumps out")
        if asset.pays_cash:
            help = f"{_PSEUDO}, or a `proportion` in place of each `cash`"
            yield _mistake(("asset", i, "dividends"), "dividends in cash by Sobol points", help)
    for i, option in enumerate(model.option):
        if isinstance(option, Lookback) and option.watched_continuously:
            help = f'{_PSEUDO}, or monitoring = "discrete"'
            yield _mistake(("option", i, "monitoring"), "continuous monitoring of lookbacks by Sobol points", help)
        if option.exercised_early:
            yield _mistake(("option", i, "style"), "American options by Sobol points", _PSEUDO)


def _beside_multilevel(model: GbmScenario) -> Iterator[Mistake]:
    """Mistakes in what cannot be combined with multilevel runs: what is not the mean of a payoff, or needs random
    numbers besides those of the steps. Continuous monitoring is allowed with the exact scheme only."""
    if model.paths.sampling == "sobol":
        yield _mistake(("paths", "multilevel"), "`multilevel` by Sobol points", f"leave it out, or {_PSEUDO}")
    for key, asked in (("risk", model.output.risk is not None), ("exposure", model.output.exposure)):
        if asked:
            yield _mistake(("output", key), f"`{key}` by multilevel Monte Carlo")
    for i, asset in enumerate(model.asset):
        if asset.jumps is not None:
            yield _mistake(("asset", i, "jumps"), "jumps by multilevel Monte Carlo")
    for i, option in enumerate(model.option):
        if option.exercised_early:
            yield _mistake(("option", i, "style"), "American options by multilevel Monte Carlo")


def _mistake(path: tuple[str | int, ...], what: str, help: str = _HELP) -> Mistake:
    return Mistake(path, f"{what} cannot be computed yet", help)
