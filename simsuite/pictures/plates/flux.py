"""The flow of heat in a plate: -k grad T, as a map of its size with arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.fields import PIXELS, TALL, domain_of, frame_map, when
from simsuite.pictures.plates.maps import Scale
from simsuite.pictures.plates.outlines import draw_outlines
from simsuite.pictures.plates.plate import Plate
from simsuite.pictures.recording import Field, Recording
from simsuite.pictures.sheet import draw_bar

_ARROWS = 22  # along the longer side
_FAINT = 0.02  # Where the flow is a smaller share of the largest one there is no arrow.


@dataclass(frozen=True)
class Flux:
    """across, up: the flow along x and along y in each cell, [y, x]. unit: of both."""

    across: np.ndarray
    up: np.ndarray
    unit: str

    @property
    def size(self) -> np.ndarray:
        return np.hypot(self.across, self.up)

    @property
    def largest(self) -> float:
        return float(self.size.max())


def flux_of(run: Recording, plate: Plate) -> Flux:
    """The flow at the frame that is shown. plate: with the conductivity at its temperatures."""
    g = run.scenario.grid
    T = run.numbers("temperature", run.shown)
    kx, ky = plate.conductivity
    across, up = _flow(T, kx, g.lx / g.nx, 1), _flow(T, ky, g.ly / g.ny, 0)
    return Flux(across, up, "K·m/s" if run.scenario.material.alone else "W/m²")


def _flow(T: np.ndarray, k: np.ndarray, delta: float, axis: int) -> np.ndarray:
    """The flow along an axis in each cell: the mean of that through its two faces, at an edge that through the inner
    one. The conductivity of a face is the harmonic mean of those of its cells, as in the scheme of the solver."""
    T, k = np.moveaxis(T, axis, 0), np.moveaxis(k, axis, 0)
    if len(T) == 1:
        return np.moveaxis(np.zeros_like(T), 0, axis)
    face = -2 * k[1:] * k[:-1] / (k[1:] + k[:-1]) * np.diff(T, axis=0) / delta
    found = np.concatenate([face[:1], (face[1:] + face[:-1]) / 2, face[-1:]])
    return np.moveaxis(found, 0, axis)


def draw_flux(run: Recording, ax: Axes, flux: Flux, limits: tuple[float, float] | None) -> Sequence[Artist]:
    """The size of the flow as colours, its direction as arrows; what a key is to show."""
    domain = domain_of(run.scenario)
    low, high = limits if limits is not None else (0.0, flux.largest)
    scale = Scale(low, high or 1.0, None)
    field = Field.of(flux.size, PIXELS)
    (by, bx), (rows, columns) = field.block, field.values.shape
    extent = (0, columns * bx * domain.lx / domain.nx, 0, rows * by * domain.ly / domain.ny)
    colours = matplotlib.colormaps["viridis"]
    image = ax.imshow(field.values, origin="lower", extent=extent, cmap=colours, norm=scale.norm, zorder=0)
    ax.set_aspect("equal" if domain.to_scale else "auto")
    ax.set(xlim=(0, domain.lx), ylim=(0, domain.ly))
    key = draw_outlines(ax, run.scenario, domain)
    _arrows(ax, flux, domain.lx, domain.ly)
    draw_bar(ax, image, f"Heat flux ({flux.unit})", 0.03 * max(domain.shape, 1))
    gap = "\n" if domain.shape > TALL else " "
    frame_map(ax, domain, f"Heat flux{gap}{when(run, run.shown)}" + ("" if domain.to_scale else " (not to scale)"))
    return key


def _arrows(ax: Axes, flux: Flux, lx: float, ly: float) -> None:
    """Arrows of one length, each where the flow in the middle of its patch points."""
    ny, nx = flux.size.shape
    apart = max(lx, ly) / _ARROWS
    at = [np.unique(((np.arange(max(1, round(side / apart))) + 0.5) / max(1, round(side / apart)) * n).astype(int))
          for side, n in ((lx, nx), (ly, ny))]  # fmt: skip
    x, y = np.meshgrid((at[0] + 0.5) * lx / nx, (at[1] + 0.5) * ly / ny)
    u, v = (part[np.ix_(at[1], at[0])] for part in (flux.across, flux.up))
    size = np.hypot(u, v)
    seen = size > _FAINT * flux.largest if flux.largest > 0 else np.zeros(size.shape, bool)
    if not seen.any():
        return
    length = 0.7 * apart
    quiver = ax.quiver(
        x[seen],
        y[seen],
        u[seen] / size[seen] * length,
        v[seen] / size[seen] * length,
        color="white",
        angles="xy",
        scale_units="xy",
        scale=1.0,
        pivot="middle",
        units="inches",
        width=0.011,
        headwidth=4.2,
        headlength=4.5,
        zorder=4,
    )
    quiver.set(label=OVER_IMAGE, edgecolor="#00000080", linewidth=0.3)
