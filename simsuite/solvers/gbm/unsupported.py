"""What a Monte Carlo scenario may say, but the engine cannot do yet: refused, not computed as something else."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.errors import Mistake
from simsuite.scenario.gbm import American, GbmScenario

_HELP = "leave it out, or take another value"


def not_yet(model: GbmScenario) -> list[Mistake]:
    """Empty if everything can be done."""
    found = list(_plain_mistakes(model))
    for i, asset in enumerate(model.asset):
        if asset.pays_cash:
            found.append(_mistake(("asset", i, "dividends"), "cash dividends"))
        if asset.jumps is not None:
            found.append(_mistake(("asset", i, "jumps"), "jumps"))
    for i, option in enumerate(model.option):
        if isinstance(option, American):
            found.append(_mistake(("option", i, "style"), f'style = "{option.style}"'))
        if model.output.risk is not None and option.holding and isinstance(option, American):
            found.append(_mistake(("option", i, "holding"), "the risk of American options"))
    return found


def _plain_mistakes(model: GbmScenario) -> Iterator[Mistake]:
    """Keys with values of which the engine knows one."""
    paths = model.paths
    for path, given, known in (
        (("time", "scheme"), model.time.scheme, ("exact",)),
        (("paths", "sampling"), paths.sampling, ("pseudo",)),
    ):
        if given not in known:
            yield _mistake(path, f'{path[1]} = "{given}"')
    for path, asked in (
        (("paths", "moment_matching"), paths.moment_matching),
        (("paths", "multilevel"), paths.multilevel),
    ):
        if asked:
            yield _mistake(path, f"`{path[1]}`")


def _mistake(path: tuple[str | int, ...], what: str) -> Mistake:
    return Mistake(path, f"{what} cannot be computed yet", _HELP)
