"""The inputs of a linear system over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from simsuite.expressions import Expression
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.systems.clock import clock_of, time_label
from simsuite.pictures.units import shortened

_MOST = 6  # At most so many inputs are drawn.
_TIMES = 2000  # At most so many times are drawn.


def has_inputs(run: Recording) -> bool:
    """Whether the system has inputs that are written in the scenario; those in files are not read."""
    given = run.scenario.system.input
    return isinstance(given, list) and bool(given)


def input_names(run: Recording) -> list[str]:
    """What the scenario calls its inputs; numbered where it does not."""
    count = len(run.scenario.system.input)
    named = run.scenario.names.input if run.scenario.names is not None else None
    if named is not None:
        return list(named)
    below = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return ["u" if count == 1 else f"u{str(i + 1).translate(below)}" for i in range(count)]


def draw_inputs(run: Recording, sheet: Sheet, ax: Axes) -> None:
    """A line for each input, as it is taken: constant over a step, or in a straight line from step to step."""
    model, clock = run.scenario, clock_of(run)
    steps = np.unique(np.linspace(0, model.time.steps, min(model.time.steps + 1, _TIMES)).round())
    t = steps * model.dt
    style = {} if model.system.hold == "first" else {"drawstyle": "steps-post"}
    names, ends = input_names(run), []
    for i, given in enumerate(model.system.input[:_MOST]):
        assert isinstance(given, Expression)
        values = np.broadcast_to(np.asarray(given(t=t), np.float64), t.shape)
        draw_line(ax, t * clock.scale, values, COLOURS[i], linewidth=1.0, **style)
        ends.append((float(values[-1]), shortened(names[i], 18), COLOURS[i]))
    more = f" ({_MOST} of {len(names)})" if len(names) > _MOST else ""
    tidy(ax, f"Input{'s' if len(names) > 1 else ''}{more}", time_label(clock), names[0] if len(names) == 1 else "Input")
    ax.margins(x=0, y=0.1)
    if len(names) > 1:
        label_ends(sheet, ax, ends)
