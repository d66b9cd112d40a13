"""Numbers in words, for the terminal and the log."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
LIKE_SHORT = 0.75  # how similar what was written has to be to names of a letter or two, see `closest`
_POWER = re.compile(r"([^\W\d_]+)(-?[\d.]+)?")  # a part of a unit as files have it
_LOOK_ALIKE = str.maketrans({"o": "0", "i": "1", "l": "1", "_": None, "-": None})


def printable(text: str, kept: str = "") -> str:
    """Text that cannot steer a terminal: characters that do not print are replaced by Python's escapes, except those in
    `kept`."""
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)


def with_prefix(value: float, unit: str) -> str:
    """``1.2e9, "B"`` as "1.2 GB"."""
    for size, prefix in PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def duration(seconds: float) -> str:
    """Seconds for people: "0.42 s", "12 s", "3 min 20 s", "2 h 05 min", "12 days", "300 years"."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    days = seconds / 86400
    return f"{days:.3g} days" if days < 1000 else f"{days / 365.25:.3g} years"


def counted(n: int, one: str, several: str | None = None) -> str:
    """ "1 step", "2 steps": a number with its noun. several: its plural, where that is not made by an s."""
    return f"{n} {one if n == 1 else several or one + 's'}"


def cell_in_words(column: int, row: int) -> str:
    """ "cell 3 along x, 0 along y": where a cell of a grid is, counted from 0 at the left and bottom edges."""
    return f"cell {column} along x, {row} along y"


def measured(number: str, unit: str) -> str:
    """ "0.5 s", "1 year", "2 years": a number as it is written, with its unit."""
    return f"{number} {unit}{'s' if unit == 'year' and number != '1' else ''}".rstrip()


def written_unit(unit: str) -> str:
    """A unit as files have it, "J m-1", "K m2 s-1", as people write it, "J/m", "K·m²/s"; "price" as "currency"."""
    if unit == "degC":
        return "°C"
    above: list[str] = []
    below: list[str] = []
    for part in unit.split():
        found = _POWER.fullmatch(part)
        if found is None:
            return unit
        power = float(found[2] or 1)
        raised = "" if abs(power) == 1 else {2.0: "²", 3.0: "³"}.get(abs(power), f"^{abs(power):g}")
        name = "currency" if found[1] == "price" else found[1]  # as all axes of prices have it
        (above if power > 0 else below).append(name + raised)
    divided = "·".join(below) if len(below) == 1 else f"({'·'.join(below)})"
    return "·".join(above) + (f"/{divided}" if below else "") if above else unit


def steps_in_words(steps: int, dt: Sequence[float] | None, unit: str) -> str:
    """ "404 steps of 0.0122 to 0.5 s", or with one length where all steps are equal.

    dt: the shortest and the longest step; None where no step was taken.
    """
    number = counted(steps, "step")
    if dt is None:
        return number
    lengths = dict.fromkeys(f"{length:.4g}" for length in dt)
    return f"{number} of {measured(' to '.join(lengths), unit)}"


def about(low: float, high: float | None) -> str:
    """ "some 40 to 400", or "some 40 or many more" if `high` is None. Each number has one digit, rounded so that the
    range becomes wider rather than narrower."""
    least = _one_digit(low, ROUND_FLOOR)
    return f"some {least} " + ("or many more" if high is None else f"to {_one_digit(high, ROUND_CEILING)}")


def _one_digit(value: float, rounding: str) -> str:
    """A positive number rounded to one significant digit and written as a whole number."""
    exact = Decimal(value)
    return f"{exact.quantize(Decimal(1).scaleb(max(exact.adjusted(), 0)), rounding):.0f}"


def more_than(limit: float, value: float) -> str:
    """A value that is larger than a limit, written with two digits, or with as many as show that it is larger."""
    for digits in range(2, 17):
        text = f"{value:.{digits}g}"
        if float(text) > limit:
            return text
    return repr(value)


def digits_apart(a: float, b: float, least: int) -> int:
    """How many digits two numbers need to be told apart; at least so many."""
    if a == b:
        return least
    return next((digits for digits in range(least, 17) if f"{a:.{digits}g}" != f"{b:.{digits}g}"), 17)


def methods_taken(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """The steppers that took the steps of a heat run which may take rkl2 or adi for each: one of the two, or both.
    Empty where none has taken a step yet, where that is not known, and for other runs.

    summary: what `run --json` prints; its "stepper" is what was planned."""
    steps, by_adi = summary.get("steps"), summary.get("results", {}).get("adi_steps")
    if summary.get("stepper") != "rkl2+adi" or not steps or by_adi is None:
        return ()
    return {0: ("rkl2",), steps: ("adi",)}.get(by_adi, ("rkl2", "adi"))


def end_in_words(summary: Mapping[str, Any]) -> str:
    """ "45 steps of 0.7 to 3.3 s, t = 100 s, all steps by rkl2": how far a run came, from what `run --json` prints."""
    unit = summary["units"].get("time", "")
    steps = steps_in_words(summary["steps"], summary.get("dt"), unit)
    at = f"{steps}, t = {measured(format(summary['time'], '.9g'), unit)}"
    taken = methods_taken(summary)
    return f"{at}, all steps by {taken[0]}" if len(taken) == 1 else at


def meant(name: str, known: Sequence[str]) -> str:
    """What may have been meant by an unknown name, and all that is known."""
    near = closest(name, known)
    return (f"did you mean {near}? " if near else "") + f"there are {', '.join(known)}"


def closest(name: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known name that another one was probably meant as: the same in small or capital letters, one that looks the
    same (`xO` for `x0`, with or without `_`), one with its two letters exchanged, or one that is spelt a little
    differently. least: how similar by difflib's ratio, from 0 to 1, names of the last sort have to be."""
    names = list(known)
    for form in (str.lower, looks, _exchanged):
        if (same := next((each for each in names if form(each) == form(name)), None)) is not None:
            return same
    by_lower = {each.lower(): each for each in reversed(names)}
    close = difflib.get_close_matches(name.lower(), by_lower, 1, least)
    return by_lower[close[0]] if close else None


def looks(name: str) -> str:
    """What names have in common that are hardly told apart: O and 0, l, I and 1, small and capital letters."""
    return name.lower().translate(_LOOK_ALIKE)


def _exchanged(name: str) -> str:
    """What two names of two letters in another order have in common."""
    return "".join(sorted(name.lower())) if len(name) == 2 else name
