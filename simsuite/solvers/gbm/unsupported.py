"""What a Monte Carlo scenario may say, but the engine cannot do yet: refused, not computed as something else."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.errors import Mistake
from simsuite.scenario.gbm import Asian, European, GbmScenario, Schedule

_HELP = "leave it out, or take another value"


def not_yet(model: GbmScenario) -> list[Mistake]:
    """Empty if everything can be done."""
    found = [*_plain_mistakes(model), *_schedule_mistakes(model)]
    for i, asset in enumerate(model.asset):
        if asset.dividends:
            found.append(_mistake(("asset", i, "dividends"), "dividends at single dates"))
        if asset.jumps is not None:
            found.append(_mistake(("asset", i, "jumps"), "jumps"))
    for i, option in enumerate(model.option):
        if not isinstance(option, (European, Asian)):
            found.append(_mistake(("option", i, "style"), f'style = "{option.style}"'))
        if isinstance(option, Asian) and isinstance(option.fixings, list):
            found.append(_mistake(("option", i, "fixings"), "a list of fixings"))
        if isinstance(option, Asian) and option.past_fixings:
            found.append(_mistake(("option", i, "past_fixings"), "fixings before the start"))
    return found


def _plain_mistakes(model: GbmScenario) -> Iterator[Mistake]:
    """Keys with values of which the engine knows one."""
    run, paths, output = model.run, model.paths, model.output
    for path, given, known in (
        (("run", "precision"), run.precision, ("float64", "float32")),
        (("run", "kernel"), run.kernel, ("auto", "numba")),
        (("time", "scheme"), model.time.scheme, ("exact",)),
        (("paths", "sampling"), paths.sampling, ("pseudo",)),
    ):
        if given not in known:
            yield _mistake(path, f'{path[1]} = "{given}"')
    for path, asked in (
        (("paths", "target_standard_error"), paths.target_standard_error > 0),
        (("paths", "moment_matching"), paths.moment_matching),
        (("paths", "multilevel"), paths.multilevel),
        (("output", "risk"), output.risk is not None),
        (("output", "exposure"), output.exposure),
    ):
        if asked:
            yield _mistake(path, f"`{path[1]}`")


def _schedule_mistakes(model: GbmScenario) -> Iterator[Mistake]:
    named: list[tuple[tuple[str | int, ...], Schedule | None]] = [
        (("market", "rate"), model.market.rate),
        (("market", "drift"), model.market.drift),
    ]
    for i, asset in enumerate(model.asset):
        named += [(("asset", i, key), getattr(asset, key)) for key in ("volatility", "dividend_yield")]
    for path, schedule in named:
        if schedule is not None and not schedule.is_constant:
            yield _mistake(path, f"a {path[-1]} that changes with time")


def _mistake(path: tuple[str | int, ...], what: str) -> Mistake:
    return Mistake(path, f"{what} cannot be computed yet", _HELP)
