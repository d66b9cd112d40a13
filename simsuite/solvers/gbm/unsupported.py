"""What a Monte Carlo scenario may say, but the engine cannot do yet: refused, not computed as something else."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.errors import Mistake
from simsuite.scenario.gbm import American, Barrier, GbmScenario, Lookback, Option
from simsuite.solvers.gbm.jumps import MOST_A_STEP

_HELP = "leave it out, or take another value"


def not_yet(model: GbmScenario) -> list[Mistake]:
    """Empty if everything can be done."""
    found = list(_plain_mistakes(model))
    for i, asset in enumerate(model.asset):
        if asset.jumps is not None and asset.jumps.intensity * model.time.end / model.time.steps > MOST_A_STEP:
            found.append(_mistake(("asset", i, "jumps", "intensity"), f"more than {MOST_A_STEP:g} jumps in a step"))
    for i, option in enumerate(model.option):
        if model.output.risk is not None and option.holding and isinstance(option, American):
            found.append(_mistake(("option", i, "holding"), "the risk of American options"))
        if model.output.risk is not None and option.holding and _expected_only(option):
            found.append(_mistake(("option", i, "holding"), "the risk of barriers that are watched continuously"))
    return found


def _plain_mistakes(model: GbmScenario) -> Iterator[Mistake]:
    """Keys with values of which the engine knows one."""
    paths = model.paths
    if paths.sampling == "sobol":
        yield from _beside_sobol(model)
    for path, asked in (
        (("paths", "moment_matching"), paths.moment_matching),
        (("paths", "multilevel"), paths.multilevel),
    ):
        if asked:
            yield _mistake(path, f"`{path[1]}`")


def _expected_only(option: Option) -> bool:
    """Whether paths tell what is to be expected of its payoff, which has the same mean, but not what it pays."""
    return isinstance(option, Barrier) and option.monitoring == "continuous"


def _beside_sobol(model: GbmScenario) -> Iterator[Mistake]:
    """What takes paths to be independent, or random numbers besides those of steps."""
    for path, asked in (
        (("paths", "target_standard_error"), model.paths.target_standard_error > 0),
        (("output", "risk"), model.output.risk is not None),
        (("output", "exposure"), model.output.exposure),
    ):
        if asked:
            yield _mistake(path, f"`{path[1]}` by Sobol points")
    if model.time.scheme != "exact":
        yield _mistake(("time", "scheme"), f'scheme = "{model.time.scheme}" by Sobol points')
    for i, asset in enumerate(model.asset):
        if asset.jumps is not None:
            yield _mistake(("asset", i, "jumps"), "jumps by Sobol points")
        if asset.pays_cash:
            yield _mistake(("asset", i, "dividends"), "dividends in cash by Sobol points")
    for i, option in enumerate(model.option):
        if isinstance(option, Lookback) and option.monitoring == "continuous":
            yield _mistake(("option", i, "monitoring"), "continuous monitoring by Sobol points")
        if isinstance(option, American):
            yield _mistake(("option", i, "style"), "American options by Sobol points")


def _mistake(path: tuple[str | int, ...], what: str) -> Mistake:
    return Mistake(path, f"{what} cannot be computed yet", _HELP)
