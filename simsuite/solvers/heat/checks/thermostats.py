"""Sources and conductivities that jump where the temperature passes a value, as a thermostat does, `(T < 330)`.

Every cell passes that value at a time of its own, so steps cannot end there as they end where data jump in time. A step
that goes over it heats a cell as if the source had been on, or off, for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import changes, jumping
from simsuite.expressions.intervals import bounds
from simsuite.expressions.tree import names_in
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation

_LOOKS = 11  # times at which sources are looked at
_MOST = 512  # cells along each axis in which they are
_JUMP = 1e-9  # of the largest power: less is rounding


def thermostat_warnings(scenario: HeatScenario, made: Discretisation, controlled: bool) -> list[str]:
    """A sentence for each source, and one for the conductivity, that jumps at a temperature that can come up.
    controlled: whether the lengths of steps follow from an estimate of their error."""
    if scenario.time.steady or scenario.time.end is None:
        return []
    found = []
    for name, source in zip(scenario.source_names, scenario.source):
        if source.power.depends_on("T"):
            where = next(_jumps(source.power, made, scenario.time.end), None)
            if where is not None:
                found.append(_words(name, where, controlled))
    jumps = (where for k in _conductivities(scenario) for where in _jumps(k, made, scenario.time.end))
    where = next(jumps, None)
    if where is not None:
        off = (
            "so that steps that control their error become short there"
            if controlled
            else ("so results are off by about what flows differently in one step")
        )
        found.append(
            f"the conductivity jumps {_at(where)}, which each cell passes at a time of its own: steps cannot end "
            f"there, {off}; make it a ramp over a few kelvin"
        )
    return found


def _conductivities(scenario: HeatScenario) -> Iterator[Expression]:
    """Those that depend on temperature."""
    parts = [scenario.material.conducting_parts(), *(region.conducting_parts() for region in scenario.region)]
    expressions = (part for pair in parts for part in pair or () if isinstance(part, Expression))
    yield from (part for part in dict.fromkeys(expressions) if part.depends_on("T"))


def _words(name: str, where: float, controlled: bool) -> str:
    costs = ", and steps that control their error become very short" if controlled else ""
    dt = ", or set time.dt" if controlled else ""
    return (
        f"the source {name} jumps {_at(where)}, which each cell passes at a time of its own: steps cannot end there, "
        f"so results are off by about what it heats in one step{costs}; make it a ramp, such as {_ramp(where)}{dt}"
    )


def _ramp(where: float) -> str:
    """An example of one in place of a jump there, or anywhere."""
    value = 330.0 if math.isnan(where) else where
    return f"min(1, max(0, ({value:g} - T)/0.5)) for (T < {value:g})"


def _at(where: float) -> str:
    """The first number above 0, where `T > 0` begins, counts as 0."""
    return "as T grows" if math.isnan(where) else f"at T = {where if abs(where) > 1e-300 else 0.0:g}"


def ramp_between(power: Expression, made: Discretisation, end: float, reached: tuple[float, float]) -> str | None:
    """What to write in place of a jump, where a source jumps at a temperature that a run came past. reached: the least
    and the largest of it."""
    where = next(_jumps(power, made, end, reached), None)
    return None if where is None else _ramp(where)


def _jumps(
    power: Expression, made: Discretisation, end: float, reached: tuple[float, float] | None = None
) -> Iterator[float]:
    """The temperatures at which a source jumps, of those that can come up, or that were reached; NaN for one that
    depends on place or time, or that is too far to be looked for."""
    parts = dict.fromkeys(jumping(power.tree, "T"))
    if not parts:
        return
    looks = np.linspace(0.0, end, _LOOKS).tolist()
    with np.errstate(all="ignore"):
        low, high = made.reach(looks, end) if reached is None else reached
    x, y = made.centres
    ranges = {
        "x": (float(x[0]), float(x[-1])),
        "y": (float(y[0, 0]), float(y[-1, 0])),
        "t": (0.0, end),
        "T": (low, high),
    }
    for part in parts:
        if names_in(part) != {"T"} or not math.isfinite(high - low):
            lower, upper = bounds(part, ranges) if math.isfinite(high - low) else (0.0, 1.0)
            if lower != upper:
                yield math.nan
            continue
        for where in changes(part, "T", low, high):
            if _passes(power, made, (low, float(where), high), looks):
                yield float(where)


def _passes(power: Expression, made: Discretisation, at: tuple[float, float, float], looks: list[float]) -> bool:
    """Whether the source differs on both sides of a temperature in some cell at some time. at: the least temperature
    that can come up, that one, and the largest."""
    low, where, high = at
    x, y = (a[:: max(1, a.size // _MOST)] for a in made.centres)
    for t in looks if power.depends_on("t") else looks[:1]:
        powers = [np.asarray(power(x=x, y=y, t=t, T=T)) for T in (low, np.nextafter(where, low), where, high)]
        largest = max(float(np.max(np.abs(q))) for q in powers)
        if float(np.max(np.abs(powers[2] - powers[1]))) > _JUMP * largest:
            return True
    return False
