"""What people often get wrong in heat scenarios: said before a run, or where one comes to NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import jumping
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.coarse import coarse_warnings
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.idle import idle_warnings
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.sampling import distinct
from simsuite.solvers.heat.thermostats import thermostat_warnings
from simsuite.words import more_than

_OF_STEPS = ("end", "tolerance", "steady_tolerance")  # keys of [time] that do nothing where there are no steps
_NOTHING = 1e-3  # of the tolerance: rounding in float64 that is more shows that temperatures hardly change
_LITTLE = 1e-3  # of a plate's shorter side
_FEW = 17  # places along each axis, and times, at which a source is looked at
_CLOSED, _ROUNDED = 1e-6, 1e-10  # of the heat that has moved, and of all that is stored: a ledger that closes


def warnings(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """What is probably not meant, although it can be run: one sentence each."""
    jumps = thermostat_warnings(scenario, made, plan.control is not None)
    idle = idle_warnings(scenario, made)
    coarse = [] if idle else coarse_warnings(scenario, made, plan)
    early = _early_warnings(scenario, plan)
    return [*_steady_warnings(scenario), *early, *_scale_warnings(scenario, made), *idle, *coarse, *jumps]


def _steady_warnings(scenario: HeatScenario) -> list[str]:
    """A sentence where keys are given that say how to go through time, and the state is steady."""
    given = [f"time.{key}" for key in _OF_STEPS if key in scenario.time.model_fields_set]
    if not scenario.time.steady or not given:
        return []
    have = "has" if len(given) == 1 else "have"
    return [f"{' and '.join(given)} {have} no effect with steady = true, which takes no steps in time"]


def _early_warnings(scenario: HeatScenario, plan: Plan) -> list[str]:
    """A sentence where a run ends once it is steady, although data are to change later."""
    end = scenario.time.end or 0.0
    later = [t for t in plan.changes if 0.0 < t < end]
    if scenario.time.steady or scenario.time.steady_tolerance <= 0 or not later:
        return []
    return [
        f"data change until t = {max(later):g} s, and time.steady_tolerance may end the run before, as soon as "
        "temperatures hardly change"
    ]


def _scale_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where heat cannot get anywhere: it spreads over √(4Dt) in a time t, D being the largest diffusivity.

    That length is compared with a cell and with the plate. Where conductivities depend on T, D is that of the start.
    """
    if scenario.time.steady or scenario.time.end is None:
        return []
    k = max(float(np.max(distinct(made.kx))), float(np.max(distinct(made.ky))))
    reach = math.sqrt(4.0 * k / float(np.min(distinct(made.rho_c))) * scenario.time.end)
    cell, side = min(made.dx, made.dy), min(scenario.grid.lx, scenario.grid.ly)
    if reach == 0.0 or (reach >= cell and reach >= _LITTLE * side):
        return []
    beside = f"less than a cell ({cell:.3g} m)" if reach < cell else f"hardly any of the plate's {side:.3g} m"
    meant = f"grid.lx = {scenario.grid.lx:g} and grid.ly = {scenario.grid.ly:g} are in metres"
    return [
        f"heat conducts over about {reach:.2g} m in the {scenario.time.end:g} s of this run, {beside}: {meant}; "
        "check them, the material and time.end"
    ]


def _may_run_away(power: Expression, made: Discretisation, end: float, results: Mapping[str, Any]) -> bool:
    """Whether a source gives more at the hottest temperature of a run than at the coldest, or jumps at one."""
    if not power.depends_on("T"):
        return False
    x, y = (a[:: 1 + a.size // _FEW] for a in made.centres)
    t = np.linspace(0.0, end, _FEW)[:, None, None]
    with np.errstate(all="ignore"):
        cold, hot = (np.asarray(power(x=x, y=y, t=t, T=results[name])) for name in ("min", "max"))
    return bool(np.any(hot > cold)) or any(jumping(power.tree, "T"))


def missed_tolerance(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where steps that control their error may have missed the tolerance. Results of explicit steps have a
    bound of their error, which is no reason to warn."""
    error, tolerance = results.get("time_error", 0.0), scenario.time.tolerance
    if "rounding_error" not in results or not error > tolerance:
        return []
    exact = scenario.run.precision == "float64"
    if exact and results["rounding_error"] > _NOTHING * tolerance:
        return []  # temperatures change by hardly more than rounding, and so the range is next to nothing
    why = "errors grew faster than could be foreseen"
    if any(_may_run_away(source.power, made, scenario.time.end or 0.0, results) for source in scenario.source):
        why += "; does a source make temperatures run away, or jump at one?"
    if not exact:
        why = (
            f"{scenario.run.precision} rounds temperatures, by up to {results['rounding_error']:.1g} of the range in "
            'all steps, and smaller errors cannot be told from rounding: set precision = "float64" in [run]'
        )
    return [
        f"the error of time steps may be {more_than(tolerance, error)} of the temperatures' range, more than "
        f"time.tolerance = {tolerance:g}: {why}"
    ]


def open_ledger(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where more heat is missing in the ledger than rounding explains. In float32 that may be much."""
    energy = results["energy"]
    parts = [energy["stored"], energy.get("held", 0.0), *energy["edges"].values(), *energy.get("sources", {}).values()]
    moved, capacity = max(map(abs, parts)), float(np.sum(made.rho_c)) * made.dx * made.dy
    content = max(abs(results["min"]), abs(results["max"])) * capacity
    if scenario.run.precision != "float64" or not abs(energy["residual"]) > _CLOSED * moved + _ROUNDED * content:
        return []
    return [
        f"the heat ledger does not close: {abs(energy['residual']):.3g} J/m of {moved:.3g} J/m are missing, far more "
        "than rounding; that is a fault of simsuite: do not trust these results, and please report it"
    ]


def remedies(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """What may have brought temperatures to NaN or Inf in this scenario, the likeliest first."""
    found = []
    if scenario.time.dt != "auto" and plan.stepper == "explicit" and made.law is not None:
        found.append('the given dt was stable at the first temperatures; k(T) has changed since: try dt = "auto"')
    fed_back = [name for name, source in zip(scenario.source_names, scenario.source) if source.power.depends_on("T")]
    if fed_back:
        found.append(
            f"the source {fed_back[0]} depends on T: it may grow without bound, or be no number at the temperatures "
            "reached; limit it, as in min(.., 1e9)"
        )
    if made.law is not None:
        found.append(
            "the conductivity depends on T: it may be negative or no number at the temperatures reached; limit it, as "
            "in max(.., 0.01)"
        )
    if made.edges.moving or any(source.power.depends_on("t") for source in scenario.source):
        found.append("an expression in t may be no number at that time, such as sqrt or log of a negative number")
    if scenario.run.precision != "float64":
        found.append('numbers of float32 end at 3.4e38: try precision = "float64"')
    return found or ["values may be too large for the arithmetic: check the units of sources, edges and [material]"]
