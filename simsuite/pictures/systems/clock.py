"""The axis of time of a linear system: in steps for one that goes in steps, else in a unit that suits it."""

from __future__ import annotations

from simsuite.pictures.recording import Recording
from simsuite.pictures.units import Unit, grouped, rounded, time_unit

_STEP = "step"


def clock_of(run: Recording) -> Unit:
    """The unit of time."""
    model = run.scenario
    if model.system.kind == "discrete":
        return Unit(_STEP, 1 / model.dt)
    return time_unit(float(model.time.steps) * model.dt)


def time_label(clock: Unit) -> str:
    """What stands at the axis."""
    return "Step" if clock.name == _STEP else f"Time ({clock.name})"


def moment(clock: Unit, time: float) -> str:
    """A time, in the unit of the clock, in words."""
    if clock.name == _STEP:
        return f"after {grouped(round(time))} step{'' if round(time) == 1 else 's'}"
    return f"at t = {rounded(time, 6)} {clock.name}"
