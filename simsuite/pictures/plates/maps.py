"""Temperature as a map: colours, isotherms at round values, probes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.colours import temperature_colours
from simsuite.pictures.recording import Field
from simsuite.pictures.sheet import draw_bar
from simsuite.pictures.units import Unit, contrast, rounded

_ISOTHERM_CELLS = 256  # Isotherms are drawn from at most so many cells a side; finer ones would not show.
_SEGMENTS = 150  # If isotherms have more pieces than this, they are noise, not lines.
_LEAST = 0.003  # If the temperatures span less than this share of the colour scale, there are no isotherms.
_UNIFORM, _PALE = 0.01, 0.3  # Fields between these shares of a scale that two have in common get their own.
_STRETCH = 6.0  # Domains with a larger ratio of sides are not drawn to scale.


@dataclass(frozen=True)
class Domain:
    """The rectangle of a heat problem, lx by ly in `unit`, of nx by ny cells."""

    nx: int
    ny: int
    lx: float
    ly: float
    unit: Unit

    @property
    def shape(self) -> float:
        """The ratio of height to width as drawn."""
        return min(max(self.ly / self.lx, 1 / _STRETCH), _STRETCH)

    @property
    def to_scale(self) -> bool:
        return 1 / _STRETCH <= self.ly / self.lx <= _STRETCH


@dataclass(frozen=True)
class Scale:
    """The map from temperature to colour. ticks: of its colour bar, where they are not to be round numbers."""

    low: float
    high: float
    ticks: Sequence[float] | None

    @property
    def norm(self) -> Normalize:
        return Normalize(self.low, self.high)

    @property
    def span(self) -> float:
        return self.high - self.low

    @property
    def colours(self) -> Colormap:
        return temperature_colours()


def spanning(fields: Sequence[Field], precision: float) -> Scale:
    """The scale from the lowest to the highest of all temperatures. precision: the relative one of a number."""
    low, high = min(f.low for f in fields), max(f.high for f in fields)
    if not contrast(low, high, precision):
        middle = low / 2 + high / 2
        half = 0.01 * abs(middle) or 1.0
        return Scale(middle - half, middle + half, [middle])
    return Scale(low, high, None)


def scales_of_two(final: Field, first: Field, precision: float) -> tuple[Scale, Scale]:
    """The scales of the final and of the first state: the same one, unless either would then have hardly any contrast
    though it is far from uniform."""
    both = spanning([final, first], precision)
    if any(_UNIFORM < (field.high - field.low) / both.span < _PALE for field in (final, first)):
        return spanning([final], precision), spanning([first], precision)
    return both, both


def draw_map(ax: Axes, field: Field, domain: Domain, scale: Scale) -> Any:
    """Draw the field as an image, with every cell at its place."""
    (by, bx), (rows, columns) = field.block, field.values.shape
    extent = (0, columns * bx * domain.lx / domain.nx, 0, rows * by * domain.ly / domain.ny)
    image = ax.imshow(field.values, origin="lower", extent=extent, cmap=scale.colours, norm=scale.norm, zorder=0)
    ax.set_aspect("equal" if domain.to_scale else "auto")
    ax.set(xlim=(0, domain.lx), ylim=(0, domain.ly))
    return image


def draw_colour_bar(ax: Axes, image: Any, scale: Scale, label: str, width: float) -> None:
    """Draw a colour bar at the right of the map and as high. width: in widths of the map."""
    bar = draw_bar(ax, image, label, width)
    if scale.ticks is not None:
        bar.set_ticks(scale.ticks, labels=[rounded(t, 6) for t in scale.ticks])


def draw_isotherms(ax: Axes, field: Field, domain: Domain, scale: Scale, precision: float) -> Any:
    """Draw lines at round temperatures, white on dark and black on bright colours; None where there
    is nothing to show.
    """
    if not contrast(field.low, field.high, precision):
        return None
    x, y, values = _with_edges(field, domain)
    low, high = float(values.min()), float(values.max())
    if not contrast(low, high, precision) or high - low < _LEAST * scale.span:
        return None
    levels = MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    margin = 1e-6 * (high - low)
    levels = [t for t in levels if low + margin < t < high - margin]
    if not levels:
        return None
    ink = ["white" if _brightness(scale, t) < 0.5 else "black" for t in levels]
    lines = ax.contour(
        x, y, values, levels=levels, colors=ink, linewidths=0.7, linestyles="solid", alpha=0.85, zorder=2
    )
    lines.set_label(OVER_IMAGE)
    if sum(len(segments) for segments in lines.allsegs) > _SEGMENTS:
        lines.remove()
        return None
    return lines


def _with_edges(field: Field, domain: Domain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and values at the centres of the blocks, coarsened if they are many, and continued up to the edges."""
    values, (by, bx) = field.values, field.block
    sy, sx = (math.ceil(n / _ISOTHERM_CELLS) for n in values.shape)
    x = _centres(values.shape[1], bx, domain.nx) * domain.lx
    y = _centres(values.shape[0], by, domain.ny) * domain.ly
    x, y, values = x[sx // 2 :: sx], y[sy // 2 :: sy], values[sy // 2 :: sy, sx // 2 :: sx]
    x, y = np.array([0.0, *x, domain.lx]), np.array([0.0, *y, domain.ly])
    return x, y, np.pad(values, 1, mode="edge")


def _centres(blocks: int, block: int, cells: int) -> np.ndarray:
    starts = np.arange(blocks) * block
    return (starts + np.minimum(starts + block, cells)) / (2 * cells)


def _brightness(scale: Scale, temperature: float) -> float:
    """The perceived brightness of a temperature's colour, 0 to 1 (ITU-R BT.709 weights)."""
    red, green, blue, _ = scale.colours(scale.norm(temperature))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
