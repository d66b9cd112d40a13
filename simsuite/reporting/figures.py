"""Figures of a page: pictures, lines over one quantity, and a field over time."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simsuite.pictures.colour_table import colour_table
from simsuite.reporting.markup import data_block, data_uri, escaped
from simsuite.reporting.quantised import LEVELS, NO_VALUE, Quantised
from simsuite.words import counted

_LARGEST_SVG = 1_500_000  # bytes; larger pictures are made of pixels
_STILLS = 4  # frames for print and for browsers without scripts
_LARGEST_TIMES = 1500  # rows of a chart


@dataclass(frozen=True)
class Series:
    """A line of a chart. errors: the standard error of each value. shown: whether it is drawn from the start."""

    name: str
    values: np.ndarray
    errors: np.ndarray | None = None
    shown: bool = True


@dataclass(frozen=True)
class Field:
    """A field over time with its places and times. lengths: lx and ly of the plate. cells, frames: how many the
    results have, nx and ny. time_unit: "" for a steady state."""

    name: str
    unit: str
    numbers: Quantised
    x: np.ndarray
    y: np.ndarray
    times: np.ndarray
    time_unit: str
    lengths: tuple[float, float]
    cells: tuple[int, int]
    frames: int


def picture(draw: Callable[[Path], None], alt: str, caption: str) -> str:
    """A picture that `draw` makes, of lines where that is small, else of pixels."""
    with tempfile.TemporaryDirectory() as place:
        path, kind = Path(place) / "picture.svg", "image/svg+xml"
        draw(path)
        if path.stat().st_size > _LARGEST_SVG:
            path, kind = Path(place) / "picture.png", "image/png"
            draw(path)
        uri = data_uri(path.read_bytes(), kind)
    image = f'<img alt="{escaped(alt)}" src="{uri}">'
    return (
        f'<figure class="picture"><div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}">'
        f"{image}</div><figcaption>{escaped(caption)}</figcaption></figure>\n"
    )


def chart_rows(n: int) -> np.ndarray:
    """Which of n rows a chart has: every k-th of them, and the last."""
    step = max(1, -(-n // _LARGEST_TIMES))
    return np.unique([*range(0, n, step), n - 1])


def chart(
    title: str, symbol: str, x: np.ndarray, x_label: str, x_unit: str, label: str, unit: str, series: Sequence[Series]
) -> str:
    """Lines over x, ascending. Their values at the cursor stand in a table. unit: of the lines, "" without one."""
    data = {
        "symbol": symbol,
        "x": _doubles(x),
        "xLabel": f"{x_label} ({x_unit})" if x_unit else x_label,
        "xUnit": x_unit,
        "yLabel": f"{label} ({unit})" if unit else label,
        "series": [
            {"name": each.name, "values": _doubles(each.values), "shown": each.shown}
            | ({} if each.errors is None else {"errors": _doubles(each.errors)})
            for each in series
        ],
    }
    about = f"{title}: {counted(len(series), 'line')} over {x_label}, from {x[0]:.6g} to {x[-1]:.6g} {x_unit}".rstrip()
    how = "Left and right arrow keys move the cursor; the values there stand in the table below."
    return (
        f'<figure class="interactive chart">\n<h3>{escaped(title)}</h3>\n'
        f'<div><canvas tabindex="0" role="img" aria-label="{escaped(f"{about}. {how}")}"></canvas></div>\n'
        '<div class="scroll lines needs-script" role="region" tabindex="0" '
        f'aria-label="{escaped(f"{title}: values at the cursor")}">'
        f'<table class="series"><caption><span></span></caption><thead><tr><th scope="col">line</th>'
        f'<th scope="col" class="number">{escaped(data["yLabel"])}</th></tr></thead><tbody></tbody></table></div>\n'
        f"<figcaption class='hint'>The cursor follows the pointer, a tap, or the arrow keys.</figcaption>\n"
        f"{data_block(data)}</figure>\n"
    )


def field(shown: Field) -> str:
    """A map with a cross-hair, a slider over time and a cut along a line."""
    numbers, lengths, cells = shown.numbers, shown.lengths, shown.cells
    data = {
        "name": shown.name,
        "unit": shown.unit,
        "codes": numbers.base64,
        "levels": LEVELS,
        "missing": NO_VALUE,
        "low": numbers.low,
        "high": numbers.high,
        "lows": [_finite(v, numbers.low) for v in numbers.lows],
        "highs": [_finite(v, numbers.high) for v in numbers.highs],
        "block": list(numbers.block),
        "x": _doubles(shown.x),
        "y": _doubles(shown.y),
        "times": _doubles(shown.times),
        "timeUnit": shown.time_unit,
        "lx": lengths[0],
        "ly": lengths[1],
        "nx": cells[0],
        "ny": cells[1],
        "colours": base64.b64encode(colour_table().tobytes()).decode("ascii"),
    }
    last = len(numbers.frames) - 1
    label = (
        f"Map of the {shown.name.lower()}. Arrow keys move the cross-hair, with Shift by ten cells; Home and End go "
    )
    label += "to the edges, Page Up and Page Down through time."
    slider = (
        f'<label class="time">Time <input class="frame" type="range" min="0" max="{last}" step="1" value="{last}"'
        f"{'' if last else ' disabled'}><output></output></label>"
    )
    return (
        '<figure class="interactive field">\n'
        f'<div class="controls needs-script">{slider}'
        f"{_choice('Colours', 'scale', (('all', 'of all times'), ('one', 'of this time')))}</div>\n"
        f'<div class="stage needs-script"><canvas class="map" tabindex="0" role="application" '
        f'aria-label="{escaped(label)}"></canvas></div>\n'
        '<p class="readout cross-hair needs-script" role="status"></p>\n<p class="readout pointer needs-script"></p>\n'
        f'<div class="controls needs-script">{_choice("Cut", "cut", (("x", "along x"), ("y", "along y")))}</div>\n'
        f'<div class="cut needs-script"><canvas class="line" role="img" aria-label="{escaped(shown.name)} along the '
        'line through the cross-hair"></canvas></div>\n'
        f'<div class="stills">{_stills(shown)}</div>\n'
        f"<figcaption>{escaped(_told(shown))}</figcaption>\n"
        f"{data_block(data)}</figure>\n"
    )


def _choice(legend: str, name: str, options: Sequence[tuple[str, str]]) -> str:
    inputs = "".join(
        f'<label><input type="radio" name="{name}" data-choice="{name}" value="{value}"'
        f"{'' if k else ' checked'}>{escaped(text)}</label>"
        for k, (value, text) in enumerate(options)
    )
    return f"<fieldset><legend>{escaped(legend)}</legend>{inputs}</fieldset>"


def _told(shown: Field) -> str:
    """What was left out on the way from the results to the page."""
    numbers, (nx, ny) = shown.numbers, shown.cells
    by, bx = numbers.block
    parts = []
    if (by, bx) != (1, 1):
        along = f"one cell of {bx} along x and of {by} along y"
        parts.append(f"Downsampled: of {nx} × {ny} cells, {along} is shown, the one in the middle.")
    else:
        parts.append(f"All {nx} × {ny} cells are shown.")
    if shown.frames > 1:
        of = f"{len(numbers.frames)} of " if len(numbers.frames) < shown.frames else ""
        parts.append(f"{of}{shown.frames} frames.")
    right = f"and are right to ± {numbers.step:.2g} {shown.unit}" if numbers.step else "and are the same everywhere"
    parts.append(f"Values are stored in {LEVELS + 1} steps {right};")
    reach = f"from {numbers.low:.10g} to {numbers.high:.10g} {shown.unit}"
    parts.append(f"those of all cells of the results at these times are {reach}.")
    return " ".join(parts)


def _stills(shown: Field) -> str:
    """A few frames as small pictures."""
    last, unit = len(shown.numbers.frames) - 1, shown.time_unit
    found = []
    for k in np.unique(np.linspace(0, last, min(last + 1, _STILLS)).round().astype(int)):
        when = f"t = {shown.times[k]:.6g} {unit}" if unit else "steady state"
        low, high = shown.numbers.lows[k], shown.numbers.highs[k]
        text = f"{when}: {low:.6g} to {high:.6g} {shown.unit}"
        found.append(
            f'<figure><img alt="{escaped(f"{shown.name} at {text}")}" src="{_still(shown, int(k))}" '
            f'width="400" height="{round(400 * _shape(shown))}"><figcaption>{escaped(text)}</figcaption></figure>\n'
        )
    whole = f"Colours from {shown.numbers.low:.6g} (dark) to {shown.numbers.high:.6g} {shown.unit} (bright)."
    return "".join([*found, f"<p>{escaped(whole)}</p>"])


def _still(shown: Field, k: int) -> str:
    from PIL import Image

    codes = shown.numbers.codes[k][::-1]
    image = Image.fromarray((codes.astype(np.uint32) * 255 // NO_VALUE).astype(np.uint8), "P")
    image.putpalette(colour_table().tobytes())
    written = io.BytesIO()
    image.save(written, "png", optimize=True)
    return data_uri(written.getvalue(), "image/png")


def _shape(shown: Field) -> float:
    """The height of a map in widths, as drawn."""
    return min(max(shown.lengths[1] / shown.lengths[0], 1 / 6), 6.0)


def _finite(value: float, otherwise: float) -> float:
    return float(value) if np.isfinite(value) else otherwise


def _doubles(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode("ascii")
