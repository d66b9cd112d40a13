"""What to do where no steady state of a heat problem is found."""

from __future__ import annotations

from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.boundary import EDGES, fixes_level
from simsuite.solvers.heat.checks.thermostats import steady_reach, why_jumping
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.time_scales.growth_bounds import fastest_growth


def help_without_steady_state(scenario: HeatScenario, made: Discretisation) -> str:
    """Why there may be none, the likeliest first, and how to find out."""
    reasons = []
    conditions = [c for edge in EDGES for _, c in scenario.boundary.conditions(edge)]
    if not (made.any_held or any(map(fixes_level, conditions))):
        reasons.append(
            "no edge has a temperature, convection or radiation, and no region is held at a temperature: then sources "
            "have to balance the fluxes through edges at some temperature"
        )
    jump = why_jumping(scenario, made, steady_reach(made))
    if jump is not None:
        what, ramp = jump
        reasons.append(
            f"{what} jumps at a temperature, and cells that would come to rest there cannot: make it a ramp there, "
            f"such as {ramp}"
        )
    low, high = made.temperatures([0.0])
    if fastest_growth(made, 0.0, low, max(high, low + 1.0)) > 0.0:
        reasons.append(
            "a source gives more for a higher temperature: where that is more than edges take away, there is no steady "
            "state; give less power, or let more heat out"
        )
    if made.nonlinear:
        reasons.append("the search begins at [initial] temperature: give one that is near to what you expect")
    reasons.append("or set time.end and time.steady_tolerance in place of steady = true, to see where temperatures go")
    return "; ".join(reasons)
