"""Data that change by much within a step of a given dt, within a cell, or so fast that steps are very many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.irregular import GOLDEN
from simsuite.solvers.heat.longest_steps import FINEST, LongestSteps
from simsuite.solvers.heat.plan import Plan

_MANY, _OFTEN = 1024, 0.3  # looks at a run, and the share of them after which data leave the line to the next one
_ASIDE = 0.1  # of the data's range, by which they leave it
_LOOKS = 9  # times within a step, its ends included
_MOST_STEPS = 8192  # that are looked at; a dt that is shorter than that is short for most data
_MUCH = 0.5  # of what a function changes by in the whole run
_POINTS = 8  # along an edge, and along each axis of a source
_PARTS, _MORE_PARTS = 3, 16  # of a cell, along each axis, in which a source is looked at; where it may be off
_PERHAPS = 0.3  # of what is told, by which it may be
_MOST_CELLS = 1 << 18
_OFF = 0.1  # of the power of a source
_MOST_TIMES, _MOST_LOOKS = 64, 1 << 24  # of a run at which a source is looked at; in all places together


def coarse_warnings(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """A sentence for each edge and source that changes by much within a step of a given dt, and for each source that
    does within a cell."""
    found = [*_sources_in_cells(scenario, made)]
    if scenario.time.steady or plan.stepper == "exact":
        return found
    if plan.control is not None:
        return [*found, *_fast_data(scenario, made, plan.control.longest_steps)]
    return [*found, *_data_in_steps(scenario, made, plan)]


def _fast_data(scenario: HeatScenario, made: Discretisation, longest: LongestSteps) -> Iterator[str]:
    """A sentence for each edge and source that goes up and down so fast that it takes very many steps to follow it."""
    end = scenario.time.end or 0.0
    count = longest.steps(end)
    if count < _MANY:
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
            follow = f"at least {count:.2g} steps follow that"
            if longest.least <= end * 0.5**FINEST:
                follow = "even the shortest steps may miss that, and time_error not tell"
            yield (
                f"{name} goes up and down within a few times {end / _MANY:.2g} s, a thousandth of the run: {follow}; "
                "if only its mean counts, give that instead"
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
    """Sources that give another amount of heat, in the whole run, if each cell is looked at in more places than its
    centre. What moves over the cells may be off at any one time."""
    if made.nx * made.ny > _MOST_CELLS:
        return
    end = scenario.time.end or 0.0
    count = min(_MOST_TIMES, _MOST_LOOKS // (_PARTS**2 * made.nx * made.ny))
    moments = end * ((np.arange(count) + 1) * GOLDEN % 1.0)
    for name, source in zip(scenario.source_names, scenario.source):
        f = source.power
        if not (f.depends_on("x") or f.depends_on("y")):
            continue
        times = moments if f.depends_on("t") else np.zeros(1)
        off = _power_off(f, made, times, _PARTS)
        if off > _PERHAPS * _OFF:
            few = max(1, _MOST_LOOKS // (_MORE_PARTS**2 * made.nx * made.ny))
            off = _power_off(f, made, times[:few], _MORE_PARTS)
        if off > _OFF:
            yield (
                f"the source {name} changes so much within a cell of {made.dx:.3g} m by {made.dy:.3g} m that its power "
                f"is off by about {100 * off:.0f} %, as it is taken in the middle of cells: take more of them, or make "
                "it wider"
            )


def _power_off(f: Expression, made: Discretisation, times: np.ndarray, parts: int) -> float:
    """By how much the power of a source, taken in the middle of cells, differs from that in so many parts of each cell
    along each axis, as a share of it, over some times."""
    x, y = made.centres
    low, _ = made.temperatures((0.0,))
    aside = (np.arange(parts) + 0.5) / parts - 0.5

    def power(t: float, a: float, b: float) -> float:
        values = f(x=x + a * made.dx, y=y + b * made.dy, t=t, T=low)
        return float(np.mean(np.broadcast_to(values, made.T0.shape)))

    with np.errstate(all="ignore"):
        centre = np.array([power(float(t), 0.0, 0.0) for t in times])
        whole = np.array([np.mean([power(float(t), a, b) for a in aside for b in aside]) for t in times])
    most, off = float(np.sum(np.abs(whole))), abs(float(np.sum(centre - whole)))
    return off / most if most > 0 else 0.0
