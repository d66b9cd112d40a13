"""Colours of terminals: how many there are, and the escape sequences for them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

import numpy as np

NONE = -1  # the number of "no colour": the terminal's own


class Depth(Enum):
    """How many colours a terminal has: 16 million, 256, or too few for pictures."""

    TRUE = "true"
    INDEXED = "256"
    PLAIN = "plain"


def depth_of(environment: Mapping[str, str], encoding: str) -> Depth:
    """The colours of a terminal by the variables that terminals set: COLORTERM, TERM; none with NO_COLOR
    (https://no-color.org), nor where its encoding has no half blocks."""
    term = environment.get("TERM", "")
    try:
        "▀".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Depth.PLAIN
    if environment.get("NO_COLOR") or term in ("", "dumb"):
        return Depth.PLAIN
    if environment.get("COLORTERM") in ("truecolor", "24bit") or term.endswith("-direct"):
        return Depth.TRUE
    return Depth.INDEXED if "256color" in term else Depth.PLAIN


def rgb(text: str) -> int:
    """The number of a colour from six hexadecimal digits."""
    return int(text, 16)


# those of temperatures in pictures, at 0, 1/16 .. 1; between them colours are mixed
_TEMPERATURES = (
    *("300596", "4a03a0", "6200a7", "7902a8", "8f0da4", "a31d9a", "b52e8d", "c43f7f", "d25071"),
    *("df6164", "ea7357", "f3864a", "fa9b3d", "fdb030", "fdc827", "f8e125", "f0f921"),
)
SHADES = 128  # so that neighbouring cells often have the same colour, which is sent once


def shades() -> np.ndarray:
    """Numbers of colours from cold to hot. Returns (SHADES,)."""
    known = np.array([[int(text[i : i + 2], 16) for i in (0, 2, 4)] for text in _TEMPERATURES], np.float64)
    at = np.linspace(0, len(known) - 1, SHADES)
    red, green, blue = (np.rint(np.interp(at, np.arange(len(known)), known[:, i])).astype(int) for i in range(3))
    return (red << 16) | (green << 8) | blue


@lru_cache(4096)
def indexed(colour: int) -> int:
    """The nearest of the 256 colours: of the cube of 6 by 6 by 6 from 16 on, or of the greys from 232 on."""
    red, green, blue = colour >> 16 & 255, colour >> 8 & 255, colour & 255
    steps = (0, 95, 135, 175, 215, 255)
    nearest = [min(range(6), key=lambda i, part=part: abs(steps[i] - part)) for part in (red, green, blue)]  # type: ignore[misc]
    cube = 16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2]
    level = min(max(round(((red + green + blue) / 3 - 8) / 10), 0), 23)
    grey = 8 + 10 * level

    def apart(r: int, g: int, b: int) -> int:
        return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2

    return 232 + level if apart(grey, grey, grey) < apart(*(steps[i] for i in nearest)) else cube


def paint(colour: int, depth: Depth, behind: bool = False) -> str:
    """What makes characters that follow, or with `behind` the cells behind them, of this colour; within an escape
    sequence "select graphic rendition"."""
    kind = 48 if behind else 38
    if colour == NONE:
        return str(kind + 1)
    if depth is Depth.TRUE:
        return f"{kind};2;{colour >> 16 & 255};{colour >> 8 & 255};{colour & 255}"
    return f"{kind};5;{indexed(colour)}"
