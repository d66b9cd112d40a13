"""Checks as lines of text, each complete in itself, so that they can be printed as they come."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simsuite.verify.checks import Check
from simsuite.words import printable

WIDTHS = {"kind": 16, "name": 44, "measured": 12}
FANCY, PLAIN = ("✓", "✗"), ("ok", "OFF")
GREEN, RED, RESET = "\033[32m", "\033[31m", "\033[0m"


def header(fancy: bool = False) -> str:
    """The line with the heads of the columns that `line` prints."""
    return _row(" " * (1 if fancy else 3), "check", "of", "measured", "wanted")


def line(check: Check, fancy: bool = False) -> str:
    """A line about one check. fancy: whether it is for a terminal, with signs and colour; otherwise it is plain ASCII,
    unless the check's name is not.
    """
    mark = (FANCY if fancy else PLAIN)[not check.passed]
    mark = f"{GREEN if check.passed else RED}{mark}{RESET}" if fancy else f"{mark:<3}"
    return _row(mark, check.kind, printable(check.name), number(check.measured, _digits(check)), check.wanted)


def _digits(check: Check) -> int:
    """How many digits show whether a number is as close as it should be, where it should be "5 +- 0.02" or "5 +- 4 x
    0.01".
    """
    words = check.wanted.partition("+-")[2].split()
    try:
        within = float(words[-1])
        return max(4, math.floor(math.log10(abs(check.measured))) - math.floor(math.log10(within)) + 2)
    except (IndexError, ValueError, OverflowError):
        return 4


def number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, or three if it is very small or large."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else "inf"
    return f"{value:.{digits}g}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"


def summary(checks: Sequence[Check]) -> str:
    """A line that says how many checks of each kind have passed."""
    kinds = list(dict.fromkeys(check.kind for check in checks))
    counts = []
    for kind in kinds:
        of_kind = [check for check in checks if check.kind == kind]
        counts.append(f"{kind} {sum(check.passed for check in of_kind)}/{len(of_kind)}")
    passed = sum(check.passed for check in checks)
    return f"{passed} of {len(checks)} checks passed: {', '.join(counts)}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Lines that show rows of words in columns: the first column is aligned left, the others right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]) for row in rows
    )


def _row(mark: str, kind: str, name: str, measured: str, wanted: str) -> str:
    w = WIDTHS
    return f"{mark} {kind:<{w['kind']}} {name:<{w['name']}} {measured:>{w['measured']}}  {wanted}".rstrip()
