"""Numbers written in units and with digits that are easy to read."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from simsuite.words import written_unit


@dataclass(frozen=True)
class Unit:
    """A unit, and its scale: the value in this unit = the value in the file * scale."""

    name: str
    scale: float


_LENGTHS = (("km", 1e-3), ("m", 1.0), ("cm", 1e2), ("mm", 1e3), ("µm", 1e6), ("nm", 1e9))
_TIMES = (("years", 1 / 31_557_600), ("days", 1 / 86_400), ("h", 1 / 3600), ("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def length_unit(extent: float) -> Unit:
    """The unit for lengths up to `extent` metres."""
    return _unit(_LENGTHS, extent, 2.0 if extent < 1 else 1.0)


def time_unit(end: float) -> Unit:
    """The unit for times up to `end` seconds."""
    return _unit(_TIMES, end, 2.0 if end > 1 else 0.9)


def _unit(units: tuple[tuple[str, float], ...], extent: float, least: float) -> Unit:
    """The largest unit in which the extent is at least `least`; the base unit if there is none."""
    for name, scale in units:
        if extent * scale >= least:
            return Unit(name, scale)
    return Unit(*(units[-1] if extent > 0 else next(u for u in units if u[1] == 1.0)))


def rounded(value: float, digits: int = 4) -> str:
    """The shortest decimal with that many significant digits, a typographic minus and powers of ten as 10⁻⁸."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        mantissa = f"{mantissa} × 10{superscript(int(exponent))}"
    return mantissa.replace("-", "−")


def superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def contrast(low: float, high: float, precision: float) -> bool:
    """Whether numbers from low to high differ by more than rounding errors. precision: the relative one of a number."""
    return high - low > max(64 * precision * max(abs(low), abs(high)), sys.float_info.min)


def decades(values: np.ndarray) -> float:
    """How many powers of ten the positive numbers among `values` span, 0 when there are none."""
    positive = values[(values > 0) & np.isfinite(values)]
    return float(np.log10(positive.max()) - np.log10(positive.min())) if positive.size else 0.0


def shortened(text: str, limit: int = 24) -> str:
    """`text` in one line of at most `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def grouped(n: int) -> str:
    """A whole number with its digits in groups: 1048576 as 1 048 576."""
    return f"{n:,}".replace(",", "\u2009")


_PREFIXED = ("J", "W")  # the units that take a prefix, where they come first
_PREFIXES = (("G", 1e-9), ("M", 1e-6), ("k", 1e-3), ("", 1.0), ("m", 1e3), ("µ", 1e6))


def prefixed(extent: float, unit: str) -> Unit:
    """A unit as files have it, "J m-1", with the prefix that suits numbers up to `extent`, as people write it."""
    if unit.partition(" ")[0] not in _PREFIXED:
        return Unit(written_unit(unit), 1.0)
    prefix, scale = next((p for p in _PREFIXES if extent * p[1] >= 1), ("", 1.0))
    return Unit(prefix + written_unit(unit), scale)
