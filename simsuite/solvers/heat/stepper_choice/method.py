"""Which stepper a scenario gets, with which steps, and why.

Steps of rkl2 and adi are as long as their error allows; that is found out during the run (see `controlled`). Explicit
steps are as long as they are stable; whether they are accurate is estimated before the run (see `explicit_error`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simsuite.core import Clock
from simsuite.errors import Mistake
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.error_control.companion import Contrasts
from simsuite.solvers.heat.explicit.explicit_error import least_range
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.plan import TICKS, Control, Plan
from simsuite.solvers.heat.rkl2.coefficients import MOST_STAGES, longest_step, stages_for
from simsuite.solvers.heat.stepper_choice.expected_steps import expected_steps, foretold_steps, jumps_without_number
from simsuite.solvers.heat.stepper_choice.fastest import RatesOf, cheapest, is_long, is_short, usual
from simsuite.solvers.heat.stepper_choice.rates import TWO_CORES, work_of
from simsuite.solvers.heat.stepper_record import SAFETY, StepLimits, Work
from simsuite.solvers.heat.steppers import stepper_record
from simsuite.solvers.heat.time_scales.data_changes import Changes, data_changes
from simsuite.solvers.heat.time_scales.data_stops import data_stops
from simsuite.solvers.heat.time_scales.longest_steps import LongestSteps, longest_steps
from simsuite.solvers.heat.time_scales.range_limits import range_floor
from simsuite.solvers.heat.time_scales.rates_of_change import Pace, growth, pace, runs_away
from simsuite.solvers.schedule import frame_times, sample_times, snapped
from simsuite.words import counted

MOST_STEPS = 1e15  # No machine gets through more steps than that.
MOST_PATIENT = 1e5  # So many steps of rkl2 with the most stages take hours on a plate of any size.
METHODS = ("rkl2", "adi")  # the methods that control their error, alone or by turns
ADI_STEPS = 1.7  # steps of adi for each step of rkl2: each estimate of an error takes three, but steps may be longer
_AT_FIRST = 1e-4  # the length of a first step, as a share of the run, where cells exchange no heat
_ONLY_ADI = "steps of the others would be too short to be stable at all temperatures that sources could drive cells to"


@dataclass(frozen=True)
class _Moves:
    """How data move. changes: when they change such that steps end there. stops: other times at which steps end, so
    that they see the data. longest: how long steps may be for that. pace: how fast data change otherwise."""

    changes: Changes
    stops: tuple[float, ...]
    longest: LongestSteps
    pace: Pace


def make_plan(scenario: HeatScenario, made: Discretisation, mistakes: list[Mistake], rates_of: RatesOf = usual) -> Plan:
    """The plan of a scenario. rates_of: see `fastest`.

    What is wrong, such as an unstable dt, is added to `mistakes`; the result is then of no use.
    """
    times = clock_times(scenario)
    limits = _limits(scenario, made, times[-1])
    if _only_adi(scenario, made, limits, times[-1]):
        limits = replace(limits, safe=limits.stable)
        return _controlled(scenario, made, limits, ("adi",), {}, _ONLY_ADI, _moves(scenario, made, limits))
    if not (0 < limits.safe < math.inf or (limits.safe == math.inf and _has_no_faces(made))):
        mistakes.append(_no_step(scenario, made, times[-1]))
        return Plan("explicit", Clock((0, 1), (0.0, times[-1])), "")
    wanted, dt = scenario.time.stepper, scenario.time.dt
    if wanted != "auto" and (refused := _refused(wanted, scenario, made)) is not None:
        help = 'write stepper = "adi", "rkl2" or "explicit", or "auto"'
        mistakes.append(Mistake(("time", "stepper"), f"`{wanted}` does not apply: {refused}", help))
        wanted = "explicit"
    if wanted == "auto" and scenario.run.compensated:
        reason = 'precision = "float32c" is a way to take its steps'
        return _checked(scenario, _between_changes("explicit", scenario, made, limits, reason), limits, mistakes)
    if wanted == "auto" and dt != "auto":
        plan = _between_changes("explicit", scenario, made, limits, "dt is given")
        return _checked(scenario, plan, limits, mistakes)
    if wanted != "auto" and stepper_record(wanted).controls_error and dt == "auto":
        return _controlled(scenario, made, limits, (wanted,), {}, "asked for", _moves(scenario, made, limits))
    if wanted != "auto":
        return _checked(scenario, _between_changes(wanted, scenario, made, limits, "asked for"), limits, mistakes)
    return _cheapest(scenario, made, limits, rates_of)


def _refused(name: str, scenario: HeatScenario, made: Discretisation) -> str | None:
    """Why a stepper does not apply to a scenario; None if it does."""
    obstacle = stepper_record(name).obstacle
    found = None if obstacle is None else obstacle(scenario, made)
    return None if found is None else found[1]


def _only_adi(scenario: HeatScenario, made: Discretisation, limits: StepLimits, end: float) -> bool:
    """Whether rkl2 would need steps so short that nobody would wait for them, because conductivities are very large at
    temperatures that sources could drive cells to, but hardly will.

    Steps of adi are stable at all temperatures, and their lengths follow from their errors."""
    wanted, dt = scenario.time.stepper, scenario.time.dt
    free = dt == "auto" and (wanted == "adi" or (wanted == "auto" and not scenario.run.compensated))
    if not (free and made.law is not None and 0 < limits.stable < math.inf):
        return False
    return not (limits.safe > 0 and end <= MOST_PATIENT * longest_step(MOST_STAGES, SAFETY * limits.safe))


def _no_step(scenario: HeatScenario, made: Discretisation, end: float) -> Mistake:
    """The mistake of a scenario for which no time step is stable."""
    if made.law is None:
        message = "cells so small, or a diffusivity so far from 1, leave no stable time step"
        return Mistake(("grid",), message, "check the units of grid.lx, grid.ly and [material]")
    with np.errstate(all="ignore"):
        low, high = made.reach(made.edges.looks(end), end)
    key = "diffusivity" if scenario.material.alone else "conductivity"
    message = f"`{key}` at the temperatures that sources and fluxes could drive cells to leaves no stable time step"
    help = f'looked at from T = {low:.4g} to {high:.4g}: limit it, as in min(.., 1e4), or write stepper = "adi"'
    return Mistake(("material", key), message, help)


def _cheapest(scenario: HeatScenario, made: Discretisation, limits: StepLimits, rates_of: RatesOf) -> Plan:
    """The plan that takes the least time of all that meet the tolerance."""
    times, rate_wanted = clock_times(scenario), scenario.time.steady_tolerance > 0
    exact_refused = _refused("exact", scenario, made)
    plans: dict[str, Plan] = {}
    works: dict[str, list[Work]] = {}
    refused = f"; exact does not apply: {exact_refused}" if exact_refused is not None else ""
    if exact_refused is None:
        plans["exact"] = _equal_steps("exact", scenario, times, limits, "")
    moves = _moves(scenario, made, limits)
    explicit = _between_changes("explicit", scenario, made, limits, "", moves)
    if explicit.possible:
        error, range_ = explicit.time_error, least_range(made, explicit.clock)
        if error is not None and error <= scenario.time.tolerance * range_:
            plans["explicit"] = explicit
        else:
            by = f": its error may be up to {float(f'{error:.1g}'):g} K" if error is not None and error < range_ else ""
            refused += f"; explicit might miss the tolerance{by}"
    for name, plan in plans.items():
        works[name] = work_of(name, plan.clock.end, plan.stages, made, rate_wanted)
    ends = len({*controlled_times(scenario, moves.changes.all), *moves.stops})
    expected = _expected("rkl2+adi", scenario, limits, ends, moves)
    stages = expected_stages(times[-1], expected, SAFETY * limits.safe)
    controlled = {
        "rkl2": work_of("rkl2", expected, stages, made, rate_wanted),
        "adi": work_of("adi", math.ceil(ADI_STEPS * expected), 0, made, rate_wanted),
    }
    least = min(controlled, key=lambda name: usual((), False).seconds(controlled[name]))
    works["rkl2+adi"] = controlled[least]
    sizes = {name: plan.size for name, plan in plans.items()} | {"rkl2+adi": f"about {counted(expected, 'step')}"}
    best, why = cheapest(works, sizes, rates_of)
    if best != "rkl2+adi":
        return replace(plans[best], reason=why + refused)
    kinds = dict.fromkeys(work.kind for kind in controlled.values() for work in kind)
    rates = TWO_CORES if is_short(works) else rates_of(kinds, is_long(works))
    seconds = {name: rates.seconds(work_of(name, 1, 1, made, rate_wanted)) for name in METHODS}
    ratio = f"; a step of adi takes as long as {seconds['adi'] / seconds['rkl2']:.2g} stages of rkl2 at {rates.origin}"
    return _controlled(scenario, made, limits, METHODS, seconds, why + ratio + refused, moves)


def _between_changes(
    name: str,
    scenario: HeatScenario,
    made: Discretisation,
    limits: StepLimits,
    reason: str,
    moves: _Moves | None = None,
) -> Plan:
    """The plan of equal steps that also end where data change, with a bound of their error if there is one. moves: how
    data move, if that is known."""
    times, dt = clock_times(scenario), math.inf
    record = stepper_record(name)
    plan = _equal_steps(name, scenario, times, limits, reason)
    if plan.possible and record.order_in_time is not None:
        found = data_changes(made, times[-1]) if moves is None else moves.changes
        if record.automatic is not None and scenario.time.dt == "auto":
            tolerance = scenario.time.tolerance
            longest = longest_steps(made, times[-1], found.all, tolerance) if moves is None else moves.longest
            dt = longest.least
        changes = sorted(snapped(found.all, times))
        plan = _equal_steps(name, scenario, sorted({*times, *changes}), limits, reason, dt)
        plan = replace(plan, clock=replace(plan.clock, changes=tuple(changes)), changes=tuple(changes))
    if record.error_bound is None or not plan.possible:
        return plan
    peaks = data_stops(made, times[-1], plan.clock.times).times if moves is None else moves.stops
    error = record.error_bound(made, plan.clock, frame_times(scenario.output, times[-1]), dt, peaks)
    return replace(plan, time_error=error)


def _controlled(
    scenario: HeatScenario,
    made: Discretisation,
    limits: StepLimits,
    methods: tuple[str, ...],
    seconds: Mapping[str, float],
    reason: str,
    moves: _Moves,
) -> Plan:
    """The plan of steps as long as their error allows. seconds: how long a stage of rkl2 and a step of adi take."""
    name, longest = "+".join(methods), moves.longest
    times = sorted({*controlled_times(scenario, moves.changes.all), *moves.stops})
    dips = _dips(made, times[-1])
    control = Control(
        methods=methods,
        tolerance=scenario.time.tolerance,
        safe=SAFETY * limits.safe,
        jumps=moves.changes.jumps,
        unsearched=moves.changes.unsearched,
        stops=moves.stops,
        worth=seconds["adi"] / seconds["rkl2"] if len(methods) > 1 else 0.0,
        unsure=dips is not None or runs_away(made, times[-1]) or jumps_without_number(made, times[-1]),
        windows=longest.begins,
        longest=longest.longest,
        range_floor=range_floor(made, times[-1], times),
        dips=dips,
        **_foretold(name, scenario, made, limits, len(times), moves),
    )
    clock = Clock(tuple(TICKS * k for k in range(len(times))), tuple(times))
    return Plan(name, clock, reason, control=control, changes=moves.changes.all)


def _dips(made: Discretisation, end: float) -> tuple[float, float] | None:
    """The bounds of temperatures, K, between which a conductivity dips or peaks; None where none does."""
    if made.law is None:
        return None
    with np.errstate(all="ignore"):
        bounds = made.reach(made.edges.looks(end), end)
    return bounds if Contrasts(made, bounds, end).largest > 1.0 else None


def _expected(methods: str, scenario: HeatScenario, limits: StepLimits, times: int, moves: _Moves) -> int:
    """The number of steps by `expected_steps`, which steppers are compared by; at least as many as it takes to see all
    that data do."""
    end = clock_times(scenario)[-1]
    expected = expected_steps(methods, scenario.time.tolerance, end, limits.safe, times, moves.pace)
    return max(expected, math.ceil(moves.longest.steps(end)))


def _foretold(
    methods: str, scenario: HeatScenario, made: Discretisation, limits: StepLimits, times: int, moves: _Moves
) -> dict[str, Any]:
    """The fields of a `Control` about the steps to come: how many there are, and how they are spread over the run."""
    end, pace = clock_times(scenario)[-1], moves.pace
    foretold, steps = foretold_steps(methods, scenario.time.tolerance, made, end, limits.safe, times, pace)
    whole = pace.turned[-1] if pace.turned else 0.0
    growing = SAFETY * limits.safe if math.isfinite(limits.safe) else _AT_FIRST * end
    return {
        "expected": max(foretold, math.ceil(moves.longest.steps(end))),
        "course_times": pace.times if whole > 0 else (),
        "course_turned": tuple(turned / whole for turned in pace.turned) if whole > 0 else (),
        "course_shares": (*steps.shares, growing),
    }


def _moves(scenario: HeatScenario, made: Discretisation, limits: StepLimits) -> _Moves:
    end, outputs = clock_times(scenario)[-1], controlled_times(scenario, ())
    found = data_changes(made, end)
    changes = Changes(snapped(found.jumps, outputs), snapped(found.kinks, outputs), found.unsearched)
    times = controlled_times(scenario, changes.all)
    peaks = data_stops(made, end, times)
    longest = longest_steps(made, end, found.all, scenario.time.tolerance, peaks.unsearched)
    stops = {*peaks.times, *snapped(longest.stops, times)}.difference(times)
    moving = pace(made, end, found.all, limits.safe, peaks.times)
    moving = replace(moving, turns=moving.turns + growth(made, end))
    return _Moves(changes, tuple(sorted(stops)), longest, moving)


def expected_stages(end: float, steps: int, safe: float) -> int:
    """The number of stages of each of so many steps of rkl2."""
    return min(stages_for(end / steps, safe), MOST_STAGES) if math.isfinite(safe) else 3


def controlled_times(scenario: HeatScenario, changes: Sequence[float]) -> list[float]:
    """The times at which steps end that are as long as their error allows: frames, samples, looks that are asked for,
    and changes of the data."""
    times = clock_times(scenario)
    seen = scenario.output.samples, scenario.output.looks
    return sorted({*times, *itertools.chain(*(sample_times(n, times) for n in seen)), *changes})


def clock_times(scenario: HeatScenario) -> list[float]:
    """The times of frames, from 0 on."""
    end = scenario.time.end
    assert end is not None, "a steady problem has no steps"
    return sorted({0.0, *frame_times(scenario.output, end)})


def _limits(scenario: HeatScenario, made: Discretisation, end: float) -> StepLimits:
    looks = made.edges.looks(end)
    try:
        with np.errstate(all="ignore"):
            fastest, loss = made.rates(looks, end)
            at_first = fastest if made.law is None else made.rates(looks)[0]
        safe = math.inf if fastest == 0 and _has_no_faces(made) else 2.0 / fastest
        stable = 2.0 / at_first if at_first > 0 else math.inf
        return StepLimits(stable, safe, 1.0 / loss if loss > 0 else math.inf)
    except (OverflowError, ZeroDivisionError):
        return StepLimits(0.0, 0.0, 0.0)


def _has_no_faces(made: Discretisation) -> bool:
    """Whether no two cells exchange heat, because there is only one cell or all are held. Steps of any length are then
    stable."""
    return made.law is None and (made.nx * made.ny == 1 or bool(distinct(made.held).all()))


def _equal_steps(
    name: str, scenario: HeatScenario, times: list[float], limits: StepLimits, reason: str, most: float = math.inf
) -> Plan:
    """A plan of equal steps between every two of these times. Their length is the given one; or the one that the
    stepper's record says, but at most `most`; or steps go from each of the frames, samples and looks to the next."""
    record = stepper_record(name)
    given, seen = scenario.time.dt, max(scenario.output.samples or 0, scenario.looks or 0)
    longest = times[-1] / (seen - 1) if seen else math.inf
    dt = longest
    if given != "auto":
        dt = float(given)
    elif record.automatic is not None:
        dt = min(record.automatic(limits), longest, most)
    expected = times[-1] / dt if dt > 0 else math.inf
    if not expected <= MOST_STEPS:
        return Plan(name, Clock((0, 1), (0.0, times[-1])), f"that takes {expected:.1e} steps", possible=False)
    clock = Clock.filling(times, dt)
    largest = max(clock.dt(step) for step in clock.steps[:-1])
    return Plan(name, clock, reason, 0 if record.stages is None else record.stages(largest, limits.safe))


def _checked(scenario: HeatScenario, plan: Plan, limits: StepLimits, mistakes: list[Mistake]) -> Plan:
    dt, record = scenario.time.dt, stepper_record(plan.stepper)
    bound = record.bound(limits)
    if dt != "auto" and record.stages is None and dt > bound * (1 + 1e-12):
        message = f"dt = {dt:g} s is unstable for the {plan.stepper} stepper on this grid"
        help = f'the largest stable dt is {rounded_down(bound)} s; or write dt = "auto"'
        if scenario.time.stepper == "auto":
            help += ', or stepper = "adi" for longer steps'
        mistakes.append(Mistake(("time", "dt"), message, help))
    elif not plan.possible:
        message = f"{plan.reason}; at most {MOST_STEPS:.0e} are possible"
        mistakes.append(Mistake(("time", "end" if dt == "auto" else "dt"), message))
    elif plan.stages > record.most_stages:
        message = f"a step of {dt:g} s takes {plan.stages} stages, of which {record.most_stages} are the most"
        help = f"the longest step is {rounded_down(bound)} s; adi has no limit"
        mistakes.append(Mistake(("time", "dt"), message, help))
    return plan


def rounded_down(value: float) -> str:
    """A positive number as text, rounded down to six digits."""
    text = f"{value:.6g}"
    return text if float(text) <= value else f"{value * (1 - 5e-6):.6g}"
