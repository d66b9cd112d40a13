"""Warnings about sources and conductivities that jump where the temperature passes a value, such as a thermostat
`(T < 330)`.

Every cell passes that value at a time of its own, so steps cannot end at these times, as they end where data jump in
time. A step that goes beyond such a time heats the cell as if the source had been on, or off, for the whole step.
Where the steady state is asked for, a cell beside such a temperature may have none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import changes, jumping
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.intervals import bounds
from simsuite.expressions.tree import Apply, Node, names_in
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, RADIATION
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN
from simsuite.solvers.heat.grid.sampling import distinct

_LOOKS = 11  # the number of times at which sources are looked at
_MOST = 512  # the most cells along each axis in which sources are looked at
# the widths in kelvin of the ramps that are proposed in place of jumps, of sources and of conductivities
_HALF, _FEW = 0.5, 5.0
_WIDER = 16  # how many times the bounds of temperatures are widened at most, by what sources give between them
_NAMED = 3  # how many temperatures at which a function jumps are named
_JUMP = 1e-9  # share of the largest power: a smaller difference is rounding and no jump
_CANNOT_END = "which cells that come to it pass at times of their own: steps cannot end there"


class Jump(NamedTuple):
    """A jump of a function at a temperature. at: the temperature; NaN if it depends on place or time, or is too far off
    to be looked for. rises: whether the function jumps up there as T grows, as `(T > 330)` does and `(T < 330)` does
    not."""

    at: float
    rises: bool


def thermostat_warnings(scenario: HeatScenario, made: Discretisation, controlled: bool) -> list[str]:
    """A sentence for each source, and one for the conductivity, that jumps at a temperature that can come up.
    controlled: whether the lengths of steps follow from an estimate of their error."""
    if scenario.time.steady:
        return _steady_warnings(scenario, made)
    if scenario.time.end is None:
        return []
    found = []
    for source in made.heating:
        if source.power.depends_on("T"):
            jumps = list(islice(_jumps(source.power, made, scenario.time.end), _NAMED + 1))
            if jumps:
                found.append(_words(source.words, jumps, controlled))
    all_jumps = (jump for k in conductivities(scenario) for jump in _jumps(k, made, scenario.time.end))
    jumps = list(islice(all_jumps, _NAMED + 1))
    if jumps:
        off = "so results are off by about what flows differently in one step"
        if controlled:
            off = "so that steps that control their error become short there"
        about = "that temperature" if len(jumps) == 1 else "each of these temperatures"
        found.append(
            f"{_conducting(scenario)} jumps {_at(*jumps)}, {_CANNOT_END}, {off}; make it a ramp over a few kelvin "
            f"about {about}, such as {_ramp(jumps[0], _FEW, True)}"
        )
    return found


def _steady_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """The sentences of `thermostat_warnings` where the steady state is asked for."""
    named = [(each.words, f, _HALF, False) for each, f in zip(made.heating, made.sources)]
    named += [(_conducting(scenario), f, _FEW, True) for f in conductivities(scenario)]
    jumping_ones = [part for part in named if part[1].depends_on("T") and next(jumping(part[1].tree, "T"), None)]
    within = steady_reach(made) if jumping_ones else (0.0, 0.0)
    found: dict[str, str] = {}
    for name, f, width, centred in jumping_ones:
        jump = next(_jumps(f, made, 0.0, within), None)
        if jump is not None:
            found.setdefault(
                name,
                f"{name} jumps {_at(jump)}, and cells that would come to rest there cannot: no steady state may be "
                f"found; make it a ramp, such as {_ramp(jump, width, centred)}",
            )
    return list(found.values())


def steady_reach(made: Discretisation) -> tuple[float, float]:
    """The least and the largest temperature that a steady state may come to, roughly: as far as sources and fluxes
    drive a cell in the time in which heat crosses the plate and its edges."""
    least, most = made.temperatures([0.0])
    k = min(float(np.nanmin(distinct(a))) for _, *pair in made.conductivities((least, most)) for a in pair)
    kinds, first = made.edges.kinds, made.edges.data(0.0)[0]
    radiant = 4.0 * first[kinds == RADIATION] * STEFAN_BOLTZMANN * np.abs(np.float64(most)) ** 3
    h = np.concatenate([first[kinds == CONVECTION], radiant])
    least_h = float(np.min(h[h > 0.0], initial=math.inf))
    side, capacity = max(made.nx * made.dx, made.ny * made.dy), float(np.max(distinct(made.rho_c)))
    return made.reach([0.0], capacity * (side / least_h + (side * side / k if k > 0.0 else 0.0)))


def _conducting(scenario: HeatScenario) -> str:
    """What the scenario gives of how materials conduct."""
    return "the diffusivity" if scenario.material.alone else "the conductivity"


def conductivities(scenario: HeatScenario) -> Iterator[Expression]:
    """The conductivities that depend on temperature."""
    parts = [scenario.material.conducting_parts(), *(region.conducting_parts() for region in scenario.region)]
    expressions = (part for pair in parts for part in pair or () if isinstance(part, Expression))
    yield from (part for part in dict.fromkeys(expressions) if part.depends_on("T"))


def _words(name: str, jumps: Sequence[Jump], controlled: bool) -> str:
    own = f"{name} jumps {_at(*jumps)}, {_CANNOT_END}"
    ramp = f"make it a ramp, such as {_ramp(jumps[0])}"
    if not controlled:
        return f"{own}, so results are off by about what it heats in one step; {ramp}"
    return (
        f"{own}, and become very short, as time_error counts what it heats too long, or too little, within one; {ramp}"
        ", or set time.dt, with which no error is estimated"
    )


def _ramp(jump: Jump, width: float = _HALF, centred: bool = False) -> str:
    """An example of a ramp in place of a jump; an example at any temperature, if that of the jump is not known. width:
    of the ramp, K.

    The ramp begins at the jump, on the side on which the function is 1, because a thermostat should be off beyond its
    temperature. If `centred`, the jump is in the middle of the ramp."""
    value = 330.0 if math.isnan(jump.at) else _near(jump.at)
    begin = value + (-0.5 if jump.rises else 0.5) * width if centred else value
    beyond = "T" if begin == 0.0 else f"(T {'+' if begin < 0 else '-'} {abs(begin):g})"
    below = "-T" if begin == 0.0 else f"({begin:g} - T)"
    way, distance = (">", beyond) if jump.rises else ("<", below)
    return f"min(1, max(0, {distance}/{width:g})) for (T {way} {value:g})"


def _near(where: float) -> float:
    """The temperature of a jump, for people: the first number above 0, where `T > 0` begins to hold, is shown as 0."""
    return where if abs(where) > 1e-300 else 0.0


def _at(*jumps: Jump) -> str:
    """Where a function jumps: the first few temperatures, as far as they are known."""
    known = [f"{_near(at):g}" for at in dict.fromkeys(jump.at for jump in jumps) if not math.isnan(at)]
    if not known:
        return "as T grows"
    *first, last = [*known[:_NAMED], "others"] if len(known) > _NAMED else known
    return f"at T = {', '.join(first)} and {last}" if first else f"at T = {last}"


def why_jumping(scenario: HeatScenario, made: Discretisation, reached: tuple[float, float]) -> tuple[str, str] | None:
    """What jumps at a temperature that a run passed, and what to write in its place; None where nothing jumps. reached:
    the least and the largest temperature that the run came to."""
    powers = [source.power for source in made.heating]
    kinds = (("a source", powers, _HALF, False), (_conducting(scenario), conductivities(scenario), _FEW, True))
    for what, functions, width, centred in kinds:
        for f in functions:
            jump = next(_jumps(f, made, scenario.time.end or 0.0, reached), None)
            if jump is not None:
                return what, _ramp(jump, width, centred)
    return None


def _jumps(
    power: Expression, made: Discretisation, end: float, reached: tuple[float, float] | None = None
) -> Iterator[Jump]:
    """The jumps of a source at temperatures that can come up, or, if `reached` is given, between these two
    temperatures."""
    parts = dict.fromkeys(jumping(power.tree, "T"))
    if not parts:
        return
    looks = np.linspace(0.0, end, _LOOKS).tolist()
    with np.errstate(all="ignore"):
        within = made.reach(looks, end) if reached is None else reached
        found = list(_jumps_within(power, made, looks, parts, within))
        if not found and reached is None:
            wider = _may_come_to(made, looks, end, within)
            if wider != within:
                found = list(_jumps_within(power, made, looks, parts, wider))
    yield from found


def _jumps_within(
    power: Expression, made: Discretisation, looks: list[float], parts: Iterable[Node], within: tuple[float, float]
) -> Iterator[Jump]:
    """The jumps of a source between two temperatures, at times like `looks`. parts: those of it that jump."""
    low, high = within
    x, y = made.centres
    ranges = {
        "x": (float(x[0]), float(x[-1])),
        "y": (float(y[0, 0]), float(y[-1, 0])),
        "t": (0.0, looks[-1]),
        "T": (low, high),
    }
    for part in parts:
        if names_in(part) != {"T"} or not math.isfinite(high - low):
            lower, upper = bounds(part, ranges) if math.isfinite(high - low) else (0.0, 1.0)
            if lower != upper:
                yield Jump(math.nan, _rises(part))
            continue
        for where in changes(part, "T", low, high):
            if _passes(power, made, (low, float(where), high), looks):
                sides = evaluate(part, {"T": np.array([np.nextafter(where, -math.inf), where])})
                yield Jump(float(where), bool(sides[1] > sides[0]))


def _may_come_to(
    made: Discretisation, looks: list[float], end: float, within: tuple[float, float]
) -> tuple[float, float]:
    """The least and the largest temperature that sources could drive cells to. within: those by what sources give at
    the temperatures of the start and of edges. A source that gives more for a higher temperature, as a reaction does,
    drives cells further than that."""
    least, most = made.temperatures(looks)
    low, high = within
    for _ in range(_WIDER):
        lower, _ = made.reach(looks, end, (low, most))
        _, higher = made.reach(looks, end, (least, high))
        if (lower >= low and higher <= high) or not math.isfinite(higher - lower):
            break
        low, high = min(low, lower), max(high, higher)
    return low, high


def _rises(part: Node) -> bool:
    """Whether a comparison, or a function that jumps, becomes 1, or larger, as T grows."""
    if isinstance(part, Apply) and part.op in ("<", "<="):
        return "T" not in names_in(part.args[0])
    return not (isinstance(part, Apply) and part.op in (">", ">=")) or "T" in names_in(part.args[0])


def _passes(power: Expression, made: Discretisation, at: tuple[float, float, float], looks: list[float]) -> bool:
    """Whether the source has different values on both sides of a temperature, in some cell at some time. at: the least
    temperature that can come up, the temperature in question, and the largest one."""
    low, where, high = at
    x, y = (a[:: max(1, a.size // _MOST)] for a in made.centres)
    for t in looks if power.depends_on("t") else looks[:1]:
        powers = [np.asarray(power(x=x, y=y, t=t, T=T)) for T in (low, np.nextafter(where, low), where, high)]
        largest = max(float(np.max(np.abs(q))) for q in powers)
        if float(np.max(np.abs(powers[2] - powers[1]))) > _JUMP * largest:
            return True
    return False
