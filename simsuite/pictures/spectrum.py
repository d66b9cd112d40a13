"""Panels about the matrix of a linear system: its eigenvalues over the region of stability, and the sizes of its
entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm, Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterSciNotation, LogLocator, MaxNLocator, NullLocator

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, draw_bar, tidy
from simsuite.pictures.units import decades, grouped

_REGION = "#e8f1f8"  # the colour of the region of stability
_ON = 1e-9  # An eigenvalue less far inside, relatively, is drawn as one that does not decay.
_NOTHING = 1e-14  # Numbers smaller than this, relatively, are left over by rounding and do not stretch an axis.
_DECADES = 2.5  # A linear axis can show so many decades.
_FEWEST = 8  # A logarithmic axis shows at most so many decades.
_PLAIN = 20_000  # Numbers of rows beyond this are written in thousands.
_VERDICTS = ("", ": stable", ": marginally stable", ": unstable")  # the verdicts by their numbers in the result file


def has_eigenvalues(run: Recording) -> bool:
    """Whether the run came to its end with eigenvalues."""
    return run.has("eigenvalue_real") and bool(np.all(np.isfinite(run.numbers("eigenvalue_real", ...))))


def draw_eigenvalues(run: Recording, ax: Axes) -> list[Line2D]:
    """Draw the eigenvalues in the complex plane, over the unit disc or the left half plane; those that do not decay
    have another colour. Returns what a key is to say of that.
    """
    x, y = (run.numbers(f"eigenvalue_{part}", ...) for part in ("real", "imag"))
    continuous = run.scenario.system.kind == "continuous"
    title = "Eigenvalues of A" + _VERDICTS[int(run.numbers("stability", ...))]
    decays = x < -_ON * np.max(np.hypot(x, y)) if continuous else np.hypot(x, y) < 1 - _ON
    for which, colour in ((decays, COLOURS[0]), (~decays, COLOURS[1])):
        size = 4.5 if len(x) <= 60 else 3
        ax.plot(x[which], y[which], "o", color=colour, markersize=size, markeredgewidth=0, alpha=0.85, zorder=3)
    if continuous:
        _half_plane(ax, *(np.where(np.abs(part) <= _NOTHING * np.max(np.hypot(x, y)), 0.0, part) for part in (x, y)))
        tidy(ax, title, "Real part (1/s)", "Imaginary part (rad/s)", box=True)
    else:
        _disc(ax, float(np.max(np.hypot(x, y))))
        tidy(ax, title, "Real part (1)", "Imaginary part (1)", box=True)
    ax.axhline(0, color=GREY, linewidth=0.4, zorder=1)
    if decays.all():
        return []
    style: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 4.5, "markeredgewidth": 0}
    return [Line2D([], [], color=COLOURS[1], label="mode that does not decay", **style)]


def _disc(ax: Axes, radius: float) -> None:
    ax.add_patch(Circle((0, 0), 1, facecolor=_REGION, edgecolor=GREY, linewidth=0.8, zorder=0))
    ax.axvline(0, color=GREY, linewidth=0.4, zorder=1)
    edge = 1.12 * max(radius, 1.0)
    ax.set(xlim=(-edge, edge), ylim=(-edge, edge))
    ax.set_aspect("equal")


def _half_plane(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    (left, right), (bottom, top) = _scaled(ax.xaxis, ax.set_xscale, x), _scaled(ax.yaxis, ax.set_yscale, y)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.axvspan(left, 0, color=_REGION, linewidth=0, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)


def _scaled(axis: Axis, set_scale: Callable[..., None], values: np.ndarray) -> tuple[float, float]:
    """The limits of an axis, with 0 between them, after making it logarithmic on both sides of 0 if the values require
    it.
    """
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    sizes = np.abs(values[values != 0])
    if decades(sizes) <= _DECADES:
        room = 0.15 * (high - low) or 1.0
        return low - room, high + room
    least = max(float(sizes.min()), float(sizes.max()) / 10**_FEWEST)
    set_scale("symlog", linthresh=least, linscale=0.5)
    bottom, top = math.ceil(math.log10(least)), math.floor(math.log10(sizes.max()))
    powers = 10.0 ** np.arange(top, bottom, -max(1, (top - bottom) // 4))
    ticks = [*(-powers if low < 0 else []), 0, *(powers[::-1] if high > 0 else [])]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(LogFormatterSciNotation())
    return min(3 * low, -least), max(3 * high, least)


def _in_thousands(number: float, _: int | None) -> str:
    return f"{number / 1000:g} k" if number else "0"


def draw_matrix(run: Recording, ax: Axes) -> None:
    """Draw how large the entries of A are, with 0 left white; for large matrices the largest entry of each block."""
    values = run.numbers("matrix_magnitude", ...)
    n, block, nonzeros = (int(run.file["matrix_magnitude"].attrs[name]) for name in ("rows", "block", "nonzeros"))
    shown, largest = np.where(values > 0, values, np.nan), float(values.max()) or 1.0
    logarithmic = decades(values) > 1.5
    norm = (
        LogNorm(max(float(np.nanmin(shown)), largest / 10**_FEWEST), largest) if logarithmic else Normalize(0, largest)
    )
    image = ax.imshow(
        shown, norm=norm, cmap=matplotlib.colormaps["viridis_r"], extent=(-0.5, n - 0.5, n - 0.5, -0.5), aspect="equal"
    )
    blocks = "" if block == 1 else f"\nlargest in {block} × {block}"
    tidy(ax, f"|A|, {grouped(nonzeros)} entr{'y' if nonzeros == 1 else 'ies'}{blocks}", "Column", "Row", box=True)
    beside = 3 if n > _PLAIN else max(1, min(5, 9 - 2 * len(str(n))))  # steps of so long numbers, which must not touch
    ax.xaxis.set_major_locator(MaxNLocator(beside, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    if n > _PLAIN:
        ax.xaxis.set_major_formatter(FuncFormatter(_in_thousands))
        ax.yaxis.set_major_formatter(FuncFormatter(_in_thousands))
    bar = draw_bar(ax, image, "Size of an entry", 0.04)
    if logarithmic:
        bar.set_ticks(LogLocator(numticks=6), minor=False)
        bar.set_ticks([], minor=True)
        bar.ax.yaxis.set_major_formatter(LogFormatterSciNotation())
