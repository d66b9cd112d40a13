"""The difference of a variable of two runs: a map of a field at the last time, else lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from simsuite.comparison.arrays import Source
from simsuite.comparison.differences import Difference, aligned

_LINES = 12  # how many lines are drawn at most


def draw_difference(a: Source, b: Source, of: Difference, path: Path) -> None:
    """Draw a - b of the variable that `of` is about."""
    x, y, axes, how = aligned(a.arrays[of.name], b.arrays[of.name])
    apart = np.real(x - y)
    figure = Figure(figsize=(7.0, 5.0), dpi=120, layout="constrained")
    ax = figure.add_subplot()
    unit = f" ({of.unit})" if of.unit else ""
    names = [{"sample": "time"}.get(axis.name, axis.name) or "index" for axis in axes]
    if apart.ndim >= 2 and min(apart.shape[-2:]) > 1 and names[-1] == "x":
        field = apart[(-1,) * (apart.ndim - 2)]
        limit = float(np.nanmax(np.abs(field))) or 1.0
        ends = [_ends(axis.points, n) for axis, n in zip(axes[-2:], field.shape)]
        shown = ax.imshow(
            field, origin="lower", cmap="RdBu_r", vmin=-limit, vmax=limit, extent=(*ends[1], *ends[0]), aspect="equal"
        )
        figure.colorbar(shown, ax=ax, label=f"A - B{unit}")
        ax.set_xlabel(names[-1])
        ax.set_ylabel(names[-2])
    else:
        lines = apart.reshape(apart.shape[0], -1) if apart.ndim else apart.reshape(1, 1)
        points = axes[0].points if axes and axes[0].points is not None and axes[0].points.dtype.kind == "f" else None
        at = np.arange(lines.shape[0]) if points is None else points
        for column in lines.T[:_LINES]:
            ax.plot(at, column, marker="." if len(at) < 40 else None)
        ax.axhline(0.0, color="0.5", linewidth=0.8)
        ax.set_xlabel(names[0] if names else "")
        ax.set_ylabel(f"A - B{unit}")
    ax.set_title(f"{of.name}, at most {of.largest:.3g}{unit}{', ' + how if how else ''}", fontsize=10)
    figure.suptitle(f"A: {a.label}   B: {b.label}", fontsize=9)
    figure.savefig(path)


def _ends(points: np.ndarray | None, count: int) -> tuple[float, float]:
    """From where to where cells go whose middles are given."""
    if points is None or points.dtype.kind != "f" or count < 2:
        return 0.0, float(count)
    half = 0.5 * (points[-1] - points[0]) / (count - 1)
    return float(points[0] - half), float(points[-1] + half)
