"""The temperature of a plate as a map: isotherms, outlines of regions and sources, probes, the hottest point, and the
cell that a run failed in."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.plates.labels import POINTER, Marked, label_map
from simsuite.pictures.plates.maps import Domain, Scale, draw_colour_bar, draw_isotherms, draw_map
from simsuite.pictures.plates.outlines import draw_outlines
from simsuite.pictures.recording import Field, Recording
from simsuite.pictures.sheet import COLOURS, GREY, WARNING, Sheet, tidy
from simsuite.pictures.units import Unit, contrast, length_unit, rounded, shortened, time_unit
from simsuite.scenario.heat import HeatScenario

PIXELS = 1024  # A map has at most so many pixels a side; more would not show.
TALL = 1.7  # Domains of a larger ratio of height to width count as tall.
PROBES = 8  # At most so many probes have a colour of their own.


def domain_of(model: HeatScenario) -> Domain:
    """The plate, in a unit of length that suits it."""
    g = model.grid
    unit = length_unit(max(g.lx, g.ly))
    return Domain(g.nx, g.ny, g.lx * unit.scale, g.ly * unit.scale, unit)


def clock_of(run: Recording) -> Unit:
    """The unit of time that suits a run."""
    return time_unit(run.scenario.time.end or 1.0)


def when(run: Recording, frame: int) -> str:
    """The time of a frame, in words."""
    if run.scenario.time.steady:
        return "in the steady state"
    clock = clock_of(run)
    return f"at t = {rounded(run.time[frame] * clock.scale)} {clock.name}"


def precision_of(run: Recording) -> float:
    """The relative precision of the temperatures."""
    return float(np.finfo(run.file["temperature"].dtype).eps)


def temperature(run: Recording, frame: int, limit: int = PIXELS) -> Field:
    return run.field("temperature", frame, limit)


def probes_of(model: HeatScenario, domain: Domain) -> list[Marked]:
    scale = domain.unit.scale
    return [
        Marked((p.x * scale, p.y * scale), shortened(p.name), COLOURS[i] if i < PROBES else GREY)
        for i, p in enumerate(model.probe)
    ]


def draw_field(
    run: Recording, sheet: Sheet, ax: Axes, scale: Scale, note: str = "", named: bool = True
) -> list[Line2D]:
    """Draw the frame that is shown. note: ends the title. named: whether outlines, points and isotherms are drawn, too.
    Returns what a key is to show."""
    model, precision = run.scenario, precision_of(run)
    domain, field = domain_of(model), temperature(run, run.shown)
    image = draw_map(ax, field, domain, scale)
    key: list[Line2D] = []
    if named:
        lines = draw_isotherms(ax, field, domain, scale, precision)
        key = draw_outlines(ax, model, domain)
        points = probes_of(model, domain)
        uniform = not contrast(field.low, field.high, precision)
        if not uniform and not run.failed:
            place = _middle(domain, field.top)
            points.append(Marked(place, f"{rounded(field.high)} {run.unit('temperature')}", "#000000", POINTER))
            key.append(Line2D([], [], color=GREY, marker=POINTER, linestyle="none", markersize=5, label="hottest cell"))
        cell = run.failure.get("cell")
        if cell is not None:
            points.append(Marked(_middle(domain, cell), "NaN or Inf", WARNING, "x"))
        label_map(sheet, ax, lines, scale, points)
    draw_colour_bar(ax, image, scale, f"Temperature ({run.unit('temperature')})", 0.03 * max(domain.shape, 1))
    gap = "\n" if domain.shape > TALL else " "  # Titles of narrow maps have two lines.
    what = "Last good temperature" if run.failed else "Temperature"
    title = f"{what}{gap}{when(run, run.shown)}" + ("" if domain.to_scale else " (not to scale)")
    frame_map(ax, domain, title + note)
    return key


def _middle(domain: Domain, cell: tuple[int, int]) -> tuple[float, float]:
    """The middle of a cell, in the units of the map."""
    return (cell[0] + 0.5) * domain.lx / domain.nx, (cell[1] + 0.5) * domain.ly / domain.ny


def frame_map(ax: Axes, domain: Domain, title: str, ticks: int = 6) -> None:
    """Title, names and ticks of the axes of a map."""
    tidy(ax, title, f"x ({domain.unit.name})", f"y ({domain.unit.name})", box=True)
    for axis, extent in ((ax.xaxis, 1 / domain.shape), (ax.yaxis, domain.shape)):
        n = max(1, round(ticks * min(1.0, extent)))
        axis.set_major_locator(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]))
