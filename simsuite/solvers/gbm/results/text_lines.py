"""Prices and Greeks of options for people to read: a line for each, with its error, its unit, and what it is the
derivative by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simsuite.words import measured

_BY_ASSET = {  # text for each Greek by an asset
    "delta": "per unit of the price of {asset}",
    "gamma": "per unit of the price of {asset}, squared",
    "vega": "per 1.00 of the volatility of {asset}; per point of 0.01: {hundredth}",
}
_OF_ALL = {
    "rho": "per 1.00 of {rate}; per point of 0.01: {hundredth}",
    "theta": "per year that passes; per day: {daily}",
}
_RATE, _DISCOUNTING = "the rate", "market.rate, which discounts only"
NOT_ASKED = "not asked for: greeks = false"  # a reason for missing Greeks that is not shown
PRICE, DISCOUNTED = "price", "discounted mean"
_ERROR = "standard_error"
_NAME, _VALUE = 22, 24  # widths of columns
_DAYS = 365
_SMALL = 1e-4
_MOST_PLACES = 15


def worth(results: Mapping[str, Any]) -> str:
    """The name of the number that every option has: its price, or, if the scenario gives a drift of the real world, the
    discounted mean of its payoff."""
    return DISCOUNTED if "measure" in results else PRICE


def option_lines(option: Mapping[str, Any], assets: Sequence[str], worth: str = PRICE) -> list[str]:
    """The lines about one option of `results`. assets: their names, in order. worth: the name of the option's value. A
    Greek by an asset that the option does not depend on, 0 without an error, has no line."""
    low, high = option["ci95"]
    ends = ("unknown" if end is None else _digits(end, option["standard_error"]) for end in (low, high))
    years = f"{option['maturity']:.6g}" if "maturity" in option else ""
    ends_at = [f"{'maturity':{_NAME}} {measured(years, 'year')}"] if years else []
    lines = [*ends_at, _line(worth, option["price"], option["standard_error"], f"95 %: {' .. '.join(ends)}")]
    if "remark" in option:
        lines.append(f"{'':{_NAME}} {option['remark']}")
    rate = _RATE if worth == PRICE else _DISCOUNTING
    return [
        *lines, *_greeks(option, assets, rate), *_bumps(option, assets), *_exercise(option), *_unknown(option, worth)
    ]  # fmt: skip


def _greeks(option: Mapping[str, Any], assets: Sequence[str], rate: str) -> Iterator[str]:
    on = _assets_of(option, assets)
    for greek, note in _BY_ASSET.items():
        pairs = zip(assets, option.get(greek, ()), option.get(f"{greek}_standard_error", ()))
        for asset, value, error in pairs:
            if value is not None and (value != 0 or error != 0 or asset in on):
                yield _line(f"{greek} ({asset})", value, error, note.format(asset=asset, hundredth=_short(value / 100)))
    for greek, note in _OF_ALL.items():
        value = option.get(greek)
        if value is not None:
            words = note.format(rate=rate, hundredth=_short(value / 100), daily=_short(value / _DAYS))
            yield _line(greek, value, option.get(f"{greek}_standard_error"), words)


def _bumps(option: Mapping[str, Any], assets: Sequence[str]) -> Iterator[str]:
    """A line on the Greeks that were found by bumping, with the bumps."""
    told = []
    for greek, bump in option.get("bumps", {}).items():
        sizes = bump["size"]
        each = zip(assets, sizes) if isinstance(sizes, list) else (("", sizes),)
        told += [f"{greek}{f' ({asset})' if asset else ''} ± {_short(s)}" for asset, s in each if s is not None]
    if told:
        yield f"{'by bumping':{_NAME}} {', '.join(told)}"


def _assets_of(option: Mapping[str, Any], assets: Sequence[str]) -> set[str]:
    """The assets that the option depends on, as its deltas tell. For these, Greeks of 0 are shown, too."""
    pairs = zip(assets, option.get("delta", ()), option.get("delta_standard_error", ()))
    return {asset for asset, value, error in pairs if value is not None and (value != 0 or error != 0)}


def _unknown(option: Mapping[str, Any], worth: str) -> Iterator[str]:
    """Lines about Greeks and standard errors that were asked for and are not known, with the reasons."""
    of_errors: dict[str, list[str]] = {}
    of_greeks: dict[str, list[str]] = {}
    for name, reason in option.get("reasons", {}).items():
        if name.endswith(_ERROR):
            of_errors.setdefault(reason, []).append(name.removesuffix(_ERROR).removesuffix("_") or worth)
        elif reason != NOT_ASKED:
            of_greeks.setdefault(reason, []).append(name)
    for words, found in (("not estimated", of_greeks), ("error unknown", of_errors)):
        for reason, names in found.items():
            yield f"{words:{_NAME}} {', '.join(names)}: {reason}"


def _exercise(option: Mapping[str, Any]) -> Iterator[str]:
    if "exercise_probability" in option:
        error = option["exercise_probability_standard_error"]
        yield _line("exercised", option["exercise_probability"], error, "probability")


def _line(name: str, value: float, error: float | None, note: str) -> str:
    return f"{name:<{_NAME}} {with_error(value, error):<{_VALUE}} {note}".rstrip()


def with_error(value: float, error: float | None) -> str:
    """A value with two digits of its standard error: "10.399 ± 0.073"."""
    if error is None:
        return f"{value:.7g} ± unknown"
    if error == 0:
        return f"{value:.7g} (exact)"
    return f"{_digits(value, error)} ± {_digits(error, error) if error > _SMALL else f'{error:.1e}'}"


def _digits(value: float, error: float | None) -> str:
    """The value with as many digits as its error takes to have two; small numbers are in powers of 10."""
    if not error:
        return f"{value:.7g}"
    last = math.floor(math.log10(error)) - 1  # power of 10 of the last digit
    if abs(value) > _SMALL or error > _SMALL:
        return f"{value:.{min(max(-last, 0), _MOST_PLACES)}f}"
    first = math.floor(math.log10(max(abs(value), error)))
    return f"{value:.{first - last}e}" if value else "0"


def _short(value: float) -> str:
    return f"{value:.4g}"
