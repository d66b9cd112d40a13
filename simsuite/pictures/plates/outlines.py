"""Outlines of regions and sources over a map of a plate, with a key that says what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from matplotlib.patheffects import withStroke

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.maps import Domain
from simsuite.pictures.sheet import GREY
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.region import Mask
from simsuite.scenario.heat.shapes import CircleShape, PolygonShape, RectangleShape
from simsuite.scenario.heat.source import Source

_LINES: dict[str, tuple[str, Any]] = {"region": ("region", (0, (1, 1.2))), "source": ("heat source", (0, (5, 2)))}
_WIDTH = 1.1


def draw_outlines(ax: Axes, model: HeatScenario, domain: Domain, marked: np.ndarray | None = None) -> list[Line2D]:
    """Outline the regions and sources that have a shape. marked: [y, x], where any region is that a file marks.

    Returns what a key shows: a line for each kind of outline that there is.
    """
    found = []
    for kind, shapes in (
        ("region", [r for r in model.region if not isinstance(r, Mask)]),
        ("source", [s for s in model.source if not isinstance(s, Source)]),
    ):
        for shape in shapes:
            ax.add_patch(_styled(_patch(shape, domain), kind))
        if shapes:
            found.append(kind)
    if marked is not None and marked.any() and not marked.all():
        y, x = ((np.arange(n) + 0.5) / n for n in marked.shape)
        lines = ax.contour(x * domain.lx, y * domain.ly, marked, [0.5], colors="white", linewidths=_WIDTH, zorder=3)
        lines.set(linestyle=_LINES["region"][1], path_effects=[_halo()])
        found = ["region", *(kind for kind in found if kind != "region")]
    return [key_line(*_LINES[kind]) for kind in found]


def key_line(label: str, style: Any) -> Line2D:
    return Line2D([], [], color=GREY, linewidth=_WIDTH, linestyle=style, label=label)


def _halo() -> withStroke:
    """A dark rim, by which a white line is seen on bright colours as well."""
    return withStroke(linewidth=_WIDTH + 1.2, foreground="#00000090")


def _styled(patch: Patch, kind: str) -> Patch:
    patch.set(fill=False, edgecolor="white", linewidth=_WIDTH, linestyle=_LINES[kind][1], zorder=3, label=OVER_IMAGE)
    patch.set_path_effects([_halo()])
    return patch


def _patch(shape: object, domain: Domain) -> Patch:
    scale = domain.unit.scale
    if isinstance(shape, RectangleShape):
        (x0, x1), (y0, y1) = shape.x, shape.y
        return Rectangle((x0 * scale, y0 * scale), (x1 - x0) * scale, (y1 - y0) * scale)
    if isinstance(shape, CircleShape):
        return Circle((shape.center[0] * scale, shape.center[1] * scale), shape.radius * scale)
    assert isinstance(shape, PolygonShape)
    return Polygon(np.array(shape.points) * scale, closed=True)
