"""Which stepper a scenario gets, with which steps, and why.

Errors of time integration, relative to the solution, for a mode that decays as e^{-λt}, after time t with steps of Δt:
explicit (λt)²/2·Δt/t·e^{-λt}, at most 0.27 Δt/t; a second-order method (λt)³/12·(Δt/t)²·e^{-λt} (trapezoidal rule), at
most 0.112 (Δt/t)². So steps may grow in proportion to the time since the start. What edges and sources do in the course
of time is resolved as well: Δt²/12 of their second derivative relative to their range.

What adi leaves out, Δt²/4 of the operators along x and y applied one after the other, is large at the corners of held
regions, whose outline is made of steps: measured errors there fall as Δt^1.6, and are at most 0.25 (Δt/t)^1.5.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from simsuite.core import Clock
from simsuite.errors import Mistake
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.choice import RatesOf, cheapest, contenders, is_short, usual
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.rates import Work, work_of
from simsuite.solvers.heat.rkl2 import MOST_STAGES, longest_step, stages_for
from simsuite.solvers.heat.sampling import distinct
from simsuite.solvers.schedule import frame_times

SAFETY = 0.9  # of the largest stable step, so that the shortest waves die out as well
MOST_STEPS = 1e15  # which no machine gets through
_FIRST_ORDER = 0.27
_SECOND_ORDER = {"adi": 0.112, "rkl2": 0.25}  # rkl2 as measured with an initial state that does not fit the edges
_BESIDE_HELD = 0.25  # of adi, order 3/2
_TRAPEZOIDAL = 8.0  # 12 in theory, for a forcing of one frequency
_LOOKS = 1025  # times at which edges and sources are looked at for how fast they change


@dataclass(frozen=True)
class _Limits:
    stable: float  # largest stable explicit step at the temperatures of the data, s
    safe: float  # at all temperatures that may come up, s
    monotone: float  # largest one that obeys the maximum principle, at these, s
    forcing: float  # largest second-order step that resolves edges and sources, s
    beside_held: bool = False  # whether cells are held


def make_plan(
    scenario: HeatScenario,
    made: Discretisation,
    exact_refused: str | None,
    mistakes: list[Mistake],
    rates_of: RatesOf = usual,
    sharpened: Callable[[Plan, Callable[[float], Plan]], Plan] = lambda plan, stretched: plan,
) -> Plan:
    """The plan of a scenario. exact_refused: why the exact propagator does not apply, None if it does. rates_of: see
    `choice`; sharpened: see `pilot`.

    What is wrong, such as an unstable dt, is added to `mistakes`; the result is then of no use.
    """
    times = clock_times(scenario)
    end = times[-1]
    limits = _limits(scenario, made, end)
    if not (0 < limits.safe < math.inf or (limits.safe == math.inf and _has_no_faces(made))):
        message = "cells so small, or a diffusivity so far from 1, leave no stable time step"
        mistakes.append(Mistake(("grid",), message, "check the units of grid.lx, grid.ly and [material]"))
        return Plan("explicit", Clock((0, 1), (0.0, end)), "")
    wanted = scenario.time.stepper
    if wanted == "exact" and exact_refused is not None:
        help = 'write stepper = "adi", "rkl2" or "explicit", or "auto"'
        mistakes.append(Mistake(("time", "stepper"), f"`exact` does not apply: {exact_refused}", help))
        wanted = "explicit"
    names = [name for name in ("exact", "explicit", "rkl2", "adi") if name != "exact" or exact_refused is None]
    if wanted == "auto" and scenario.run.compensated:
        reason = 'precision = "float32c" is a way to take its steps'
        return _checked(scenario, _plan("explicit", scenario, times, limits, reason), limits, mistakes)
    if wanted == "auto" and scenario.time.dt != "auto":
        return _checked(scenario, _plan("explicit", scenario, times, limits, "dt is given"), limits, mistakes)
    if wanted != "auto":
        return _checked(scenario, _plan(wanted, scenario, times, limits, "asked for"), limits, mistakes)
    plans = {name: _plan(name, scenario, times, limits, "") for name in names}
    possible = {name: plan for name, plan in plans.items() if not plan.reason}
    if not possible:
        return _checked(scenario, plans["explicit"], limits, mistakes)
    works = _works(scenario, made, possible)
    if not is_short(works) and limits.forcing == math.inf and not made.nonlinear:
        for name in contenders(works):
            if name in _SECOND_ORDER:
                stretched = functools.partial(_plan, name, scenario, times, limits, "")
                possible[name] = sharpened(possible[name], stretched)
        works = _works(scenario, made, possible)
    best, why = cheapest(works, {name: plan.size for name, plan in possible.items()}, rates_of)
    if possible[best] != plans[best]:
        why += f"; {plans[best].clock.end} for the worst there could be, these after a pilot on few cells"
    refused = f"; exact does not apply: {exact_refused}" if exact_refused is not None else ""
    return _checked(scenario, replace(possible[best], reason=why + refused), limits, mistakes)


def _works(scenario: HeatScenario, made: Discretisation, plans: Mapping[str, Plan]) -> dict[str, list[Work]]:
    rate_wanted = scenario.time.steady_tolerance > 0
    return {name: work_of(name, plan.clock.end, plan.stages, made, rate_wanted) for name, plan in plans.items()}


def clock_times(scenario: HeatScenario) -> list[float]:
    """The times between which steps are equal."""
    end = scenario.time.end
    assert end is not None, "a steady problem has no steps"
    return sorted({0.0, *frame_times(scenario.output, end)})


def _limits(scenario: HeatScenario, made: Discretisation, end: float) -> _Limits:
    looks = made.edges.looks(end)
    try:
        with np.errstate(all="ignore"):
            fastest, loss = made.rates(looks, end)
            at_first = fastest if made.law is None else made.rates(looks)[0]
        safe = math.inf if fastest == 0 and _has_no_faces(made) else 2.0 / fastest
        stable = 2.0 / at_first if at_first > 0 else math.inf
        monotone = 1.0 / loss if loss > 0 else math.inf
        return _Limits(stable, safe, monotone, _forcing_limit(scenario, made, end), made.any_held)
    except (OverflowError, ZeroDivisionError):
        return _Limits(0.0, 0.0, 0.0, 0.0)


def _has_no_faces(made: Discretisation) -> bool:
    """Whether no two cells exchange heat, for there is one only, or all are held: any step is stable."""
    return made.law is None and (made.nx * made.ny == 1 or bool(distinct(made.held).all()))


def _plan(
    name: str, scenario: HeatScenario, times: list[float], limits: _Limits, reason: str, stretch: float = 1.0
) -> Plan:
    """stretch: by how much steps of second order are longer than those of the worst mode."""
    end, tolerance, given = times[-1], scenario.time.tolerance, scenario.time.dt
    samples = scenario.output.samples
    longest = end / (samples - 1) if samples is not None else math.inf
    auto = scenario.time.stepper == "auto"

    def dt_at(t: float) -> float:
        if given != "auto":
            return float(given)
        if name == "exact":
            return longest
        if name == "explicit":
            accurate = tolerance / _FIRST_ORDER * t if auto else math.inf
            return min(SAFETY * limits.safe, limits.monotone, accurate, longest)
        accurate = stretch * math.sqrt(tolerance / _SECOND_ORDER[name]) * t
        if name == "adi" and limits.beside_held:
            accurate = stretch * (tolerance / _BESIDE_HELD) ** (2 / 3) * t
        dt = min(accurate, math.sqrt(_TRAPEZOIDAL * tolerance) * limits.forcing)
        dt = min(dt, longest)
        return min(dt, longest_step(MOST_STAGES, SAFETY * limits.safe)) if name == "rkl2" else dt

    counts = [(b - a) / dt if (dt := dt_at(b)) > 0 else math.inf for a, b in itertools.pairwise(times)]
    if not sum(counts) <= MOST_STEPS:
        return Plan(name, Clock((0, 1), (0.0, end)), _ENDLESS.format(steps=sum(counts)))
    steps = itertools.accumulate((max(1, math.ceil(n * (1 - 1e-12))) for n in counts), initial=0)
    clock = Clock(tuple(steps), tuple(times))
    largest = max(clock.dt(step) for step in clock.steps[:-1])
    stages = stages_for(largest, limits.safe if given != "auto" else SAFETY * limits.safe) if name == "rkl2" else 0
    return Plan(name, clock, reason, stages)


_ENDLESS = "that takes {steps:.1e} steps"


def _checked(scenario: HeatScenario, plan: Plan, limits: _Limits, mistakes: list[Mistake]) -> Plan:
    dt = scenario.time.dt
    if dt != "auto" and plan.stepper == "explicit" and dt > limits.stable * (1 + 1e-12):
        message = f"dt = {dt:g} s is unstable for the explicit stepper on this grid"
        help = f'the largest stable dt is {rounded_down(limits.stable)} s; or write dt = "auto"'
        if scenario.time.stepper == "auto":
            help += ', or stepper = "adi" for longer steps'
        mistakes.append(Mistake(("time", "dt"), message, help))
    elif plan.reason.startswith(_ENDLESS[:9]):
        message = f"{plan.reason}; at most {MOST_STEPS:.0e} are possible"
        mistakes.append(Mistake(("time", "end" if dt == "auto" else "dt"), message))
    elif plan.stages > MOST_STAGES:
        longest = rounded_down(longest_step(MOST_STAGES, limits.safe))
        message = f"a step of {dt:g} s takes {plan.stages} stages, of which {MOST_STAGES} are the most"
        mistakes.append(Mistake(("time", "dt"), message, f"the longest step is {longest} s; adi has no limit"))
    return plan


def rounded_down(value: float) -> str:
    """Six digits of a positive number that are not more than it."""
    text = f"{value:.6g}"
    return text if float(text) <= value else f"{value * (1 - 5e-6):.6g}"


def _forcing_limit(scenario: HeatScenario, made: Discretisation, end: float) -> float:
    """The time in which what edges and sources do changes by their own range: √(range / largest second derivative)."""
    t = np.linspace(0.0, end, _LOOKS)
    shortest = math.inf
    for values in _histories(made, t):
        with np.errstate(all="ignore"):  # what is infinite for a while is found when a run gets there
            range_ = float(np.ptp(values))
            bend = float(np.max(np.abs(np.diff(values, 2, axis=0)))) / (t[1] - t[0]) ** 2 if range_ > 0 else 0.0
        if bend > 0 and math.isfinite(bend):
            shortest = min(shortest, math.sqrt(range_ / bend))
    for rate in _reaction_rates(made, t[:: _LOOKS // 8]):
        shortest = min(shortest, 1.0 / rate if rate > 0 else math.inf)
    return shortest


def _histories(made: Discretisation, t: np.ndarray) -> Iterator[np.ndarray]:
    """Values of what moves at the times t, (times, a few places)."""
    for piece in made.edges.pieces:
        few = slice(None, None, max(1, len(piece.x) // 8))
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                yield f(x=piece.x[few], y=piece.y[few], t=t[:, None])
    x, y = (a.ravel()[:: max(1, a.size // 8)] for a in made.centres)
    T = float(made.T0[0, 0])
    for f in made.sources:
        if f.depends_on("t"):
            at = f(x=x, y=y[:, None], t=t[:, None, None], T=T)
            yield np.broadcast_to(at, (len(t), *at.shape[1:])).reshape(len(t), -1)


def _reaction_rates(made: Discretisation, times: np.ndarray) -> Iterator[float]:
    """How fast sources respond to the temperature, 1/s."""
    least, most = made.temperatures(made.edges.looks(float(times[-1])))
    h = 1e-6 * max(most - least, abs(least), abs(most), 1e-3)
    x, y = (a.ravel()[:: max(1, a.size // 8)] for a in made.centres)
    for f in made.sources:
        if f.depends_on("T"):
            for T in np.linspace(least, most, 9):
                for t in times:
                    change = f(x=x, y=y[:, None], t=t, T=T + h) - f(x=x, y=y[:, None], t=t, T=T - h)
                    yield float(np.max(np.abs(change))) / (2 * h) / float(np.min(distinct(made.rho_c)))
