"""What must hold between options, assets and time steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from simsuite.errors import Mistake
from simsuite.expressions import ExpressionError
from simsuite.scenario.gbm.asset import Asset
from simsuite.scenario.gbm.functionals import parse_payoff
from simsuite.scenario.gbm.option import Asian, Barrier, Basket, Formula, Monitored, OnOne, OnTwo, Option
from simsuite.scenario.gbm.time import Time
from simsuite.words import counted

_DATES = {"fixings": "fixings", "dates": "monitoring dates", "exercise": "exercise dates"}


def option_mistakes(
    options: Sequence[Option], assets: Sequence[Asset], names: Sequence[str], time: Time
) -> list[Mistake]:
    """names: of the assets."""
    return [
        replace(found, path=("option", i, *found.path))
        for i, option in enumerate(options)
        for found in _mistakes(option, assets, names, time)
    ]


def _mistakes(option: Option, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
    """At paths relative to the option."""
    for key, words in _DATES.items():
        count = getattr(option, key, None)
        if isinstance(count, int) and count > time.steps:
            message = f"{count} {words} do not fit on {counted(time.steps, 'time step')}"
            yield Mistake((key,), message, "raise time.steps, best to a multiple")
    if isinstance(option, Asian) and isinstance(option.fixings, list):
        yield from _fixing_mistakes(option.fixings, time)
    if isinstance(option, OnOne):
        yield from _unknown(("asset",), option.asset, names)
        if option.asset is None or option.asset in names:
            asset = assets[0 if option.asset is None else names.index(option.asset)]
            yield from _mistakes_on_one(option, asset, time)
    if isinstance(option, OnTwo):
        for k, name in enumerate(option.assets):
            yield from _unknown(("assets", k), name, names)
    if isinstance(option, Basket) and option.weights is not None and len(option.weights) != len(assets):
        entries = counted(len(option.weights), "entry", "entries")
        yield Mistake(("weights",), f"has {entries} for {counted(len(assets), 'asset')}")
    if isinstance(option, Formula):
        try:
            parse_payoff(option.value, names)
        except ExpressionError as error:
            yield Mistake(("value",), error.message, error.help, error.column)


def _unknown(path: tuple[str | int, ...], name: str | None, names: Sequence[str]) -> Iterator[Mistake]:
    if name is not None and name not in names:
        yield Mistake(path, f"there is no asset {name!r}", f"there is {', '.join(map(repr, names))}")


def _fixing_mistakes(fixings: Sequence[float], time: Time) -> Iterator[Mistake]:
    before = 0
    for k, t in enumerate(fixings):
        wrong = time.date_mistake(t, "the price there is the spot: give it as one of past_fixings")
        step = time.nearest_step(t)
        if wrong:
            yield Mistake(("fixings", k), *wrong)
        elif step == before:
            message = f"the fixing at {t:g} falls on the same time step as the fixing at {fixings[k - 1]:g}"
            yield Mistake(("fixings", k), message, "raise time.steps")
        before = step


def _mistakes_on_one(option: OnOne, asset: Asset, time: Time) -> Iterator[Mistake]:
    if isinstance(option, Barrier) and option.is_reached(asset.spot):
        side, other = ("below", "up") if option.direction == "down" else ("above", "down")
        message = f"the barrier at {option.level:g} is reached from the start: the spot is {asset.spot:g}"
        help = f'direction = "{option.direction}" needs a level {side} the spot'
        turned = f'; or write direction = "{other}"' if option.level != asset.spot else ""
        yield Mistake(("level",), message, help + turned)
    if isinstance(option, Monitored) and option.monitoring == "continuous":
        why = _no_bridge(asset, time)
        if why:
            help = 'write monitoring = "discrete"'
            yield Mistake(("monitoring",), f"continuous monitoring goes by Brownian bridges, {why}", help)


def _no_bridge(asset: Asset, time: Time) -> str | None:
    """Why the logarithm of the price is no Brownian motion between two steps, if it is none."""
    if time.scheme != "exact":
        return f"which need the exact scheme, not {time.scheme}"
    if asset.pays_cash:
        return "which cash dividends break"
    return "which jumps break" if asset.jumps is not None else None
