"""The exposure of a Monte Carlo run's portfolio over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, Sheet, draw_line, label_ends, tidy

_Z95 = 1.96


def draw_exposure(sheet: Sheet, ax: Axes, run: Recording, frames: np.ndarray) -> None:
    """Draw the expected exposure and, below 0, the negative one, with their intervals, and the potential exposure at
    each level.
    """
    time, ends = run.time[frames], []
    for name, sign, colour, label in (
        ("exposure_expected", 1, COLOURS[1], "expected"),
        ("exposure_negative", -1, COLOURS[2], "negative"),
    ):
        value = sign * _along(run, name, frames)
        reach = _Z95 * _along(run, f"{name}_standard_error", frames)
        ax.fill_between(time, value - reach, value + reach, color=colour, alpha=0.3, linewidth=0)
        draw_line(ax, time, value, colour)
        ends.append((value[-1], label, colour))
    for i, level in enumerate(run.numbers("level", slice(None))):
        low, high, value = (
            run.numbers(f"exposure_potential{part}", i, slice(run.frames))[frames] for part in ("_low", "_high", "")
        )
        ax.fill_between(time, low, high, color=COLOURS[0], alpha=0.3, linewidth=0)
        draw_line(ax, time, value, COLOURS[0])
        ends.append((value[-1], f"{100 * level:.4g} %", COLOURS[0]))
    ax.axhline(0, color=GREY, linewidth=0.6)
    tidy(ax, "Exposure of the assets held", "Time (years)", "Value (currency)")
    ax.margins(x=0)
    if len(time) > 1:
        label_ends(sheet, ax, [end for end in ends if np.isfinite(end[0])])


def _along(run: Recording, name: str, frames: np.ndarray) -> np.ndarray:
    return run.numbers(name, slice(run.frames))[frames]
