"""Pictures of heat runs: the last temperature, the first, what the probes saw, and how far to trust it all."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.heat_map import (
    Domain,
    common_scale,
    draw_colour_bar,
    draw_isotherms,
    draw_map,
    label_map,
    mark_probes,
)
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, WIDTH, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import Unit, contrast, decades, length_unit, prefixed, rounded, shortened, time_unit
from simsuite.words import methods_taken

_PIXELS = 1024  # A map has at most so many pixels a side; more would not show.
_TALL = 1.7  # Domains of a larger ratio of height to width count as tall.
_PROBES = 8  # At most so many probes are drawn and named.


def heat_figure(run: Recording) -> Sheet:
    """A map of the last frame with isotherms and probes, and small panels beside or below it."""
    g = run.scenario.grid
    unit = length_unit(max(g.lx, g.ly))
    domain = Domain(g.nx, g.ny, g.lx * unit.scale, g.ly * unit.scale, unit)
    panels = _panels(run)
    if run.frames > 1:
        panels = ["first", *panels]
    sheet, axes = _arranged(run, domain, panels, _subtitle(run))
    _maps(run, sheet, domain, axes)
    if "probes" in axes:
        _probe_panel(run, sheet, axes["probes"])
    if "error" in axes:
        _error_panel(run, sheet, axes["error"])
    if "energy" in axes:
        _energy_panel(run, sheet, axes["energy"])
    return sheet


def _subtitle(run: Recording) -> str:
    g = run.scenario.grid
    taken = " and ".join(methods_taken(run.summary)) or run.attribute("stepper").replace("+", " or ")
    method = ", ".join(filter(None, (taken, run.attribute("precision"))))
    return f"Heat conduction on {g.nx} × {g.ny} cells   |   {method}   |   {run.attribute('device_name')}"


def _panels(run: Recording) -> list[str]:
    found: list[str] = []
    if run.scenario.time.steady:  # A steady run has a single state, so there is nothing to draw over time.
        return found
    samples = run.committed("sample_time")
    if run.has("probe_temperature") and samples:
        found.append("probes")
    if run.has("error_l2"):
        found.append("error")
    elif run.has("energy_stored") and samples and _moved(run, samples) > 0:
        found.append("energy")
    return found


def _moved(run: Recording, samples: int) -> float:
    """The largest amount of heat that came through an edge or from a source."""
    return max((float(np.abs(values).max()) for _, values in _ledger(run, samples)), default=0.0)


def _ledger(run: Recording, samples: int) -> list[tuple[str, np.ndarray]]:
    """(name, heat over time) for each edge and source through which heat came in."""
    parts = [name for name in run.names() if name.startswith("energy_")]
    parts = [name for name in parts if name not in ("energy_stored", "energy_residual")]
    return [(name.removeprefix("energy_"), run.numbers(name, slice(samples))) for name in parts]


def _arranged(run: Recording, domain: Domain, panels: list[str], subtitle: str) -> tuple[Sheet, dict[str, Axes]]:
    """The sheet and its axes. Maps of wide domains lie above the panels, others to the left of them."""
    n, shape = len(panels), domain.shape
    if shape < 0.6 and n > 1:
        map_height = 6.6 * shape + 0.6
        sheet = Sheet(run, 0.6 + map_height + 2.1, subtitle)
        grid = sheet.figure.add_gridspec(2, n, height_ratios=(map_height, 2.1))
        axes = {name: sheet.figure.add_subplot(grid[1, i]) for i, name in enumerate(panels)}
        return sheet, {"last": sheet.figure.add_subplot(grid[0, :]), **axes}
    if shape > _TALL and "first" in panels and n > 1:
        return _arranged_tall(run, shape, panels, subtitle)
    map_width = (5.2 if n == 1 else 4.9) if n else WIDTH - 1.5
    height = min(max(0.62 + (map_width - 1.2) * shape + 0.8, 0.62 + 1.55 * n), 7.5)
    sheet = Sheet(run, height, subtitle)
    if not n:
        return sheet, {"last": sheet.figure.add_subplot()}
    heights = [1.5 if name == "first" else 1.0 for name in panels]
    grid = sheet.figure.add_gridspec(n, 2, width_ratios=(map_width, WIDTH - map_width), height_ratios=heights)
    axes = {name: sheet.figure.add_subplot(grid[i, 1]) for i, name in enumerate(panels)}
    return sheet, {"last": sheet.figure.add_subplot(grid[:, 0]), **axes}


def _arranged_tall(run: Recording, shape: float, panels: list[str], subtitle: str) -> tuple[Sheet, dict[str, Axes]]:
    sheet = Sheet(run, 5.6, subtitle)
    lines = [name for name in panels if name != "first"]
    width = 4.2 / shape
    ratios = (width + 1.2, 0.7 * width + 0.9, WIDTH - 1.7 * width - 2.1)
    grid = sheet.figure.add_gridspec(len(lines), 3, width_ratios=ratios)
    axes = {name: sheet.figure.add_subplot(grid[i, 2]) for i, name in enumerate(lines)}
    last, first = sheet.figure.add_subplot(grid[:, 0]), sheet.figure.add_subplot(grid[:, 1])
    return sheet, {"last": last, "first": first, **axes}


def _maps(run: Recording, sheet: Sheet, domain: Domain, axes: dict[str, Axes]) -> None:
    precision = float(np.finfo(run.file["temperature"].dtype).eps)
    last = run.field("temperature", run.frames - 1, _PIXELS)
    first = run.field("temperature", 0, _PIXELS // 2) if "first" in axes else None
    scale = common_scale(last, first, precision)
    clock, ax = _clock(run), axes["last"]
    gap = "\n" if domain.shape > _TALL else " "  # Titles of narrow maps have two lines.
    image = draw_map(ax, last, domain, scale)
    lines = draw_isotherms(ax, last, domain, scale, precision)
    probes = run.scenario.probe
    points = [(p.x * domain.unit.scale, p.y * domain.unit.scale) for p in probes]
    colours = [COLOURS[i] if i < _PROBES else GREY for i in range(len(probes))]
    mark_probes(ax, points, colours)
    label_map(sheet, ax, lines, scale, points, [shortened(p.name) for p in probes], colours)
    draw_colour_bar(ax, image, scale, f"Temperature ({run.unit('temperature')})", 0.03 * max(domain.shape, 1))
    steady = run.scenario.time.steady
    when = "in the steady state" if steady else f"at {_at(run, run.frames - 1, clock)}"
    title = f"Temperature{gap}{when}" + ("" if domain.to_scale else " (not to scale)")
    uniform = not contrast(last.low, last.high, precision)
    _map_frame(ax, domain, title + (f": {rounded(last.low)} {run.unit('temperature')} everywhere" if uniform else ""))
    if first is not None:
        ax = axes["first"]
        draw_map(ax, first, domain, scale)
        what = "Initial state" if run.time[0] == 0 else _at(run, 0, clock)
        reach = " to ".join(dict.fromkeys((rounded(first.low, 3), rounded(first.high, 3))))
        _map_frame(ax, domain, f"{what}:{gap}{reach} {run.unit('temperature')}", ticks=2)
        ax.set_anchor("NW")


def _map_frame(ax: Axes, domain: Domain, title: str, ticks: int = 6) -> None:
    tidy(ax, title, f"x ({domain.unit.name})", f"y ({domain.unit.name})", box=True)
    for axis, extent in ((ax.xaxis, 1 / domain.shape), (ax.yaxis, domain.shape)):
        n = max(1, round(ticks * min(1.0, extent)))
        axis.set_major_locator(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]))


def _clock(run: Recording) -> Unit:
    return time_unit(run.scenario.time.end or 1.0)


def _at(run: Recording, frame: int, clock: Unit) -> str:
    return f"t = {rounded(run.time[frame] * clock.scale)} {clock.name}"


def _sample_times(run: Recording) -> tuple[np.ndarray, int]:
    n = run.committed("sample_time")
    return run.numbers("sample_time", slice(n)) * _clock(run).scale, n


def _probe_panel(run: Recording, sheet: Sheet, ax: Axes) -> None:
    t, n = _sample_times(run)
    probes = run.scenario.probe[:_PROBES]
    values = run.numbers("probe_temperature", slice(n), slice(len(probes)))
    ends = []
    for i, probe in enumerate(probes):
        draw_line(ax, t, values[:, i], COLOURS[i])
        ends.append((values[-1, i], shortened(probe.name, 14), COLOURS[i]))
    left_out = len(run.scenario.probe) - len(probes)
    title = "Probes" if left_out == 0 else f"Probes (first {len(probes)} of {len(run.scenario.probe)})"
    _time_axes(run, ax, title, f"Temperature ({run.unit('temperature')})")
    label_ends(sheet, ax, ends)


def _energy_panel(run: Recording, sheet: Sheet, ax: Axes) -> None:
    t, n = _sample_times(run)
    stored, residual = run.numbers("energy_stored", slice(n)), run.numbers("energy_residual", slice(n))
    parts = [(name, values) for name, values in _ledger(run, n) if np.any(values)]
    largest = max(float(np.abs(values).max()) for values in [stored, *(values for _, values in parts)])
    unit = prefixed(largest, run.unit("energy_stored"))
    curves: list[tuple[str, np.ndarray, str, dict[str, Any]]] = [("stored", stored, INK, {"linewidth": 1.8})]
    curves += [(name, values, COLOURS[i % len(COLOURS)], {}) for i, (name, values) in enumerate(parts)]
    curves.append(("residual", residual, GREY, {"linestyle": (0, (4, 2)), "linewidth": 1.0}))
    for _, values, colour, style in curves:
        draw_line(ax, t, values * unit.scale, colour, **style)
    worst = float(np.abs(residual).max()) / largest
    _time_axes(
        run, ax, f"Heat balance to {rounded(worst, 2)}" if worst else "Heat balance, exact", f"Heat ({unit.name})"
    )
    label_ends(sheet, ax, [(values[-1] * unit.scale, name, colour) for name, values, colour, _ in curves])


def _error_panel(run: Recording, sheet: Sheet, ax: Axes) -> None:
    t = run.time * _clock(run).scale
    curves = [(name, run.numbers(f"error_{name}", slice(run.frames))) for name in ("linf", "l2")]
    names = {"linf": "largest", "l2": "r.m.s."}
    log = decades(np.concatenate([values for _, values in curves])) > 1
    if log:
        ax.set_yscale("log", nonpositive="mask")
    ends = []
    for i, (name, values) in enumerate(curves):
        shown = np.where(values > 0, values, np.nan) if log else values
        draw_line(ax, t, shown, COLOURS[i])
        good = shown[np.isfinite(shown)]
        if good.size:
            ends.append((float(good[-1]), names[name], COLOURS[i]))
    _time_axes(run, ax, "Error against the reference", f"Error ({run.unit('error_l2')})")
    label_ends(sheet, ax, ends)


def _time_axes(run: Recording, ax: Axes, title: str, ylabel: str) -> None:
    tidy(ax, title, f"Time ({_clock(run).name})", ylabel)
    ax.margins(x=0.0, y=0.08)
