"""Outlines of regions and sources over a map of a plate, with a key that says what they are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from matplotlib.patheffects import withStroke

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.labels import OUTLINE
from simsuite.pictures.plates.maps import Domain
from simsuite.pictures.sheet import GREY
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.mask import MaskShape
from simsuite.scenario.heat.shapes import CircleShape, PolygonShape, RectangleShape
from simsuite.scenario.heat.source import Source

_LINES: dict[str, tuple[str, Any]] = {"region": ("region", (0, (1, 1.2))), "source": ("heat source", (0, (5, 2)))}
_WIDTH = 1.1


def draw_outlines(
    ax: Axes, model: HeatScenario, domain: Domain, marked: Mapping[str, np.ndarray] = MappingProxyType({})
) -> list[Line2D]:
    """Outline the regions and sources that have a shape. marked: by "region" and "source", [y, x], where any of them is
    that a file marks.

    Returns what a key shows: a line for each kind of outline that there is.
    """
    found = []
    for kind, shapes in (("region", model.region), ("source", model.source)):
        drawn = [shape for shape in shapes if not isinstance(shape, MaskShape | Source)]
        for shape in drawn:
            ax.add_patch(_styled(_patch(shape, domain), kind))
        cells = marked.get(kind)
        by_file = cells is not None and bool(cells.any()) and not cells.all()
        if cells is not None and by_file:
            y, x = ((np.arange(n) + 0.5) / n for n in cells.shape)
            lines = ax.contour(x * domain.lx, y * domain.ly, cells, [0.5], colors="white", linewidths=_WIDTH, zorder=3)
            lines.set(linestyle=_LINES[kind][1], path_effects=[_halo()], gid=OUTLINE)
        if drawn or by_file:
            found.append(kind)
    return [key_line(*_LINES[kind]) for kind in found]


def key_line(label: str, style: Any) -> Line2D:
    return Line2D([], [], color=GREY, linewidth=_WIDTH, linestyle=style, label=label)


def _halo() -> withStroke:
    """A dark rim, by which a white line is seen on bright colours as well."""
    return withStroke(linewidth=_WIDTH + 1.2, foreground="#00000090")


def _styled(patch: Patch, kind: str) -> Patch:
    patch.set(fill=False, edgecolor="white", linewidth=_WIDTH, linestyle=_LINES[kind][1], zorder=3, label=OVER_IMAGE)
    patch.set(path_effects=[_halo()], gid=OUTLINE)
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
