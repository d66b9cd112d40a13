"""The components of some states at one time: dots of few of them, lines of more, bands of very many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.pictures.coincidence import seen_apart
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, draw_line, tidy
from simsuite.pictures.systems.batch import FEW, extremes
from simsuite.pictures.systems.clock import clock_of, moment
from simsuite.pictures.systems.trajectories import LINES, names_of, shape_of, what_of
from simsuite.pictures.units import grouped

_STEMS = 40  # At most so many dots are drawn, of all states.
_POINTS = 600  # Of more components the least and the largest of so many stretches are drawn.
_APART = 0.27  # between dots of one component, as a share of the distance to the next component
_LETTERS = 48  # Names of components of so many letters together fit below an axis.
_MARKS = ("o", "s", "^")  # of each state that is drawn


def draw_profile(run: Recording, ax: Axes) -> list[Artist]:
    """Draw the first states of the batch at the frame that is shown. Dots have the colour that their component has
    where it is drawn over time, else that of their state. Returns what a key is to say of the states."""
    _, n, batch = shape_of(run)
    samples, clock, what = min(batch, FEW), clock_of(run), what_of(run)
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    draw = _stems if n * samples <= _STEMS else _lines if n <= _POINTS else _bands
    key, note = draw(run, ax, n, samples)
    tidy(ax, f"{what} {moment(clock, float(run.time[run.shown]) * clock.scale)}", f"Component{note}", what)
    ax.margins(x=0.08 if draw is _stems else 0.02)
    if draw is _stems and n <= 12:
        ax.set_xticks(np.arange(n))
        named = names_of(run)
        if named and sum(map(len, named)) <= _LETTERS:
            ax.set_xticklabels(named, parse_math=False)
    return key if samples > 1 else []


def _stems(run: Recording, ax: Axes, n: int, samples: int) -> tuple[list[Artist], str]:
    (values, _), key = extremes(run, run.shown, 1, samples), list[Artist]()
    for j in range(samples):
        colours = COLOURS[:n] if n <= LINES else [COLOURS[j]] * n
        style: dict[str, Any] = {"marker": _MARKS[j], "markersize": 4 if n <= LINES else 3, "linestyle": "none"}
        for at, value, colour in zip(np.arange(n) + _APART * (j - (samples - 1) / 2), values[:, j], colours):
            ax.vlines(at, 0, value, color=colour, linewidth=1.0)
            ax.plot(at, value, color=colour, **style)
        key.append(Line2D([], [], color=GREY if n <= LINES else COLOURS[j], label=f"sample {j}", **style))
    return key, ""


def _lines(run: Recording, ax: Axes, n: int, samples: int) -> tuple[list[Artist], str]:
    (values, _), key = extremes(run, run.shown, 1, samples), list[Artist]()
    for j, style in enumerate(seen_apart(values)):
        draw_line(ax, np.arange(n), values[:, j], COLOURS[j], linewidth=1.0, **style)
        key.append(Line2D([], [], color=COLOURS[j], linewidth=1.0, label=f"sample {j}", **style))
    return key, ""


def _bands(run: Recording, ax: Axes, n: int, samples: int) -> tuple[list[Artist], str]:
    """From the least to the largest component of each stretch: a line through every n-th component would miss peaks,
    and would show a wrong period where components repeat."""
    block, key = math.ceil(n / _POINTS), list[Artist]()
    ends = extremes(run, run.shown, block, samples)
    middles = np.minimum(np.arange(len(ends[0])) * block + (block - 1) / 2, n - 1)
    for j in range(samples):
        style: dict[str, Any] = {"facecolor": COLOURS[j], "edgecolor": COLOURS[j], "linewidth": 0.6, "alpha": 0.6}
        ax.fill_between(middles, ends[0][:, j], ends[1][:, j], **style)
        key.append(Patch(**style, label=f"sample {j}"))
    return key, f" (from least to largest of {grouped(block)})"
