"""What must hold between options, assets and time steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from simsuite.errors import Mistake
from simsuite.scenario.gbm.asset import Asset
from simsuite.scenario.gbm.option import Option
from simsuite.scenario.gbm.time import Time
from simsuite.words import counted

_PARTS = 10_000  # the largest denominator of a maturity as a share of all time
_DATES = {"fixings": "fixings", "dates": "monitoring dates", "exercise": "exercise dates"}


def option_mistakes(
    options: Sequence[Option], assets: Sequence[Asset], names: Sequence[str], time: Time
) -> list[Mistake]:
    """Mistakes of all options where they do not fit the assets or the time steps. names: the names of the assets."""
    return [
        replace(found, path=("option", i, *found.path))
        for i, option in enumerate(options)
        for found in _mistakes(option, assets, names, time)
    ]


def _mistakes(option: Option, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
    """The mistakes of one option, at paths relative to it."""
    if option.maturity is not None:
        wrong = time.date_mistake(option.maturity, "raise time.steps, or leave the option out")
        if wrong:
            message, help = wrong
            yield Mistake(("maturity",), message, help or "raise time.end: the last maturity is the end")
            return
    whole, time = time, time.until(option.maturity)
    for key, words in _DATES.items():
        count = getattr(option, key, None)
        if isinstance(count, int) and count > time.steps:
            message = f"{count} {words} do not fit on {counted(time.steps, 'time step')}"
            yield Mistake((key,), message, _fitting(option, count, whole))
    yield from option.mistakes(assets, names, time)


def _fitting(option: Option, count: int, whole: Time) -> str:
    """How to have as many dates. whole: the time of the run."""
    if option.maturity is None:
        return "raise time.steps, best to a multiple"
    share = Fraction(option.maturity / whole.end).limit_denominator(_PARTS)
    return f"raise time.steps, best to a multiple of {count * share.denominator // math.gcd(count, share.numerator)}"
