"""`time.tolerance`: shown beside the error, told where it does nothing, and what to set where it was missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.heat.checks.tolerance import idle_keys
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.summaries.lines import summary_lines

SMOOTH = {"initial": {"temperature": "300 + cos(pi*x)"}, "material": {"diffusivity": 0.01}}


def tolerance_warnings(problem: HeatProblem) -> list[str]:
    return [text for text in problem.warnings if "time.tolerance" in text]


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ({"stepper": "explicit", "dt": 0.1}, "no effect with a given time.dt: leave dt out, and set stepper"),
        ({"stepper": "auto", "dt": 0.1}, "no effect with a given time.dt: leave dt out, and set stepper"),
        ({"stepper": "rkl2", "dt": 0.1}, "no effect with a given time.dt: leave dt out, for steps"),
        ({"stepper": "adi", "dt": 0.1}, "no effect with a given time.dt: leave dt out, for steps"),
        ({"stepper": "exact"}, "makes no error in time"),
        ({"stepper": "exact", "dt": 0.1}, "makes no error in time"),
        ({"stepper": "explicit"}, "does not limit the error of explicit steps"),
        ({"stepper": "adi"}, None),
        ({"stepper": "rkl2"}, None),
        ({"stepper": "auto"}, None),
    ],
)
def test_a_tolerance_without_effect_is_told_once(
    heat: Callable[..., HeatProblem], time: dict[str, Any], words: str | None
) -> None:
    """The default as well, where it is written; but not in the scenario that a run keeps, which has all keys."""
    for tolerance in (1e-3, 1e-5):
        problem = heat(**SMOOTH, time={"end": 1.0, "tolerance": tolerance, **time})
        found = tolerance_warnings(problem)
        assert len(found) == (words is not None)
        assert words is None or words in found[0]
        kept = problem.scenario.model_dump(mode="json", by_alias=True, exclude_none=True)
        again = tolerance_warnings(heat(**kept))
        assert again == (found if tolerance == 1e-3 else [])
    assert not tolerance_warnings(heat(**SMOOTH, time={"end": 1.0, **time}))


def test_compensated_steps_are_explicit_until_the_precision_changes(heat: Callable[..., HeatProblem]) -> None:
    time = {"end": 1.0, "tolerance": 1e-3, "stepper": "auto"}
    (text,) = tolerance_warnings(heat(**SMOOTH, run={"precision": "float32c"}, time=time))
    assert text.endswith('"adi" and precision = "float64"')


def outcome(problem: HeatProblem) -> tuple[dict[str, Any], np.ndarray]:
    stepper = problem.stepper(CpuBackend(), problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.observe("time") as observed:
        return problem.results(observed), np.array(observed.arrays["temperature"])


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ({"stepper": "adi", "tolerance": 1e-3}, True),
        ({"stepper": "auto", "tolerance": 1e-2}, True),
        ({"stepper": "explicit"}, False),
        ({"stepper": "explicit", "dt": 1e-3}, False),
    ],
)
def test_the_tolerance_stands_beside_the_error_where_it_counts(
    heat: Callable[..., HeatProblem], time: dict[str, Any], shown: bool
) -> None:
    """Also with explicit steps that `auto` has chosen, since they meet it."""
    plate = SMOOTH | {"boundary": {"left": {"kind": "flux", "value": "0.1*t"}}}
    problem = heat(**plate, time={"end": 0.1, **time})
    results, _ = outcome(problem)
    assert results["time_error"] > 0
    assert results.get("tolerance") == (time["tolerance"] if shown else None)
    about = {"solver": "heat", "directory": "plate", "device": "cpu", "device_name": "", "precision": "float64"}
    run = {"status": "complete", "steps": 10, "time": 1.0, "wall_seconds": 1.0, "compile_seconds": 1.0, "rate": 0.0}
    lines = summary_lines(about | run | {"stepper": problem.plan.stepper, "results": results})
    (line,) = [text for text in lines if "time error" in text]
    assert line.endswith(f"; tolerance {time['tolerance']:g}" if shown else "at most")


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_the_tolerance_that_is_proposed_meets_the_one_that_was_missed(
    heat: Callable[..., HeatProblem], stepper: str
) -> None:
    """dT/dt = T² from 1 on is 1/(1 - t): errors grow faster than the range of temperatures."""

    def plate(tolerance: float) -> HeatProblem:
        return heat(
            grid={"nx": 2, "ny": 1},
            initial={"temperature": 1.0},
            source=[{"power": "T*T"}],
            time={"end": 0.98, "stepper": stepper, "tolerance": tolerance},
        )

    missed = plate(1e-4)
    results, T = outcome(missed)
    assert np.max(np.abs(T - 50.0)) / 49.0 > 1e-4
    (text,) = missed.shortcomings(results)
    said = re.search(r"set time.tolerance = (\S+), which should bring it to 0.0001 or less$", text)
    assert said is not None
    again = plate(float(said[1]))
    results, T = outcome(again)
    assert np.max(np.abs(T - 50.0)) / 49.0 <= 1e-4
    assert results["time_error"] == pytest.approx(1e-4, rel=0.5)


def test_no_tolerance_is_proposed_where_it_is_missed_by_far(heat: Callable[..., HeatProblem]) -> None:
    problem = heat(source=[{"power": "T*T"}], time={"end": 0.5, "stepper": "adi"})
    assert not idle_keys(problem.scenario, problem.plan)
    energy = {"stored": 1.0, "edges": {"left": 1.0}, "residual": 0.0}
    results = {"min": 0.0, "max": 1.0, "time_error": 0.3, "rounding_error": 0.0, "energy": energy}
    (text,) = problem.shortcomings(results)
    assert "set time.tolerance" not in text


@pytest.mark.parametrize(
    ("jumping", "what"),
    [
        ({"source": [{"power": "1e3*(T < 320)"}]}, "a source"),
        (
            {"material": {"conductivity": "9 - 5*(T > 320)", "density": 1.0, "specific_heat": 1.0}},
            "the conductivity",
        ),
    ],
)
def test_no_tolerance_is_proposed_where_something_jumps_at_a_temperature(
    heat: Callable[..., HeatProblem], jumping: dict[str, Any], what: str
) -> None:
    """Steps become shorter there without end: a ramp helps, and no tolerance does."""
    problem = heat(time={"end": 0.5, "stepper": "adi"}, **jumping)
    energy = {"stored": 1.0, "edges": {"left": 1.0}, "residual": 0.0}
    results = {"min": 300.0, "max": 330.0, "time_error": 3e-5, "rounding_error": 0.0, "energy": energy}
    (text,) = problem.shortcomings(results)
    assert f"as where {what} jumps at a temperature; " in text
    assert "make it a ramp" in text
    assert "set time.tolerance" not in text


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ({"stepper": "adi", "tolerance": 1.0}, True),
        ({"stepper": "auto", "tolerance": 5.0}, True),
        ({"stepper": "adi", "tolerance": 0.5}, False),
    ],
)
def test_a_tolerance_of_all_that_there_is_is_told(
    heat: Callable[..., HeatProblem], time: dict[str, Any], told: bool
) -> None:
    texts = tolerance_warnings(heat(**SMOOTH, time={"end": 1.0, **time}))
    assert [text.startswith(f"time.tolerance = {time['tolerance']:g} lets") for text in texts] == [True] * told


@pytest.mark.parametrize(
    ("precision", "tolerance", "said"),
    [
        (
            "float64",
            1e-20,
            "which is 1e-13 of the temperatures' range or more, so that no steps can meet it: set",
        ),
        ("float64", 1e-12, None),
        ("float32", 1e-7, 'set time.tolerance = 1e-5, or precision = "float64" in [run]'),
        ("float32", 1e-5, None),
    ],
)
def test_a_tolerance_below_rounding_is_told(
    heat: Callable[..., HeatProblem], precision: str, tolerance: float, said: str | None
) -> None:
    time = {"end": 1.0, "stepper": "rkl2", "tolerance": tolerance}
    found = tolerance_warnings(heat(**SMOOTH, run={"precision": precision}, time=time))
    assert [said in text for text in found] == [True] if said else not found


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_who_missed_a_tolerance_below_rounding_is_told_to_set_a_larger_one(
    heat: Callable[..., HeatProblem], precision: str
) -> None:
    time = {"end": 1.0, "stepper": "rkl2", "tolerance": 1e-20}
    energy = {"stored": 1.0, "edges": {"left": 1.0}, "residual": 0.0}
    results = {"min": 299.0, "max": 301.0, "time_error": 1e-10, "rounding_error": 1e-11, "energy": energy}
    (text,) = heat(**SMOOTH, run={"precision": precision}, time=time).shortcomings(results)
    assert "set time.tolerance = 1e-08 or more" in text
    assert "count all of them from" not in text


@pytest.mark.parametrize(
    ("precision", "asked", "told"),
    [("float64", 1e-13, True), ("float64", 1e-9, False), ("float32", 1e-4, True), ("float32", 1.0, False)],
)
def test_a_steady_tolerance_below_rounding_is_told(
    heat: Callable[..., HeatProblem], precision: str, asked: float, told: bool
) -> None:
    """8 by 8 cells of a diffusivity of 1: rounding is half a unit of 300 in the last place, times 128/s."""
    time = {"end": 1.0, "steady_tolerance": asked}
    problem = heat(run={"precision": precision}, initial={"temperature": "300*x"}, time=time)
    texts = [text for text in problem.warnings if "may never be met" in text]
    assert len(texts) == told
    rate = 0.5 * np.finfo(precision).eps * float(problem.T0.max()) * 128
    assert all(f"rates of {rate:.1g} K/s" in text for text in texts)
