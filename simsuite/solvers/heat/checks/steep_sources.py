"""Sources that fall so steeply with the temperature that steps of a fixed length do not follow them.

A source q(T) is a part of what makes steps unstable: the slope of T' = q(T)/ρc adds -q'(T)/ρc to the rates of
conduction. Before a run that is counted at the temperatures at the start; a thermostat, or a ramp, that lies elsewhere
is met later. Interval arithmetic bounds the slope over all temperatures that sources can lead to."""

from __future__ import annotations

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.derivative import ONE, directional
from simsuite.expressions.intervals import bounds
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.error_control.missed_kinks import kinks
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.rkl2.coefficients import longest_step

_STEPPERS = ("explicit", "rkl2")
_MORE = 1.01  # times as long as the limit, from which on steps are told


def steep_sources(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """A sentence if steps of the explicit stepper, or of rkl2 with a given dt, are longer than the slope of a source
    allows at a temperature that may come up."""
    end = scenario.time.end
    if scenario.time.steady or end is None or plan.control is not None or plan.stepper not in _STEPPERS:
        return []
    with np.errstate(all="ignore"):
        looks = made.edges.looks(end)
        fastest, _ = made.rates(looks, end)
        low, high = made.reach(looks, end)
        ranges = made.ranges | {"t": (0.0, end), "T": (low, high)}
        slopes = [_steepest(f, ranges) / float(np.min(distinct(made.rho_c))) for f in made.sources]
    longest = max((plan.clock.dt(step) for step in plan.clock.steps[:-1]), default=0.0)
    limit = 2.0 / (fastest + sum(slopes)) if fastest + sum(slopes) > 0 else np.inf
    stable = longest_step(plan.stages, limit) if plan.stages else limit
    if not longest > _MORE * stable:
        return []
    names = [each.words for each in made.heating]
    name = (*names, "the source of the manufactured solution")[int(np.argmax(slopes))]
    return [
        f"{name} kinks at temperatures that may come up, and falls there so steeply that {plan.stepper} "
        f"steps of {longest:.4g} s do not follow it: temperatures swing, or pass the place where it ends; set time.dt "
        f"to {0.5 * limit:.3g} s or less, or leave out time.stepper and time.dt, so that steps follow it"
    ]


def _steepest(f: Expression, ranges: dict[str, tuple[float, float]]) -> float:
    """A bound of how steeply a source falls with T, W/(m³ K); 0 unless it kinks at temperatures, since bounds of a
    smooth one are those of temperatures far from any that come up."""
    if not kinks(f.tree):
        return 0.0
    try:
        slope = directional(f.tree, {"T": ONE})
    except ValueError:
        return 0.0
    least, _ = bounds(slope, ranges)
    return max(0.0, -least) if np.isfinite(least) else 0.0
