"""Panels on what `[analysis]` of a linear system has found: frequency responses, with the crossings of margins, and
responses to steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MultipleLocator, NullFormatter

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import decades, time_unit

_LINES = 6  # At most so many pairs of an input and an output are drawn.
_CROSSINGS = (  # their variable, how they are drawn, and what that means
    ("gain_crossing", (0, (4, 3)), "magnitude 1: phase margin"),
    ("phase_crossing", (0, (1, 2)), "phase 180°: gain margin"),
)


def control_panels(run: Recording, sheet: Callable[[], Sheet]) -> list[Callable[[Axes], Sequence[Artist]]]:
    """A function that draws each panel there is, in order, and returns its key. sheet: gives the page when they are
    drawn."""
    found: list[Callable[[Axes], Sequence[Artist]]] = []
    if run.has("bode_magnitude"):
        found += [lambda ax: _draw_magnitude(run, ax, sheet()), lambda ax: _draw_phase(run, ax)]
    if run.has("step_response"):
        found.append(lambda ax: _draw_steps(run, ax, sheet()))
    return found


def _channels(run: Recording, variable: str) -> Iterator[tuple[str, np.ndarray, str]]:
    """What is drawn of a variable (output, input, ..): which input and output, as far as there are several; numbers;
    colour.
    """
    outputs, inputs, values = run.texts("output"), run.texts("input"), run.numbers(variable, ...)
    for k, (i, j) in enumerate(list(np.ndindex(values.shape[:2]))[:_LINES]):
        both = [inputs[j]] if len(inputs) > 1 else [], [outputs[i]] if len(outputs) > 1 else []
        yield " → ".join(both[0] + both[1]), values[i, j], COLOURS[k]


def _more(run: Recording) -> str:
    """The end of a title: of which input and output, or how many of all are drawn."""
    outputs, inputs = run.texts("output"), run.texts("input")
    count = len(outputs) * len(inputs)
    if count == 1:
        return f": {inputs[0]} → {outputs[0]}"
    of = f" to {inputs[0]}" if len(inputs) == 1 else ""
    return of if count <= _LINES else f"{of} ({_LINES} of {count})"


def _frequency_axis(run: Recording, ax: Axes, title: str, label: str) -> Sequence[Artist]:
    """Draw the axis and where margins are read off. Returns what the lines of these mean."""
    tidy(ax, title, "Frequency (rad/s)", label)
    w = run.numbers("frequency", ...)
    ax.set_xlim(w[0], w[-1])
    ax.xaxis.set_major_locator(LogLocator(numticks=6))
    ax.xaxis.set_minor_formatter(NullFormatter())
    key: list[Artist] = []
    for variable, dashes, words in _CROSSINGS:
        crossings = [at for at in run.numbers(variable, ...) if at > 0] if run.has(variable) else []
        style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": dashes}
        for at in crossings:
            ax.axvline(at, **style, zorder=0)
        key += [Line2D([], [], **style, label=words)] if crossings else []
    return key


def _draw_magnitude(run: Recording, ax: Axes, sheet: Sheet) -> Sequence[Artist]:
    w, ends = run.numbers("frequency", ...), []
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="mask")
    for name, size, colour in _channels(run, "bode_magnitude"):
        size = np.where(size > 0, size, np.nan)
        draw_line(ax, w, size, colour)
        ends.append((float(size[np.isfinite(size)][-1]) if np.isfinite(size).any() else 1.0, name, colour))
    if run.has("gain_crossing") or run.has("modulus_margin"):
        ax.axhline(1.0, color=GREY, linewidth=0.6, zorder=0)
    key = _frequency_axis(run, ax, f"Response{_more(run)}", "Magnitude (1)")
    if decades(run.numbers("bode_magnitude", ...)) > 1:
        ax.yaxis.set_minor_formatter(NullFormatter())
    if len(ends) > 1:
        label_ends(sheet, ax, ends)
    return key


def _draw_phase(run: Recording, ax: Axes) -> Sequence[Artist]:
    w, low, high = run.numbers("frequency", ...), 0.0, 0.0
    ax.set_xscale("log")
    for _, phase, colour in _channels(run, "bode_phase"):
        degrees = np.degrees(phase)
        draw_line(ax, w, degrees, colour)
        good = degrees[np.isfinite(degrees)]
        low, high = float(np.min(good, initial=low)), float(np.max(good, initial=high))
    key = _frequency_axis(run, ax, "Phase", "Phase (°)")
    span = high - low
    ax.yaxis.set_major_locator(MultipleLocator(next((s for s in (15, 45, 90, 180, 360) if span <= 6 * s), 720)))
    if run.has("modulus_margin"):
        for at in critical_phases(low, high):
            ax.axhline(at, color=GREY, linewidth=0.6, zorder=0)
    return key


def critical_phases(low: float, high: float) -> list[float]:
    """The phases between `low` and `high`, in degrees, at which a response is real and negative, or -180 if there are
    none. The phase of a loop is continuous, and so may cross at 180 or -540 as well."""
    turns = np.arange(np.ceil((low - 180) / 360), np.floor((high - 180) / 360) + 1)
    return [float(180 + 360 * turn) for turn in turns] or [-180.0]


def _draw_steps(run: Recording, ax: Axes, sheet: Sheet) -> Sequence[Artist]:
    t, ends = run.numbers("response_time", ...), []
    clock = time_unit(float(t[-1]))
    discrete = {} if run.scenario.system.kind == "continuous" else {"drawstyle": "steps-post"}
    for name, values, colour in _channels(run, "step_response"):
        draw_line(ax, t * clock.scale, values, colour, **discrete)
        good = values[np.isfinite(values)]
        ends.append((float(good[-1]) if len(good) else 0.0, name, colour))
    tidy(ax, f"Step response{_more(run)}", f"Time ({clock.name})", "Output (1)")
    ax.margins(x=0, y=0.06)
    ax.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    if len(ends) > 1:
        label_ends(sheet, ax, ends)
    return []
