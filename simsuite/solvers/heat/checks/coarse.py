"""Warnings about data that change by much within a step of a given dt or within a cell, or so fast that a run takes
very many steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.solvers.heat.checks.grid_power import GridPower, grid_power
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.single_moments import without_moments
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.steppers import is_exact_in_time
from simsuite.solvers.heat.time_scales.acting_cells import edge_points, source_cells
from simsuite.solvers.heat.time_scales.longest_steps import FINEST, LongestSteps

# Data are looked at so many times in a run. They are too fast if, after more than this share of the looks, they leave
# the line to the next look.
_MANY, _OFTEN = 1024, 0.3
_ASIDE = 0.1  # the share of the data's range by which they must be off the line to have left it
_LOOKS = 9  # the number of times at which data are looked at within a step, its ends included
_MOST_STEPS = 8192  # the most steps that are looked at; a dt that needs more steps is short enough for most data
_MUCH = 0.5  # A change within a step is large if it is more than this share of a function's change in the whole run.
_POINTS = 8  # the number of points along an edge, and along each axis of a source
_OFF = 0.1  # A warning is due if the power on the grid differs from a source's own power by more than this share of it.
_ROUNDING = 1e-9  # share of the power of a source on the grid: an own power that is less counts as 0
# A warning is due if the ratio of a moving source's power on the grid to its own has a larger standard deviation.
_BURSTS = 0.5


def coarse_warnings(
    scenario: HeatScenario, made: Discretisation, plan: Plan, idle: Collection[Expression]
) -> list[str]:
    """A sentence for each edge and source that changes by much within a step of a given dt, and for each source that
    changes by much within a cell. idle: functions that are known to have no effect."""
    found = [*_sources_in_cells(scenario, made, idle)]
    if is_exact_in_time(plan.stepper):
        return found
    if plan.control is not None:
        return [*found, *_fast_data(scenario, made, plan.control.longest_steps)]
    return [*found, *_data_in_steps(scenario, made, plan)]


def _fast_data(scenario: HeatScenario, made: Discretisation, longest: LongestSteps) -> Iterator[str]:
    """A sentence for each edge and source that goes up and down so fast that it takes very many steps to follow it."""
    end = scenario.time.end or 0.0
    if longest.steps(end) < _MANY:
        return
    looks, between = np.linspace(0.0, 1.0, _MANY + 1), 0.1 + 0.8 * ((np.arange(_MANY) + 1) * GOLDEN % 1.0)
    for name, f, x, y in _moving(scenario, made):
        with np.errstate(all="ignore"):
            at, inside = (
                np.broadcast_to(f(x=x, y=y, t=(end * t)[:, None], T=0.0), (t.size, x.size))
                for t in (looks, looks[:-1] + between / _MANY)
            )
            line = at[:-1] + between[:, None] * np.diff(at, axis=0)
            whole = np.ptp(np.concatenate([at, inside]), axis=0)
            off = np.mean(np.abs(inside - line) > _ASIDE * whole, axis=0)
        if np.max(off) > _OFTEN:
            follow = "steps are as short as it takes to follow that"
            if longest.least <= end * 0.5**FINEST:
                follow = "even the shortest steps may miss that, and time_error not tell"
            yield (
                f"{name} goes up and down again and again within a few thousandths of the run: {follow}; if only "
                "its mean counts, give that instead"
            )


def _data_in_steps(scenario: HeatScenario, made: Discretisation, plan: Plan) -> Iterator[str]:
    clock = plan.clock
    if clock.end > _MOST_STEPS:
        return
    steps = range(clock.end)
    begins = np.array([begin + span * k / n for begin, span, k, n in map(clock.inside, steps)])
    ends = np.array([begin + span * (k + 1) / n for begin, span, k, n in map(clock.inside, steps)])
    t = begins[:, None] + (ends - begins)[:, None] * np.linspace(0.0, 1.0, _LOOKS)
    for name, f, x, y in _moving(scenario, made):
        with np.errstate(all="ignore"):
            values = np.broadcast_to(f(x=x, y=y, t=t[..., None], T=0.0), (*t.shape, x.size))
            within = float(np.max(np.ptp(values, axis=1)))
            share = within / float(np.max(np.ptp(values, axis=(0, 1)))) if within > 0 else 0.0
        if share > _MUCH and clock.end > 2:
            yield (
                f"{name} changes by {100 * share:.0f} % of its range within a step, of which only few moments count: "
                'set a smaller time.dt, or dt = "auto" with the stepper rkl2, adi or auto, whose steps follow it'
            )


def _moving(scenario: HeatScenario, made: Discretisation) -> Iterator[tuple[str, Expression, np.ndarray, np.ndarray]]:
    """The name and the function of everything that depends on time, with x and y of some of the points where it
    counts."""
    end = scenario.time.end or 0.0
    for piece in made.edges.pieces:
        edge = next(edge for edge in EDGES if edge in piece.path)
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                few = edge_points(f, piece, end, _POINTS, _POINTS)
                yield f"the {edge} edge", f, piece.x[few], piece.y[few]
    for source in made.heating:
        x, y = source_cells(source.power, made, end, 0.0, _POINTS, _POINTS)
        power = without_moments(source.power, x, y, end)
        if power.depends_on("t"):
            yield source.words, power, x, y


def _sources_in_cells(scenario: HeatScenario, made: Discretisation, idle: Collection[Expression]) -> Iterator[str]:
    """A sentence for each source that is so narrow that the grid gives it another power."""
    for source in made.heating:
        if source.power in idle or source.by_cells:
            continue
        found = grid_power(source.power, made, scenario.time.end or 0.0)
        if found.off > max(_OFF, 3.0 * found.error):
            area, unit = scenario.grid.lx * scenario.grid.ly, "K·m²/s" if scenario.material.alone else "W/m"
            wrong = f"{'over the run ' if source.power.depends_on('t') else ''}{_wrong_power(found, area, unit)}"
        elif found.swing > _BURSTS:
            least, most = _times(found.least), _times(found.most)
            wrong = (
                f"it gives from {least} to {most} times its power as it moves from cell to cell, and only the mean "
                "over the run is about right"
            )
        else:
            continue
        yield (
            f"{source.words} changes so much within a cell of {made.dx:.3g} m by {made.dy:.3g} m that {wrong}, as "
            "it is taken in the middle of cells: take more of them, or make it wider"
        )


def _wrong_power(found: GridPower, area: float, unit: str) -> str:
    """Says how far the power of a source on the grid is from its own power, and in which direction.

    area: the area of the plate, m². unit: the unit of the heat that is given over the whole plate."""
    if found.signed:
        given, own = found.given * area, found.own * area
        own = 0.0 if abs(own) < _ROUNDING * abs(given) else own
        return f"it heats by {given:.3g} {unit} in all where its power says {own:.3g}"
    if found.ratio >= 2.0:
        return f"it gives about {_times(found.ratio)} times the heat that its power says"
    # here the source heats at some times and cools at others
    if not abs(abs(found.ratio - 1.0) - found.off) < 0.5 * found.off:
        return f"its power is off by about {100 * found.off:.0f} %"
    if found.ratio < 0.005:
        return "it gives hardly any heat"
    more_or_less = "more" if found.ratio > 1.0 else "less"
    return f"it gives about {100 * found.off:.0f} % {more_or_less} heat than its power says"


def _times(ratio: float) -> str:
    return "0" if ratio < 0.005 else f"{ratio:.2g}" if ratio < 100.0 else f"{ratio:.0f}"
