"""What holds at the edges of a plate, drawn around it, with its regions, sources and probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.expressions import Expression
from simsuite.pictures.look import PALE
from simsuite.pictures.plates.fields import TALL, domain_of, frame_map, probes_of
from simsuite.pictures.plates.labels import Marked, label_map
from simsuite.pictures.plates.outlines import draw_outlines
from simsuite.pictures.sheet import COLOURS, GREY, Sheet
from simsuite.pictures.units import rounded, shortened
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.boundary import EDGES, Segment
from simsuite.scenario.heat.source import source_names

_KINDS: Mapping[str, tuple[str, str]] = {  # colour and words of each kind
    "temperature": (COLOURS[0], "held at"),
    "flux": (COLOURS[1], "heat flux"),
    "insulated": (GREY, "insulated"),
    "convection": (COLOURS[2], "convection"),
    "radiation": (COLOURS[3], "radiation"),
    "periodic": (COLOURS[5], "periodic"),
}


def draw_edges(
    sheet: Sheet, ax: Axes, model: HeatScenario, marked: Mapping[str, np.ndarray] = MappingProxyType({})
) -> Sequence[Artist]:
    """The plate with its edges in the colours of what holds there. marked: as for `draw_outlines`. Returns a key: what
    holds where, with its numbers, and what outlines mean."""
    domain = domain_of(model)
    ax.set_facecolor(PALE)
    ax.set_aspect("equal" if domain.to_scale else "auto")
    ax.set(xlim=(0, domain.lx), ylim=(0, domain.ly))
    key: dict[str, Artist] = {}
    for edge in EDGES:
        length = model.grid.ly if edge in ("left", "right") else model.grid.lx
        for segment in model.boundary.segments(edge, length):
            colour, _ = _KINDS[segment.condition.kind]
            words = _words(segment, model)
            along = [segment.start * domain.unit.scale, segment.stop * domain.unit.scale]
            fixed = {"left": 0.0, "bottom": 0.0, "right": domain.lx, "top": domain.ly}[edge]
            line = ([fixed] * 2, along) if edge in ("left", "right") else (along, [fixed] * 2)
            style: dict[str, Any] = {"linewidth": 5.0, "solid_capstyle": "butt", "clip_on": False, "zorder": 4}
            ax.plot(*line, color=colour, **style)
            key.setdefault(words, Line2D([], [], color=colour, linewidth=4.0, label=words))
    outlines = draw_outlines(ax, model, domain, marked)
    points = [*probes_of(model, domain), *_names(model, domain.unit.scale)]
    label_map(sheet, ax, None, None, points)
    gap = "\n" if domain.shape > TALL else " "
    title = _title([str(artist.get_label()) for artist in outlines], gap)
    frame_map(ax, domain, title + ("" if domain.to_scale else " (not to scale)"))
    faces = [Patch(facecolor=PALE, label=words) for words in _faces(model)]
    return [*key.values(), *faces, *outlines]


def _title(outlined: Sequence[str], gap: str) -> str:
    """What is drawn, by what outlines mean. gap: before the last of three things."""
    if len(outlined) == 2:
        return f"Edges, regions{gap}and sources"
    return "Edges" if not outlined else f"Edges and {outlined[0].removeprefix('heat ')}s"


def _names(model: HeatScenario, scale: float) -> list[Marked]:
    """The names of the sources that have a shape, in its middle, with their power."""
    found, heat = [], "K/s" if model.material.alone else "W/m³"
    for name, source in zip(source_names(model.source), model.source):
        middle = _middle(source)
        if middle is not None:
            given, unit = (source.watts, "W") if source.watts is not None else (source.power, heat)
            words = f"{shortened(name)}: {_number(given)} {unit}"
            found.append(Marked((middle[0] * scale, middle[1] * scale), words, mark="None"))
    return found


def _middle(shape: object) -> tuple[float, float] | None:
    """The middle of a rectangle, circle or polygon; None of other things."""
    if hasattr(shape, "center"):
        return shape.center[0], shape.center[1]
    if hasattr(shape, "points"):
        xs, ys = zip(*shape.points)
        return sum(xs) / len(xs), sum(ys) / len(ys)
    if hasattr(shape, "x") and hasattr(shape, "y"):
        return sum(shape.x) / 2, sum(shape.y) / 2
    return None


def _words(segment: Segment, model: HeatScenario) -> str:
    """What holds on a piece of an edge, with its numbers."""
    _, words = _KINDS[segment.condition.kind]
    return f"{words} {_given(segment.condition, model)}".strip()


def _faces(model: HeatScenario) -> list[str]:
    """What goes through the faces of the plate, with its numbers: one text, or none where these are insulated."""
    if model.surface is None:
        return []
    return [f"{'both faces' if model.surface.faces == 2 else 'one face'}: {_given(model.surface, model)}"]


def _given(condition: object, model: HeatScenario) -> str:
    """The numbers of a condition at an edge or at the faces, with their units."""
    alone, degrees = model.material.alone, "°C" if model.units == "degC" else "K"
    held = getattr(condition, "kind", "") == "temperature"
    given = (
        ("value", degrees if held else "K·m/s" if alone else "W/m²", ""),
        ("h", "m/s" if alone else "W/(m²·K)", "h = "),
        ("emissivity", "", "ε = "),
        ("ambient", degrees, "to "),
    )
    parts = []
    for name, unit, before in given:
        value = getattr(condition, name, None)
        if value is not None:
            parts.append(f"{before}{_number(value)}{' ' if unit else ''}{unit}".rstrip())
    return ", ".join(parts)


def _number(value: object) -> str:
    """A number, or an expression as it is written."""
    if isinstance(value, Expression):
        return rounded(float(value())) if not value.names else shortened(value.text, 24)
    return rounded(float(value)) if isinstance(value, (int, float)) else str(value)
