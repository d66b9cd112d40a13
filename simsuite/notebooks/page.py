"""Runs and simulations as HTML: a short table, and the picture of what was found."""

from __future__ import annotations

import base64
import contextlib
import html
import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simsuite.errors import SimsuiteError
from simsuite.sweeps.table import main_numbers, numbers
from simsuite.words import counted, duration, measured, printable

_SHOWN = 12  # how many results are shown
_WIDTH = 720  # pixels of the picture
_CHEAP = 1 << 28  # bytes of results that are drawn in a second or two
_ERROR = "standard_error"

Row = tuple[str, str]


def run_html(directory: Path, summary: Mapping[str, Any]) -> str:
    """A run as HTML. summary: as `simsuite run --json` prints it. The picture is left out where results are large, or
    cannot be drawn."""
    units = summary.get("units", {})
    rows = [
        ("status", str(summary["status"])),
        ("device", f"{summary['device']} ({summary.get('device_name', 'unknown')}), {summary.get('precision', '')}"),
        ("steps", f"{summary['steps']}"),
        ("time", measured(f"{summary['time']:.6g}", units.get("time", ""))),
        ("took", duration(summary["wall_seconds"])),
        ("directory", str(directory)),
    ]
    found = main_results(summary["solver"], summary["results"], units)
    return _page(f"{summary['solver']} run", [*rows, *found], _picture(directory))


def simulation_html(
    solver: str, rows: Iterable[Row], results: Mapping[str, Any], units: Mapping[str, str], arrays: Mapping[str, Any]
) -> str:
    """A simulation that is stepped by hand as HTML. arrays: its state."""
    shapes = [
        (name, f"{' × '.join(map(str, array.shape)) or 'scalar'}, {array.dtype}") for name, array in arrays.items()
    ]
    return _page(f"{solver} simulation", [*rows, *main_results(solver, results, units), *shapes])


def main_results(solver: str, results: Mapping[str, Any], units: Mapping[str, str]) -> Iterator[Row]:
    """The numbers that people look for first, each with its standard error, if it has one."""
    known = numbers(results)
    errors = {name: of for name in known if (of := _error_of(name)) in known}
    shown = [name for name in main_numbers(solver, list(known)) if name not in errors.values()]
    shown.sort(key=lambda name: name not in errors)
    unit = units.get("temperature", "") if solver == "heat" else ""
    for name in shown[:_SHOWN]:
        value, error = known[name], known.get(errors.get(name, ""))
        text = "unknown" if value is None else f"{value:.6g}"
        yield name, f"{text} {unit}".rstrip() if error is None else f"{text} ± {error:.2g} {unit}".rstrip()
    if len(shown) > _SHOWN:
        yield "", f"and {counted(len(shown) - _SHOWN, 'more number')} in results"


def _error_of(name: str) -> str:
    """What the standard error of a number would be called: that of `price` has no name of its own."""
    keys = name.split(".")
    last = max((i for i, key in enumerate(keys) if not key.isdecimal()), default=0)
    own = _ERROR if keys[last] == "price" else f"{keys[last]}_{_ERROR}"
    return ".".join([*keys[:last], own, *keys[last + 1 :]])


def _page(title: str, rows: Iterable[Row], picture: str = "") -> str:
    lines = [
        f'<tr><th style="text-align:left">{_escaped(name)}</th><td style="text-align:left">{_escaped(text)}</td></tr>'
        for name, text in rows
    ]
    caption = f'<caption style="text-align:left"><b>{_escaped(title)}</b></caption>'
    return f"<div><table>{caption}<tbody>{''.join(lines)}</tbody></table>{picture}</div>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _picture(directory: Path) -> str:
    """The picture of the run as an element of HTML; "" where there is none, or it would take long to draw."""
    results = directory / "results.h5"
    if not results.is_file() or results.stat().st_size > _CHEAP:
        return ""
    from PIL import Image

    from simsuite.pictures import draw

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "plot.png"
        with contextlib.suppress(SimsuiteError):
            draw(directory, path)
        if not path.is_file():
            return ""
        small = io.BytesIO()
        with Image.open(path) as image:
            image.thumbnail((_WIDTH, 10 * _WIDTH))
            image.save(small, "png")
    data = base64.b64encode(small.getvalue()).decode()
    return f'<img alt="what the run found" src="data:image/png;base64,{data}">'
