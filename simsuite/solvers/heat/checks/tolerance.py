"""Warnings about `time.tolerance`: where it has no effect, where it is too loose or too strict, and what to do where a
run has missed it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.common import Section
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.checks.thermostats import why_jumping
from simsuite.solvers.heat.error_control.unlimited import grows_with_temperature
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.steppers import is_exact_in_time, record_or_none, stepper_record
from simsuite.words import more_than

# keys that do nothing where there are no steps in time, and only one frame
_OF_STEPS = ("end", "dt", "tolerance", "steady_tolerance")
_OF_FRAMES = ("frames", "every", "times", "samples", "checkpoint_every")
# share of the tolerance: if rounding in float64 is more, it is why an error cannot be told to be within the tolerance
_ROUNDED = 0.03
_SHARE = 1e-3  # of an error: if rounding is less, it is not why the error is large
_NOTHING = 0.1  # share of the range: if rounding in float64 is more, temperatures do not change at all
_FEW = 17  # the number of places along each axis, and of times, at which a source is looked at
_FAR = 1e3  # Errors of more than so many times the tolerance are hardly in proportion to it.
_LEAST = 1e-8  # the least tolerance that is proposed: temperatures that differ by a hundredth of their size allow it
_EXACT, _SINGLE = 1e-13, 1e-6  # Smaller tolerances are less than the least rounding in float64 and in float32.
_MARGIN = 1.2  # A proposed tolerance is smaller by this factor than one in proportion to the error.


def tolerance_of(scenario: HeatScenario, plan: Plan) -> float | None:
    """The tolerance for the error of a run's time steps; None where nothing makes steps keep to it."""
    time = scenario.time
    chosen = time.stepper == "auto" and time.dt == "auto" and not scenario.run.compensated
    record = record_or_none(plan.stepper)
    counts = plan.control is not None or (chosen and record is not None and record.error_bound is not None)
    return time.tolerance if counts else None


def idle_keys(scenario: HeatScenario, plan: Plan) -> list[str]:
    """A sentence where keys of [time] or [output] are given that have no effect."""
    time = scenario.time
    given = _given(time, _OF_STEPS, scenario.written_out)
    if time.steady:
        also = _given(scenario.output, _OF_FRAMES, scenario.written_out)
        return _idle_without_steps([*(f"time.{key}" for key in given), *(f"output.{key}" for key in also)])
    # the stepper was chosen automatically and makes no error in time, so it meets the tolerance
    chosen = is_exact_in_time(plan.stepper) and time.stepper == "auto"
    if "tolerance" not in given or chosen or tolerance_of(scenario, plan) is not None:
        return []
    return [_why_idle(scenario, plan)]


def _given(section: Section, keys: Sequence[str], written_out: bool) -> list[str]:
    """Those of `keys` that the scenario gives. written_out: whether all keys stand in it, as in the scenario that a run
    stores; keys with their default values then count as not given."""
    fields = type(section).model_fields
    given = [key for key in keys if key in section.model_fields_set]
    return [key for key in given if not written_out or getattr(section, key) != fields[key].default]


def _idle_without_steps(names: Sequence[str]) -> list[str]:
    """A sentence about keys that do nothing in a search for a steady state, if there are any."""
    if not names:
        return []
    have = "has" if len(names) == 1 else "have"
    return [
        f"{' and '.join(names)} {have} no effect with steady = true, which takes no steps in time and has one frame, "
        "the steady state"
    ]


def loose_tolerance(scenario: HeatScenario, plan: Plan) -> list[str]:
    """A sentence where the tolerance, which is relative, is so large that steps may be off by the whole range of
    temperatures."""
    tolerance = tolerance_of(scenario, plan)
    if tolerance is None or tolerance < 1.0:
        return []
    return [
        f"time.tolerance = {tolerance:g} lets time steps be off by as much as temperatures differ by in all: it is "
        "relative to that, and not in K; the default is 1e-5"
    ]


def strict_tolerance(scenario: HeatScenario, plan: Plan) -> list[str]:
    """A sentence where rounding alone makes errors larger than the tolerance."""
    tolerance, precision = tolerance_of(scenario, plan), scenario.run.precision
    least = _EXACT if precision == "float64" else _SINGLE
    if tolerance is None or tolerance >= least:
        return []
    larger = f"{_LEAST:g}" if precision == "float64" else '1e-5, or precision = "float64" in [run]'
    return [
        f"time.tolerance = {tolerance:g} is less than rounding in {precision}, which is {least:g} of the temperatures' "
        f"range or more, so that no steps can meet it: set time.tolerance = {larger}"
    ]


def unreachable_rate(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where rounding of temperatures alone makes rates of change that are more than the steady_tolerance.
    Such a rate is half a unit in the last place of the largest temperature, times the rate at which a cell exchanges
    heat with its neighbours."""
    asked = scenario.time.steady_tolerance
    if scenario.time.steady or not asked > 0.0:
        return []
    hottest = max(map(abs, made.temperatures(made.edges.looks(scenario.time.end or 0.0))))
    largest = (float(np.max(distinct(k))) for k in (made.kx, made.ky))
    across = sum(k / d**2 for k, d, n in zip(largest, (made.dx, made.dy), (made.nx, made.ny)) if n > 1)
    rate = 0.5 * float(np.finfo(made.T0.dtype).eps) * hottest * across / float(np.min(distinct(made.rho_c)))
    if asked >= rate:
        return []
    precise = "" if scenario.run.precision == "float64" else ', or precision = "float64" in [run]'
    return [
        f"time.steady_tolerance = {asked:g} K/s may never be met: rounding in {scenario.run.precision} alone makes "
        f"rates of {rate:.1g} K/s or so on this grid; set it to {10.0 * rate:.0e} or more{precise}"
    ]


def _why_idle(scenario: HeatScenario, plan: Plan) -> str:
    if is_exact_in_time(plan.stepper):
        return f'time.tolerance has no effect with stepper = "{plan.stepper}", which makes no error in time'
    others = 'stepper = "auto", "rkl2" or "adi"'
    if scenario.run.compensated:
        others += ' and precision = "float64"'
    if scenario.time.dt == "auto":
        return (
            f"time.tolerance does not limit the error of explicit steps, which are as long as is stable: set {others}"
        )
    also = "" if stepper_record(plan.stepper).controls_error else f", and set {others}"
    return f"time.tolerance has no effect with a given time.dt: leave dt out{also}, for steps as long as it allows"


def _gives_more(power: Expression, made: Discretisation, end: float, reached: tuple[float, float]) -> bool:
    """Whether a source gives more at the hottest temperature that was reached than at the coldest."""
    if not power.depends_on("T"):
        return False
    x, y = (a[:: 1 + a.size // _FEW] for a in made.centres)
    t = np.linspace(0.0, end, _FEW)[:, None, None]
    with np.errstate(all="ignore"):
        cold, hot = (np.asarray(power(x=x, y=y, t=t, T=T)) for T in reached)
    return bool(np.any(hot > cold))


def missed_tolerance(
    scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any], plan: Plan, complete: bool
) -> list[str]:
    """A sentence where steps that control their error may have missed the tolerance. Explicit steps are no reason to
    warn, since their results have a bound of the error. complete: whether the run came to its end. In a run that was
    stopped, the range of temperatures, by which errors are measured, might still have grown."""
    error, tolerance = results.get("time_error", math.inf), scenario.time.tolerance
    if "rounding_error" not in results or not error > tolerance:
        return []
    low, high = results.get("range", (0.0, 0.0))
    if not complete and plan.control is not None and error * (high - low) <= tolerance * plan.control.range_floor:
        return []
    rounding, exact = results["rounding_error"], scenario.run.precision == "float64"
    if exact and rounding > _NOTHING:
        return []
    smaller = _smaller(tolerance, error)
    what = f"; set time.tolerance = {smaller}, which should bring it to {tolerance:g} or less" if smaller else ""
    why, instead = _why_missed(scenario, made, results)
    what = instead or what
    if rounding > _SHARE * error and (not exact or rounding > _ROUNDED * tolerance):
        why = (
            f"{scenario.run.precision} rounds temperatures, by up to {rounding:.1g} of the range in all steps, and "
            "smaller errors cannot be told from rounding"
        )
        what = _counted_from_elsewhere(results) if exact else '; set precision = "float64" in [run]'
        if tolerance < _EXACT:
            what = f"; set time.tolerance = {_LEAST:g} or more" + ("" if exact else ', and precision = "float64"')
    size = f"may be {more_than(tolerance, error)} of the temperatures' range, more than time.tolerance = {tolerance:g}"
    if math.isinf(error):
        size = "is unknown, as its estimate has grown beyond all bounds"
    return [f"the error of time steps {size}: {why}{what}"]


def _counted_from_elsewhere(results: Mapping[str, Any]) -> str:
    """Advice where temperatures differ too little for float64: count them from another zero."""
    level = f"{results['min']:.4g}"
    return (
        f"; temperatures differ little beside {level}: where nothing radiates, count all of them from {level} "
        f"(initial, edges, ambients, and T in expressions), or accept a larger time.tolerance"
    )


def _why_missed(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> tuple[str, str]:
    """Why errors may have grown, and what to do about it, if that is not to set a smaller tolerance."""
    end, why = scenario.time.end or 0.0, "errors grew faster than could be foreseen"
    low, high = results.get("range", (results["min"], results["max"]))
    jumping = why_jumping(scenario, made, (low, high))
    if jumping is not None:
        what, ramp = jumping
        return f"{why}, as where {what} jumps at a temperature", (
            f"; steps cannot end where each cell passes such a temperature: make it a ramp there, such as {ramp}"
        )
    powers = [source.power for source in made.heating]
    rising = [power for power in powers if _gives_more(power, made, end, (low, high))]
    if any(grows_with_temperature(power, made, end) for power in rising):
        return f"{why}, as where a source makes temperatures run away", ""
    return (f"{why}, as where a source gives more for a higher temperature" if rising else why), ""


def _smaller(tolerance: float, error: float) -> str | None:
    """A tolerance of one digit with which a run keeps to the wanted one, assuming that errors are in proportion to the
    tolerance; None where the error is too large to tell."""
    wanted = tolerance * tolerance / (_MARGIN * error)
    if error > _FAR * tolerance or wanted < _LEAST:
        return None
    unit = 10.0 ** math.floor(math.log10(wanted))
    return f"{math.floor(wanted / unit) * unit:g}"
