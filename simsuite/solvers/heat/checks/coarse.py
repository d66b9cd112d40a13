"""Data that change by much within a step of a given dt, within a cell, or so fast that steps are very many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.solvers.heat.checks.grid_power import GridPower, grid_power
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.steppers import is_exact_in_time
from simsuite.solvers.heat.time_scales.longest_steps import FINEST, LongestSteps

_MANY, _OFTEN = 1024, 0.3  # looks at a run, and the share of them after which data leave the line to the next one
_ASIDE = 0.1  # of the data's range, by which they leave it
_LOOKS = 9  # times within a step, its ends included
_MOST_STEPS = 8192  # that are looked at; a dt that is shorter than that is short for most data
_MUCH = 0.5  # of what a function changes by in the whole run
_POINTS = 8  # along an edge, and along each axis of a source
_OFF = 0.1  # of the power of a source: by how much that of the grid differs
_ROUNDING = 1e-9  # of the power of a source on the grid: less is 0
_BURSTS = 0.5  # standard deviation of the power of a source on the grid while it moves, by its own


def coarse_warnings(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """A sentence for each edge and source that changes by much within a step of a given dt, and for each source that
    does within a cell."""
    found = [*_sources_in_cells(scenario, made)]
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
    """What depends on time: its name, and some of the points where it counts."""
    for piece in made.edges.pieces:
        edge = next(edge for edge in EDGES if edge in piece.path)
        few = slice(None, None, -(-len(piece.x) // _POINTS))
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                yield f"the {edge} edge", f, piece.x[few], piece.y[few]
    x, y = (a.ravel()[:: -(-a.size // _POINTS)] for a in made.centres)
    xs, ys = (a.ravel() for a in np.meshgrid(x, y))
    for name, source in zip(scenario.source_names, scenario.source):
        if source.power.depends_on("t"):
            yield f"the source {name}", source.power, xs, ys


def _sources_in_cells(scenario: HeatScenario, made: Discretisation) -> Iterator[str]:
    """A sentence for each source that is so narrow that the grid gives it another power."""
    for name, source in zip(scenario.source_names, scenario.source):
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
            f"the source {name} changes so much within a cell of {made.dx:.3g} m by {made.dy:.3g} m that {wrong}, as "
            "it is taken in the middle of cells: take more of them, or make it wider"
        )


def _wrong_power(found: GridPower, area: float, unit: str) -> str:
    """How far the power of a source on the grid is from its own, and in which direction. area: of the plate, m²; unit:
    of what is given over all of it."""
    if found.signed:
        given, own = found.given * area, found.own * area
        own = 0.0 if abs(own) < _ROUNDING * abs(given) else own
        return f"it heats by {given:.3g} {unit} in all where its power says {own:.3g}"
    if found.ratio >= 2.0:
        return f"it gives about {_times(found.ratio)} times the heat that its power says"
    if not abs(abs(found.ratio - 1.0) - found.off) < 0.5 * found.off:  # it heats now and cools then
        return f"its power is off by about {100 * found.off:.0f} %"
    if found.ratio < 0.005:
        return "it gives hardly any heat"
    more_or_less = "more" if found.ratio > 1.0 else "less"
    return f"it gives about {100 * found.off:.0f} % {more_or_less} heat than its power says"


def _times(ratio: float) -> str:
    return "0" if ratio < 0.005 else f"{ratio:.2g}" if ratio < 100.0 else f"{ratio:.0f}"
