"""Warnings about temperatures that heat cannot lead to.

Without sources and given fluxes, no temperature leaves the range of the initial, held, edge and ambient temperatures
(the maximum principle; M. H. Protter & H. F. Weinberger, Maximum Principles in Differential Equations, 1967, chapter
3). With sources, a temperature leaves it by no more than these can heat or cool a cell. The discretised equations obey
the same principle. Steps of a given length may not: after something has jumped, adi oscillates if its steps are much
longer than heat takes to cross a cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.expressions.intervals import bounds_within
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.checks.source_range import SourceRange, source_range
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, TEMPERATURE, Edges
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.steppers import is_exact_in_time

_BEYOND = 0.01  # share of the possible range: going further beyond the range is not a matter of a small error
# the number of parts of a run in which data are bounded, and the most bounds in all places together
_PARTS, _MOST_BOXES = 256, 1 << 20
_FIRST = 16  # Every run may have the rounding of so many steps more than it has steps.


@dataclass(frozen=True)
class PossibleRange:
    """The range of temperatures that are possible. low, high: the least and the largest temperature of start, edges and
    surroundings. sources: by how much sources may lead beyond these."""

    low: float
    high: float
    sources: SourceRange


def possible_range(scenario: HeatScenario, made: Discretisation, plan: Plan) -> PossibleRange | None:
    """The range of temperatures that are possible. None where fluxes, or sources whose bounds are not known, may lead
    beyond any range, and where steps cannot leave the range anyway."""
    by_itself = plan.control is not None or is_exact_in_time(plan.stepper) or scenario.time.dt == "auto"
    if by_itself or _any_flux(made.edges):
        return None
    sources = source_range(made, plan.clock.times[-1], float(scenario.time.dt))
    if sources is None:
        return None
    low, high = made.temperatures([0.0])
    for piece in made.edges.pieces:
        f = piece.first if piece.kind == TEMPERATURE else piece.second
        if piece.kind != FLUX and f.depends_on("t"):
            parts = max(1, min(_PARTS, _MOST_BOXES // len(piece.x)))
            t = np.linspace(0.0, plan.clock.times[-1], parts + 1)[:, None]
            boxes = {"x": (piece.x, piece.x), "y": (piece.y, piece.y), "t": (t[:-1], t[1:])}
            lower, upper = bounds_within(f.tree, boxes)
            low, high = min(low, float(np.min(lower))), max(high, float(np.max(upper)))
    return PossibleRange(low, high, sources)


def _any_flux(edges: Edges) -> bool:
    """Whether the flux through some edge is given and not 0."""
    given = (piece for piece in edges.pieces if piece.kind == FLUX)
    return any(p.first.depends_on("t") or bool(np.any(p.first(x=p.x, y=p.y) != 0.0)) for p in given)


def gone_beyond(
    scenario: HeatScenario, plan: Plan, possible: PossibleRange, lowest: float, highest: float, steps: int
) -> str | None:
    """A sentence, if temperatures from `lowest` to `highest` are further beyond the possible range than the rounding of
    so many steps explains; else None."""
    fall, rise = possible.sources.until(plan.clock.time(steps))
    low, high = possible.low - fall, possible.high + rise
    rounding = (steps + _FIRST) * float(np.finfo(scenario.run.dtype).eps) * max(abs(low), abs(high))
    if not max(low - lowest, highest - high) > _BEYOND * (high - low) + rounding:
        return None
    worst, unit = lowest if low - lowest > highest - high else highest, scenario.degrees
    return (
        f"the temperature comes to {worst:.4g} {unit}, which it cannot: start and edges are from "
        f"{possible.low:.4g} to {possible.high:.4g} {unit}, and {_sources_in_words(fall, rise)}. "
        f"Steps of {plan.clock.lengths(steps)[1]:.4g} s by "
        f'{plan.stepper} are too long for that, and ring, as after a jump: set dt = "auto", or a much smaller dt'
    )


def _sources_in_words(fall: float, rise: float) -> str:
    parts = [f"{done} it by at most {by:.3g} K" for done, by in (("heated", rise), ("cooled", fall)) if by > 0.0]
    if not parts:
        return "nothing else heats or cools the plate"
    return "by then sources can have " + " and ".join(parts)
