"""Warnings about what people often get wrong in heat scenarios, given before a run, or after one that came to NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.checks.absolute_zero import kelvin_warnings, unit_warnings
from simsuite.solvers.heat.checks.coarse import coarse_warnings
from simsuite.solvers.heat.checks.crossed import crossed_warnings
from simsuite.solvers.heat.checks.edge_coordinates import edge_coordinates
from simsuite.solvers.heat.checks.idle import idle_warnings, lost_watts
from simsuite.solvers.heat.checks.late_switches import late_switches
from simsuite.solvers.heat.checks.moments import moment_warnings
from simsuite.solvers.heat.checks.no_conduction import no_conduction
from simsuite.solvers.heat.checks.not_finite import not_finite_warnings, why_undefined
from simsuite.solvers.heat.checks.rough_reference import rough_reference
from simsuite.solvers.heat.checks.steep_sources import steep_sources
from simsuite.solvers.heat.checks.thermostats import thermostat_warnings
from simsuite.solvers.heat.checks.tolerance import idle_keys, loose_tolerance, strict_tolerance, unreachable_rate
from simsuite.solvers.heat.checks.undivided_radiation import undivided_radiation
from simsuite.solvers.heat.error_control.unlimited import grows_with_temperature
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.steppers import record_or_none
from simsuite.words import written_unit

_LITTLE = 1e-3  # share of a plate's shorter side: heat that spreads over less than this gets nowhere
# A ledger closes if less is missing in it than these shares of the heat that has moved and of all stored heat.
_CLOSED, _ROUNDED = 1e-6, 1e-10


def warnings(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """One sentence for each thing in the scenario that is probably not meant, although it can be run."""
    jumps = thermostat_warnings(scenario, made, plan.control is not None)
    idle, idle_functions = idle_warnings(scenario, made)
    idle += [*moment_warnings(scenario, made, plan, idle_functions), *late_switches(scenario, made, idle_functions)]
    coarse = coarse_warnings(scenario, made, plan, idle_functions)
    unsearched = _unsearched_warnings(plan)
    units = [*not_finite_warnings(scenario, made), *unit_warnings(scenario, made), *kelvin_warnings(scenario, made)]
    tolerance = [*loose_tolerance(scenario, plan), *strict_tolerance(scenario, plan), *unreachable_rate(scenario, made)]
    keys = [*idle_keys(scenario, plan), *tolerance, *_rare_frames(scenario)]
    return [
        *units,
        *keys,
        *unsearched,
        *_scale_warnings(scenario, made),
        *no_conduction(scenario, made),
        *dict.fromkeys(undivided_radiation(scenario, made)),
        *crossed_warnings(scenario),
        *idle,
        *lost_watts(scenario, made),
        *edge_coordinates(scenario, made),
        *rough_reference(scenario),
        *steep_sources(scenario, made, plan),
        *coarse,
        *jumps,
    ]


def _rare_frames(scenario: HeatScenario) -> list[str]:
    """A sentence where no frame is due between the first and the last."""
    every, end = scenario.output.every, scenario.time.end or 0.0
    if scenario.time.steady or every is None or not every > end:
        return []
    return [f"output.every = {every:g} s is longer than the run of {end:g} s: there are frames at its ends only"]


def _unsearched_warnings(plan: Plan) -> list[str]:
    """A sentence where data jump so often that steps do not end at each jump."""
    names = plan.control.unsearched if plan.control is not None else ()
    return [
        f"a part of `{text}` jumps at too many times for steps to end at each, or at some that cannot be foreseen, and "
        "the estimate of an error does not see jumps within steps, so that no time error is told; give its mean over "
        "time if that is what counts, and make the edge of what moves a ramp as wide as a cell or more, such as "
        "min(1, max(0, (r - d)/w)) for (d < r)"
        for text in names
    ]


def _scale_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where heat cannot get anywhere: it spreads over √(4Dt) in a time t, D being the largest diffusivity.

    That length is compared with a cell and with the plate. Where conductivities depend on T, D is taken at the initial
    temperatures."""
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


def open_ledger(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where more heat is missing in the ledger than rounding explains. Runs in float32 have none, as
    rounding may explain much there."""
    energy = results["energy"]
    parts = [energy["stored"], energy.get("held", 0.0), *energy["edges"].values(), *energy.get("sources", {}).values()]
    parts.append(energy.get("surface", 0.0))
    depth = scenario.grid.thickness or 1.0
    moved, capacity = max(map(abs, parts)), float(np.sum(made.rho_c)) * made.dx * made.dy * depth
    content = max(abs(results["min"]), abs(results["max"])) * capacity
    if scenario.run.precision != "float64" or not abs(energy["residual"]) > _CLOSED * moved + _ROUNDED * content:
        return []
    unit = written_unit(scenario.unit_of_heat)
    return [
        f"the heat ledger does not close: {abs(energy['residual']):.3g} {unit} of {moved:.3g} {unit} are missing, far "
        "more than rounding; that is a fault of simsuite: do not trust these results, and please report it"
    ]


def remedies(scenario: HeatScenario, made: Discretisation, plan: Plan) -> list[str]:
    """What may have brought temperatures to NaN or Inf in this scenario, the likeliest first."""
    found = []
    record = record_or_none(plan.stepper)
    bounded = record is not None and record.automatic is not None
    if scenario.time.dt != "auto" and bounded and made.law is not None:
        found.append('the given dt was stable at the first temperatures; k(T) has changed since: try dt = "auto"')
    found += _undefined(scenario, made)
    named = zip(made.heating, made.sources)
    growing = [each.words for each, f in named if grows_with_temperature(f, made, scenario.time.end or 0.0)]
    if growing:
        found.append(f"{growing[0]} depends on T, and may grow without bound: limit it, as in min(.., 1e9)")
    if made.law is not None:
        found.append(
            "the conductivity depends on T: it may be negative or no number at the temperatures reached; limit it, as "
            "in max(.., 0.01)"
        )
    if scenario.run.precision != "float64":
        found.append('numbers of float32 end at 3.4e38: try precision = "float64"')
    return found or ["values may be too large for the arithmetic: check the units of sources, edges and [material]"]


def _undefined(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence for each source and each condition of an edge that may be no number at some time or temperature."""
    end = scenario.time.end or 0.0
    reasons = [(each.words, why_undefined(f, made, end)) for each, f in zip(made.heating, made.sources)]
    for piece in made.edges.pieces:
        reasons += [
            (f"the {piece.path[1]} edge", why_undefined(f, made, end, True)) for f in (piece.first, piece.second)
        ]
    return [f"in {name}: {why}" for name, why in reasons if why]
