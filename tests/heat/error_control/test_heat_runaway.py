"""Temperatures that run away before the end of a run, whose steps get ever shorter: what is said of it, and when."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import call

from simsuite.backends import open_backend
from simsuite.cli.progress import Lines
from simsuite.io.directory import RunDirectory
from simsuite.progress import Meter, meter_for
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.error_control.runaway import BEGUN, Runaway
from simsuite.solvers.heat.problem import HeatProblem

HOT: dict[str, Any] = {"grid": {"nx": 3, "ny": 2}, "initial": {"temperature": "1 + 0.1*x"}}


def told(range_: Callable[[float], float], step: Callable[[float], float], end: float, until: float) -> list[float]:
    """What is said of limits, with the time of it, of a run whose range and steps are functions of time."""
    watch, t, said = Runaway(end), 0.0, []
    while t < until:
        dt = step(t)
        t += dt
        watch.note(t, dt, range_(t))
        if watch.limit is not None:
            said.append(watch.limit)
    return said


@pytest.mark.parametrize("power", [1.0, 2.0, 0.5])
def test_where_temperatures_have_a_pole_it_is_found(power: float) -> None:
    """R = (1 - t)^-p, with steps in proportion to what is left."""
    said = told(lambda t: (1.0 - t) ** -power, lambda t: 1e-2 * (1.0 - t), 10.0, 1.0 - 1e-8)
    assert said
    assert all(limit == pytest.approx(1.0, rel=1e-3) for limit in said)


@pytest.mark.parametrize(
    "range_",
    [
        lambda t: math.exp(5 * t),
        lambda t: 1e-6 + 300 * t,
        lambda t: 1e-9 + math.exp(-(((t - 0.9) / 0.1) ** 2)),
        lambda t: 1e-6 + 1 / (1 + math.exp(-20 * (t - 0.8))),
        lambda t: 2.0,
    ],
    ids=["exponential", "straight", "peak", "logistic", "at rest"],
)
def test_nothing_is_said_of_what_merely_grows(range_: Callable[[float], float]) -> None:
    """However short steps become."""
    assert told(range_, lambda t: 1e-3 * max(1.0 - t, 1e-4), 10.0, 0.999) == []


def test_nothing_is_said_where_the_end_comes_before() -> None:
    assert told(lambda t: 1.0 / (1.0 - t), lambda t: 1e-2 * (1.0 - t), 0.9, 0.9) == []


def test_a_pole_that_is_left_out_is_taken_back() -> None:
    """A source that is limited after all: the range stands still from 0.99 on."""
    said = told(lambda t: 1.0 / (1.0 - min(t, 0.99)), lambda t: 1e-2 * (1.0 - min(t, 0.99)), 10.0, 0.99)
    assert said
    watch, t = Runaway(10.0), 0.0
    while t < 2.0:
        dt = 1e-2 * (1.0 - min(t, 0.99))
        t += dt
        watch.note(t, dt, 1.0 / (1.0 - min(t, 0.99)))
    assert watch.limit is None


def test_what_doubled_before_data_changed_says_nothing() -> None:
    """Three doublings, each sooner than the one before, and with shorter steps: in one piece of the data a sign of a
    pole, but not where a pulse began in between."""
    watch, t, dt = Runaway(10.0), 0.0, 0.0
    for _ in range(2 * BEGUN):
        dt = 1e-2 * (1.0 - t)
        t += dt
        watch.note(t, dt, 1.0 / (1.0 - t))
    assert watch.limit == pytest.approx(1.0, rel=1e-2)
    watch.restart()
    watch.note(t + dt, dt, 1.0 / (1.0 - t - dt))
    assert watch.limit is None


def test_a_source_that_grows_without_bound_is_named(heat: Callable[..., HeatProblem]) -> None:
    """T' = T² from T0 = 1.1 at most, which hardly any heat leaves: T = 1/(1/T0 - t)."""
    sections = HOT | {"source": [{"power": "T**2"}], "material": {"diffusivity": 1e-6}}
    problem = heat(**sections, time={"end": 5.0, "stepper": "rkl2", "tolerance": 1e-2}, units="degC")
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    while stepper.stalled is None and stepper.taken < 20 * BEGUN:
        stepper.advance(1)
    hottest = 1.0 + 0.1 * 5 / 6
    assert re.match(r"temperatures run away: by t = 0\.(8[5-9]|9)", stepper.stalled)
    assert re.search(r"they go from 1\.\S* to \d+\S* °C, and", stepper.stalled)
    limit = float(stepper.stalled.partition("beyond t = ")[2].split()[0])
    assert limit == pytest.approx(1 / hottest, abs=0.03)


@pytest.mark.usefixtures("one_thread")
def test_an_explosion_is_named_before_steps_take_minutes(heat: Callable[..., HeatProblem]) -> None:
    """A reaction in a rod whose ends are warmed to 390 K: Radau passes 864 K at 2647.76 s. By 2647.93 s, where the
    range had not doubled three times yet, there were 60 000 steps."""
    edge = {"kind": "temperature", "value": "300 + 90*min(1, t/600)"}
    problem = heat(
        grid={"nx": 20, "ny": 1, "lx": 0.05, "ly": 0.01},
        material={"conductivity": 0.5, "density": 1000.0, "specific_heat": 2000.0},
        initial={"temperature": 300.0},
        boundary={"left": edge, "right": edge, "bottom": {"kind": "insulated"}, "top": {"kind": "insulated"}},
        source=[{"power": "2e18*exp(-12000/T)"}],
        time={"end": 3000.0, "tolerance": 1e-3, "stepper": "auto"},
    )
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    while stepper.stalled is None and stepper.taken < 8000:
        stepper.advance(1)
    assert "the run may never get beyond t = 2.65e+03 s" in (stepper.stalled or "")


@pytest.mark.parametrize("stepper", ["rkl2", "adi", "auto"])
def test_what_is_no_number_is_said_to_be_none_from_where_steps_came_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stepper: str
) -> None:
    """Which is long before the next row of results, by which it is found. It is known before the run, but not whether
    the run is steady, and ends, before that."""
    text = f"""
        solver = "heat"
        grid = {{nx = 4, ny = 4}}
        material = {{diffusivity = 1.0}}
        source = [{{power = "sqrt(0.43 - t)"}}]
        time = {{end = 1.0, stepper = "{stepper}", steady_tolerance = 1e-30}}
        output = {{frames = 5}}
        """
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    done = call(capsys, "run", tmp_path / "s.toml", "-o", tmp_path / "run", "--device", "cpu")
    assert done.returncode == 3
    words = done.stderr.partition("error: NaN or Inf in cell 0 along x, 0 along y at time ")[2]
    assert float(words.split()[0]) == pytest.approx(0.43, abs=1e-6)
    assert "s; at time 0.25 s there was none" in words
    assert "the square root of `0.43 - t`, which may be negative" in words


def test_times_are_told_apart_however_close_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An edge is no number from just after a frame on."""
    text = """
        solver = "heat"
        grid = {nx = 4, ny = 4}
        material = {diffusivity = 1.0}
        boundary = {left = {kind = "temperature", value = "sqrt(0.5 - t)"}}
        time = {end = 1.0, stepper = "rkl2", steady_tolerance = 1e-30}
        output = {frames = 5}
        """
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    done = call(capsys, "run", tmp_path / "s.toml", "-o", tmp_path / "run", "--device", "cpu")
    assert done.returncode == 3
    found = re.search(r"at time (\S+) s; at time (\S+) s there was none", done.stderr)
    assert found is not None
    assert float(found[1]) > float(found[2]) == 0.5


def test_nothing_is_looked_for_where_sources_follow_temperatures_in_proportion(
    heat: Callable[..., HeatProblem],
) -> None:
    problem = heat(**HOT, source=[{"power": "5*T"}], time={"end": 3.0, "stepper": "rkl2", "tolerance": 1e-2})
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    stepper.advance(problem.clock.end)
    assert stepper.stalled is None


def test_nothing_is_looked_for_where_sources_are_limited(heat: Callable[..., HeatProblem]) -> None:
    """T' = T² up to T = 100, where steps have become as short as for T' = T² without an end."""
    time = {"end": 3.0, "stepper": "rkl2", "tolerance": 1e-3}
    for power, stalls in (("T**2", True), ("min(1e4, T**2)", False)):
        problem = heat(**HOT, source=[{"power": power}], time=time)
        stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
        said = []
        while stepper.step < problem.clock.end and stepper.taken < 5 * BEGUN and not said:
            stepper.advance(1)
            said += [stepper.stalled] if stepper.stalled is not None else []
        assert bool(said) == stalls


def test_a_run_says_so_once_and_its_time_left_is_not_foretold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        solver = "heat"
        grid = {nx = 4, ny = 4}
        material = {diffusivity = 1.0}
        initial = {temperature = "x"}
        time = {end = 1.0, stepper = "rkl2"}
        """
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(ControlledStepper, "stalled", "steps get nowhere")
    monkeypatch.setattr(Lines, "every", 0.0)
    monkeypatch.setattr("simsuite.progress.SECONDS", 0.0)
    left: list[Any] = []
    written = RunDirectory.write_progress
    monkeypatch.setattr(RunDirectory, "write_progress", lambda self, note: (left.append(note), written(self, note)))
    done = call(capsys, "run", tmp_path / "s.toml", "-o", tmp_path / "run", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: steps get nowhere") == 1
    assert (tmp_path / "run" / "log.txt").read_text(encoding="utf-8").count("steps get nowhere") == 1
    lines = [line for line in done.stderr.splitlines() if " %  t = " in line]
    assert lines
    assert all(line.endswith("steps keep shrinking, the end is out of reach") for line in lines)
    assert left[-1]["seconds_left"] is None


def test_the_time_left_is_foretold_again_when_the_end_is_in_reach_after_all() -> None:
    now = [0.0]
    meter = Meter(float, 0, 100, lambda: now[0])
    for second in range(20):
        now[0] = float(second)
        meter.reach(second)
    assert meter.seconds_left == pytest.approx(81.0)
    meter.expect(None)
    assert meter.endless
    assert meter.seconds_left is None
    assert meter.share == pytest.approx(0.19)
    meter.expect(100)
    assert meter.seconds_left == pytest.approx(81.0)


def test_the_share_of_a_run_that_does_not_get_to_its_end_is_that_of_its_time() -> None:
    """Nobody knows how much work there would be."""
    meter = Meter(lambda step: math.sqrt(step), 0, 100, time=lambda step: step / 100)
    meter.reach(64)
    assert meter.share == pytest.approx(0.8)
    meter.expect(None)
    assert meter.share == pytest.approx(0.64)


def test_a_problem_tells_its_meter_the_time(heat: Callable[..., HeatProblem]) -> None:
    problem = heat(**HOT, source=[{"power": "T**2"}], time={"end": 3.0, "stepper": "rkl2"})
    meter = meter_for(problem, 0)
    step = problem.clock.end // 4
    meter.reach(step)
    meter.expect(None)
    assert meter.share == pytest.approx(problem.clock.time(step) / 3.0)
