"""The material of a plate as maps: conductivity, and heat capacity where it differs from place to place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from simsuite.pictures.look import PALE
from simsuite.pictures.plates.fields import PIXELS, TALL, domain_of, frame_map, probes_of
from simsuite.pictures.plates.labels import Marked, label_map
from simsuite.pictures.plates.outlines import draw_outlines
from simsuite.pictures.plates.plate import Plate
from simsuite.pictures.recording import Field
from simsuite.pictures.sheet import Sheet, draw_bar
from simsuite.pictures.units import rounded
from simsuite.scenario.heat import HeatScenario

_WIDE = 30.0  # From this ratio of the largest to the least number on the colours are logarithmic.


@dataclass(frozen=True)
class Material:
    """A coefficient at the cells. values[y, x], above 0."""

    name: str
    unit: str
    values: np.ndarray

    @property
    def limits(self) -> tuple[float, float] | None:
        """The least and the largest number; None where it is the same everywhere."""
        low, high = float(self.values.min()), float(self.values.max())
        return (low, high) if high > low * (1 + 1e-12) else None

    @property
    def words(self) -> str:
        """Name and number of one that is the same everywhere."""
        return f"{self.name.lower()} {rounded(float(self.values.min()))} {self.unit}"


def materials_of(model: HeatScenario, plate: Plate) -> list[Material]:
    """The coefficients that there are to show: the conductivity, along both axes where they differ, and what else
    differs from place to place."""
    kx, ky = plate.conductivity
    name, unit = ("Diffusivity", "m²/s") if model.material.alone else ("Conductivity", "W/(m·K)")
    if plate.orthotropic:
        found = [Material(f"{name} along x", unit, kx), Material(f"{name} along y", unit, ky)]
    else:
        found = [Material(name, unit, kx)]
    capacity = Material("Heat capacity", "J/(m³·K)", plate.capacity)
    return found if model.material.alone or capacity.limits is None else [*found, capacity]


def _further(conductivity: Material, plate: Plate) -> str:
    """Heat capacity and diffusivity, in words, as far as they are the same everywhere too."""
    capacity = Material("Heat capacity", "J/(m³·K)", plate.capacity)
    if capacity.limits is not None or conductivity.limits is not None:
        return ""
    diffusivity = Material("Diffusivity", "m²/s", conductivity.values / capacity.values)
    return f"{capacity.words}\n{diffusivity.words}"


def draw_material(
    sheet: Sheet,
    ax: Axes,
    model: HeatScenario,
    material: Material,
    plate: Plate,
    limits: tuple[float, float] | None,
) -> Sequence[Artist]:
    """A map of a coefficient with outlines and probes; where it is the same everywhere, its number stands above, and
    what else is the same everywhere in the upper left corner."""
    domain = domain_of(model)
    gap = "\n" if domain.shape > TALL else " "
    title = material.name
    field = Field.of(material.values, PIXELS)
    (by, bx), (rows, columns) = field.block, field.values.shape
    extent = (0, columns * bx * domain.lx / domain.nx, 0, rows * by * domain.ly / domain.ny)
    if limits is None:
        ax.set_facecolor(PALE)
        title = f"{material.name}:{gap}{rounded(field.low)} {material.unit} everywhere"
    else:
        norm = LogNorm(*limits) if limits[1] > _WIDE * limits[0] else Normalize(*limits)
        colours = matplotlib.colormaps["cividis"]
        image = ax.imshow(field.values, origin="lower", extent=extent, cmap=colours, norm=norm, zorder=0)
        bar = draw_bar(ax, image, f"{material.name} ({material.unit})", 0.03 * max(domain.shape, 1))
        few = np.unique(field.values)
        if len(few) <= 4 and not isinstance(norm, LogNorm):
            bar.set_ticks(few.tolist(), labels=[rounded(v) for v in few])
        elif isinstance(norm, LogNorm):
            ticks = np.geomspace(*limits, 5) if len(few) > 5 else few
            bar.set_ticks(ticks.tolist(), labels=[rounded(v, 3) for v in ticks])
            bar.ax.minorticks_off()
    ax.set_aspect("equal" if domain.to_scale else "auto")
    ax.set(xlim=(0, domain.lx), ylim=(0, domain.ly))
    key = draw_outlines(ax, model, domain, plate.marked)
    points = probes_of(model, domain)
    if limits is None and not model.material.alone:
        points.append(Marked((0.0, domain.ly), _further(material, plate), mark="None"))
    label_map(sheet, ax, None, None, points)
    frame_map(ax, domain, title + ("" if domain.to_scale else " (not to scale)"))
    return key
