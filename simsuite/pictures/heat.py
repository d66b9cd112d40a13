"""The picture of a heat run: its temperature, the initial one, what the probes saw, and how far to trust it all."""

from __future__ import annotations

from matplotlib.axes import Axes

from simsuite.pictures.plates.curves import draw_balance, draw_errors, draw_probes, has_curves, moved
from simsuite.pictures.plates.fields import (
    PIXELS,
    TALL,
    clock_of,
    domain_of,
    draw_field,
    frame_map,
    precision_of,
    temperature,
)
from simsuite.pictures.plates.maps import Domain, Scale, draw_colour_bar, draw_map, scales_of_two, spanning
from simsuite.pictures.recording import Field, Recording
from simsuite.pictures.sheet import WIDTH, Sheet
from simsuite.pictures.units import contrast, rounded
from simsuite.words import methods_taken

_LINES = {"probes": draw_probes, "error": draw_errors, "energy": draw_balance}


def heat_figure(run: Recording) -> Sheet:
    """A map of the frame that is shown with isotherms and probes, and small panels beside or below it."""
    domain, panels = domain_of(run.scenario), _panels(run)
    first = temperature(run, 0, PIXELS // 2) if run.shown > 0 else None
    note = ""
    if first is not None and contrast(first.low, first.high, precision_of(run)):
        panels = ["first", *panels]
    elif first is not None:
        note = f", at first {rounded(first.low)} {run.unit('temperature')} everywhere"
        first = None
    sheet, axes = _arranged(run, domain, panels, subtitle(run))
    shown = temperature(run, run.shown)
    if first is None:
        scale = begin = spanning([shown], precision_of(run))
    else:
        scale, begin = scales_of_two(shown, first, precision_of(run))
    if not contrast(shown.low, shown.high, precision_of(run)):
        note = f": {rounded(shown.low)} {run.unit('temperature')} everywhere"
    sheet.explain(draw_field(run, sheet, axes["last"], scale, note))
    if first is not None:
        _draw_first(run, axes["first"], domain, first, begin, own=begin != scale)
    for name, draw in _LINES.items():
        if name in axes:
            draw(run, sheet, axes[name])
    return sheet


def subtitle(run: Recording) -> str:
    """What was computed how, in a line."""
    g = run.scenario.grid
    taken = " and ".join(methods_taken(run.summary)) or run.attribute("stepper").replace("+", " or ")
    method = ", ".join(filter(None, (taken, run.attribute("precision"))))
    return f"Heat conduction on {g.nx} × {g.ny} cells   |   {method}   |   {run.attribute('device_name')}"


def _panels(run: Recording) -> list[str]:
    if not has_curves(run):
        return []
    found = ["probes"] if run.has("probe_temperature") else []
    if run.has("error_l2"):
        found.append("error")
    elif run.has("energy_stored") and moved(run) > 0:
        found.append("energy")
    return found


def _draw_first(run: Recording, ax: Axes, domain: Domain, first: Field, scale: Scale, own: bool) -> None:
    """own: whether the scale is not that of the other map, and so has a colour bar."""
    image = draw_map(ax, first, domain, scale)
    if own:
        draw_colour_bar(ax, image, scale, run.unit("temperature"), 0.06 * max(domain.shape, 1))
    clock, gap = clock_of(run), "\n" if domain.shape > TALL else " "
    what = "Initial state" if run.time[0] == 0 else f"t = {rounded(run.time[0] * clock.scale)} {clock.name}"
    reach = " to ".join(dict.fromkeys((rounded(first.low), rounded(first.high))))
    frame_map(ax, domain, f"{what}:{gap}{reach} {run.unit('temperature')}", ticks=2)
    ax.set_anchor("NW")


def _arranged(run: Recording, domain: Domain, panels: list[str], subtitle: str) -> tuple[Sheet, dict[str, Axes]]:
    """The sheet and its axes. Maps of wide domains lie above the panels, others to the left of them."""
    n, shape = len(panels), domain.shape
    if shape < 0.8 and n > 1:
        map_height = 6.6 * shape + 0.6
        sheet = Sheet(run, 0.9 + map_height + 2.1, subtitle)
        grid = sheet.figure.add_gridspec(2, n, height_ratios=(map_height, 2.1))
        axes = {name: sheet.figure.add_subplot(grid[1, i]) for i, name in enumerate(panels)}
        return sheet, {"last": sheet.figure.add_subplot(grid[0, :]), **axes}
    if shape > TALL and "first" in panels and n > 1:
        return _arranged_tall(run, shape, panels, subtitle)
    map_width = (5.2 if n == 1 else 4.9) if n else WIDTH - 1.5
    height = min(max(0.92 + (map_width - 1.2) * shape + 0.8, 0.92 + 1.55 * n), 7.5)
    sheet = Sheet(run, height, subtitle)
    if not n:
        return sheet, {"last": sheet.figure.add_subplot()}
    heights = [1.5 if name == "first" else 1.0 for name in panels]
    grid = sheet.figure.add_gridspec(n, 2, width_ratios=(map_width, WIDTH - map_width), height_ratios=heights)
    axes = {name: sheet.figure.add_subplot(grid[i, 1]) for i, name in enumerate(panels)}
    return sheet, {"last": sheet.figure.add_subplot(grid[:, 0]), **axes}


def _arranged_tall(run: Recording, shape: float, panels: list[str], subtitle: str) -> tuple[Sheet, dict[str, Axes]]:
    sheet = Sheet(run, 5.9, subtitle)
    lines = [name for name in panels if name != "first"]
    width = 4.2 / shape
    ratios = (width + 1.2, 0.7 * width + 0.9, WIDTH - 1.7 * width - 2.1)
    grid = sheet.figure.add_gridspec(len(lines), 3, width_ratios=ratios)
    axes = {name: sheet.figure.add_subplot(grid[i, 2]) for i, name in enumerate(lines)}
    last, first = sheet.figure.add_subplot(grid[:, 0]), sheet.figure.add_subplot(grid[:, 1])
    return sheet, {"last": last, "first": first, **axes}
