"""Fields, fans and trajectories as lines of characters: in colours, or in plain ones where there are none."""

from __future__ import annotations

import math

import numpy as np

from simsuite.cli.terminals.colours import NONE, SHADES, Depth, paint, rgb, shades
from simsuite.cli.terminals.half_blocks import RESET, lines_of
from simsuite.cli.terminals.wrapping import columns_of
from simsuite.watching.newest import Fan, Field, Picture, Size, Trajectories

RAMP = " .:-=+*#%@"  # from cold to hot, where there are no colours
_BANDS = ("1d3557", "2f6690", "5fa8d3", "9ad1f5")  # of a fan, from its edge to its middle
_BAND_CHARACTERS = ".:+#"
_MEDIAN, _MEDIAN_CHARACTER = rgb("fff3b0"), "@"
_LINES = tuple(map(rgb, ("4cc9f0", "f9844a", "90be6d", "f94144", "c77dff", "f9c74f")))
_LINE_CHARACTERS = "abcdef"
_LEAST = Size(8, 3)  # a smaller picture tells nothing


def draw(picture: Picture, room: Size, depth: Depth) -> list[str]:
    """The picture with its scale, in at most `room.rows` lines of at most `room.columns` columns; no lines where it
    cannot be told from that."""
    if isinstance(picture, Field):
        return _field(picture, room, depth)
    return _chart(picture, room, depth)


# ---- fields


def _field(field: Field, room: Size, depth: Depth) -> list[str]:
    columns, lines = _fitting(field.ratio, Size(room.columns, room.rows - 1))
    if columns < 2 or lines < 1 or room.rows < _LEAST.rows:
        return []
    known = field.values[np.isfinite(field.values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)
    rows = lines if depth is Depth.PLAIN else 2 * lines
    points = _resampled(field.values, rows, columns)[::-1]  # the bottom edge comes last
    if depth is Depth.PLAIN:
        drawn = [
            "".join(RAMP[n] if n >= 0 else "?" for n in row) for row in _levels(points, low, high, len(RAMP)).tolist()
        ]
        drawn = [f"|{row}|" for row in drawn] if columns + 2 <= room.columns else drawn
    else:
        levels = _levels(points, low, high, SHADES)
        drawn = lines_of(np.where(levels >= 0, shades()[levels], NONE), depth)
    return [*drawn, *_scale(low, high, field.unit, room.columns, depth)]


def _fitting(ratio: float, room: Size) -> tuple[int, int]:
    """Columns and lines of a picture of that width over height; a character is twice as high as wide."""
    columns, lines = room.columns, round(room.columns / ratio / 2)
    if lines > room.rows:
        columns, lines = round(room.rows * 2 * ratio), room.rows
    return min(max(columns, 2), room.columns), min(max(lines, 1), room.rows)


def _resampled(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The values in whose cells the centres of a grid of so many rows and columns lie. Returns (rows, columns)."""
    ny, nx = values.shape
    y = ((np.arange(rows) + 0.5) * ny / rows).astype(int)
    x = ((np.arange(columns) + 0.5) * nx / columns).astype(int)
    return values[np.ix_(y, x)]


def _levels(values: np.ndarray, low: float, high: float, n: int) -> np.ndarray:
    """Numbers from 0 to n - 1 for values from low to high, the middle one where these are equal; -1 for NaN."""
    if not high > low:
        found = np.full(values.shape, n // 2)
    else:
        share = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / (high - low)
        found = np.clip(np.rint(share * (n - 1)), 0, n - 1).astype(int)
    return np.where(np.isfinite(values), found, -1)


def _scale(low: float, high: float, unit: str, room: int, depth: Depth) -> list[str]:
    """A line with the colours from the lowest to the highest value."""
    left, right = f"{low:.5g} ", f" {high:.5g} {unit}".rstrip()
    width = min(room - len(left) - columns_of(right), 32)
    if width < 4:
        return []
    if depth is Depth.PLAIN:
        return [f"{left}{RAMP if width >= len(RAMP) else '..'}{right}"]
    colours = shades()[np.linspace(0, SHADES - 1, width).astype(int)].tolist()
    bar = "".join(f"\033[{paint(colour, depth, behind=True)}m " for colour in colours)
    return [f"{left}{bar}{RESET}{right}"]


# ---- charts


def _chart(picture: Fan | Trajectories, room: Size, depth: Depth) -> list[str]:
    times, values = picture.times, picture.values
    known = values[np.isfinite(values)]
    if not known.size:
        return []
    low, high = float(known.min()), float(known.max())
    if not high > low:
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    labels = f"{high:.4g}", f"{low:.4g}"
    margin = max(map(len, labels)) + 1
    key = _key(picture, room.columns, depth)
    lines, columns = room.rows - 1 - len(key), room.columns - margin
    if lines < _LEAST.rows or columns < _LEAST.columns:
        return []
    rows = lines if depth is Depth.PLAIN else 2 * lines
    at = np.linspace(times[0], times[-1], columns)
    heights = [_heights(np.interp(at, times, each), low, high, rows) for each in values]
    marks = _fan_marks(picture, heights, rows) if isinstance(picture, Fan) else _line_marks(heights, rows)
    drawn = _inked(marks, picture, depth)
    side = [f"{labels[0]:>{margin - 1}} ", *[" " * margin] * (lines - 2), f"{labels[1]:>{margin - 1}} "]
    begin, end = f"{times[0]:.4g}", picture.at
    axis = " " * margin + begin + end.rjust(max(columns - len(begin), 0))
    axis = axis if columns_of(axis) <= room.columns else " " * margin + end[: room.columns - margin]
    return [*(label + line for label, line in zip(side, drawn)), axis, *key]


def _heights(values: np.ndarray, low: float, high: float, rows: int) -> np.ndarray:
    """The row, from the top, of each value; -1 for NaN."""
    levels = _levels(values, low, high, rows)
    return np.where(levels >= 0, rows - 1 - levels, -1)


def _fan_marks(fan: Fan, heights: list[np.ndarray], rows: int) -> np.ndarray:
    """0 for nothing, 1 .. for bands from the edge to the middle, -1 for the median. Returns (rows, columns)."""
    marks = np.zeros((rows, len(heights[0])), int)
    row = np.arange(rows)[:, None]
    n = len(heights)
    for band in range(n // 2):
        lower, upper = heights[band], heights[n - 1 - band]
        marks[(row <= lower) & (row >= upper) & (lower >= 0) & (upper >= 0)] = min(band + 1, len(_BANDS))
    middle = int(np.argmin(abs(fan.probabilities - 0.5)))
    if abs(fan.probabilities[middle] - 0.5) < 0.01:
        marks[(row == heights[middle]) & (heights[middle] >= 0)] = -1
    return marks


def _line_marks(heights: list[np.ndarray], rows: int) -> np.ndarray:
    """0 for nothing, 1 .. for lines. From column to column a line fills the rows between. Returns (rows, columns)."""
    marks = np.zeros((rows, len(heights[0])), int)
    row = np.arange(rows)[:, None]
    for number, at in reversed([*enumerate(heights, 1)]):
        before = np.concatenate([at[:1], at[:-1]])
        before = np.where(before < 0, at, before)
        top, bottom = np.minimum(at, before), np.maximum(at, before)
        steep = (bottom > top) & (at >= 0)
        inner = (row > top) & (row < bottom) & steep
        marks[inner | ((row == at) & (at >= 0))] = number
    return marks


def _inked(marks: np.ndarray, picture: Fan | Trajectories, depth: Depth) -> list[str]:
    if isinstance(picture, Fan):
        colours, characters = [NONE, *map(rgb, _BANDS), _MEDIAN], f" {_BAND_CHARACTERS}{_MEDIAN_CHARACTER}"
    else:
        colours, characters = [NONE, *_LINES], f" {_LINE_CHARACTERS}"
    if depth is Depth.PLAIN:
        return ["".join(characters[n] for n in row).rstrip() for row in marks.tolist()]
    return lines_of(np.array(colours)[marks], depth)


def _key(picture: Fan | Trajectories, room: int, depth: Depth) -> list[str]:
    """A line that says which colour or character is what, as far as it fits."""
    if isinstance(picture, Fan):
        p = [f"{100 * each:g}" for each in picture.probabilities]
        n = len(p)
        names = [f"{p[i]}-{p[n - 1 - i]} %" for i in range(min(n // 2, len(_BANDS)))]
        inks = [(rgb(_BANDS[i]), _BAND_CHARACTERS[i]) for i in range(len(names))]
        if "50" in p:
            names, inks = [*names, "median"], [*inks, (_MEDIAN, _MEDIAN_CHARACTER)]
    else:
        names, inks = list(picture.names), list(zip(_LINES, _LINE_CHARACTERS))
    text, used = "", 0
    for name, (colour, character) in zip(names, inks):
        mark = character if depth is Depth.PLAIN else f"\033[{paint(colour, depth, behind=True)}m  {RESET}"
        width = columns_of(name) + (4 if depth is Depth.PLAIN else 5)
        if used + width > room:
            break
        text, used = f"{text}{mark} {name}  ", used + width
    return [text.rstrip()]
