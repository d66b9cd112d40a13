"""By which rates `auto` chooses a stepper, and that a run keeps to what was chosen when it began.

All rates here are given, but in one test, which looks at no figure.
"""

from __future__ import annotations

import itertools
import json
import re
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import tomli_w
from conftest import ROOT
from running import assert_same_bits, call, finish, polls, start_python

from simsuite.assembly import make_problem
from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.core import Backend, Clock
from simsuite.errors import DeviceError, SimsuiteError
from simsuite.scenario import load
from simsuite.scenario.heat import HeatRun, HeatScenario
from simsuite.solvers.heat.adi import adi
from simsuite.solvers.heat.exact import exact
from simsuite.solvers.heat.explicit import explicit
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.rkl2 import rkl2
from simsuite.solvers.heat.stepper_choice import fastest as choice
from simsuite.solvers.heat.stepper_choice import trials
from simsuite.solvers.heat.stepper_choice.fastest import cheapest, contenders, usual
from simsuite.solvers.heat.stepper_choice.rates import H200, TWO_CORES, Rates, Times
from simsuite.solvers.heat.stepper_record import Work
from simsuite.solvers.heat.steppers import kinds_of_work
from simsuite.verify.benchmarks import benchmark_files

PLATE: dict[str, Any] = {
    "solver": "heat",
    "run": {"device": "cpu"},
    "grid": {"nx": 300, "ny": 300},
    "material": {"conductivity": "1 + 0.5*x", "density": 1.0, "specific_heat": 1.0},
    "initial": {"temperature": "x*y"},
    "time": {"end": 0.2},
    "output": {"frames": 3},
}
KINDS = tuple(kinds_of_work())
LONG = {"time": {"end": 0.2, "tolerance": 1e-8}}  # seconds on two cores


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    numba.set_num_threads(1)


class Timed(CpuBackend):
    """A CPU that says how long work takes. favourite: kinds with a word in it take no time."""

    def __init__(self, favourite: str) -> None:
        super().__init__()
        self.favourite, self.asked = favourite, []

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        self.asked.append(question)
        return [1e-9 if self.favourite in question else 1.0] * len(trials)


def problem(device: Callable[[], Backend] | None, **sections: Any) -> HeatProblem:
    return HeatProblem.from_scenario(HeatScenario.model_validate(PLATE | sections), Path(), device)


# ---- rates


def test_times_go_on_in_straight_lines() -> None:
    found = Times((100.0, 1000.0), (2.0, 11.0))
    assert [found.at(n) for n in (100, 1000, 550, 10_000)] == pytest.approx([2.0, 11.0, 6.5, 101.0])
    assert found.at(0) == pytest.approx(1.0)
    assert Times((10.0,), (3.0,)).at(20) == pytest.approx(6.0)


@pytest.mark.parametrize("seconds", [(1.0, 100.0), (5.0, 4.0, 3.0), (0.0, 0.0), (0.0, 1.0), (1e-6, 1.1e-6, 1.0)])
def test_more_work_never_takes_less_time(seconds: tuple[float, ...]) -> None:
    found = Times(tuple(10.0 ** (k + 2) for k in range(len(seconds))), seconds)
    at = [found.at(n) for n in np.geomspace(1, 1e6, 200)]
    assert min(at) >= 0
    assert all(b >= a * (1 - 1e-12) for a, b in itertools.pairwise(at))


def test_seconds_add_up() -> None:
    found = Rates({"a": Times((1.0,), (2.0,)), "b": Times((10.0,), (1.0,))}, "")
    assert found.seconds([Work("a", 3.0, 5.0), Work("b", 20.0, 1.0)]) == pytest.approx(32.0)


@pytest.mark.parametrize("usual", [TWO_CORES, H200], ids=["two cores", "H200"])
def test_usual_rates_have_all_kinds(usual: Rates) -> None:
    assert usual.times.keys() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_is_timed_with_the_steppers_of_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """Once: the second time the answer is known."""
    monkeypatch.setattr(trials, "SIDES", (8, 16))
    monkeypatch.setattr(trials, "PRODUCT_SIDE", 8)
    monkeypatch.setattr("simsuite.backends.cpu.cache_directory", lambda: tmp_path)
    monkeypatch.setattr("simsuite.backends.cpu._TRYING", 0.0)
    said: list[str] = []
    backend = open_backend("cpu")
    backend.announce = lambda text: None if text.startswith("compiling") else said.append(text)
    found = trials.measured(backend, [kind], HeatRun())
    times = found.times[kind]
    assert len(times.amounts) == len(times.seconds) == (1 if kind == exact.PRODUCTS.name else 2)
    assert min(times.seconds) > 0
    assert list(times.amounts) == sorted(times.amounts)
    assert len(said) == 1
    assert kind in said[0]
    assert re.search(r"\d steps? on plates of \d+ x \d+( and \d+ x \d+)? cells", said[0])
    assert trials.measured(backend, [kind], HeatRun()) == found
    assert len(said) == 1
    if kind == explicit.PLAIN.name:
        trials.measured(backend, [kind], HeatRun(precision="float32"))
        assert len(said) == 2


def test_a_simulator_has_no_rates(backend: Backend) -> None:
    if backend.name != "cudasim":
        pytest.skip("of the simulator")
    assert trials.rates_on(lambda: backend, HeatRun(), KINDS, True) == TWO_CORES


def test_only_long_runs_are_worth_measuring_for() -> None:
    backend = Timed("adi")
    assert trials.rates_on(lambda: backend, HeatRun(), KINDS, False) == TWO_CORES
    assert not backend.asked
    asked: list[bool] = []

    def rates_of(kinds: Iterable[str], worth: bool) -> Rates:
        asked.append(worth)
        return TWO_CORES

    for count in (choice.LONG / 10, choice.LONG * 10):
        seconds = TWO_CORES.times[adi.STEPS.name].at(1e6)
        works = {
            "adi": [Work(adi.STEPS.name, 1e6, count / seconds)],
            "again": [Work(adi.STEPS.name, 1e6, 1.1 * count / seconds)],
        }
        cheapest(works, {"adi": "", "again": ""}, rates_of)
    assert asked == [False, True]


# ---- choosing


def test_the_plan_that_takes_least_is_chosen() -> None:
    works = {"a": [Work(adi.STEPS.name, 1e6, 100)], "b": [Work(rkl2.GENERAL.name, 1e6, 1000)]}
    sizes = {"a": "100 steps", "b": "100 steps of 10 stages"}
    for quick, slow, best in ((1.0, 3.0, "a"), (3.0, 0.1, "b")):
        found = Rates(
            {adi.STEPS.name: Times((1e6,), (quick,)), rkl2.GENERAL.name: Times((1e6,), (slow,))}, "given rates"
        )
        name, why = cheapest(works, sizes, lambda kinds, worth, found=found: found)
        assert name == best
        other = {"a": "b 100 steps of 10 stages, 30 times as long", "b": "a 100 steps, 3 times as long"}[best]
        assert why == f"it takes the least time at given rates (else {other})"
    alone = "it meets the tolerance, which no other stepper is sure to do"
    assert cheapest({"a": works["a"]}, sizes, usual) == ("a", alone)


def test_what_is_cheap_anywhere_is_not_measured() -> None:
    backend = Timed("rkl2")
    found = problem(lambda: backend, grid={"nx": 30, "ny": 30})
    assert backend.asked == []
    assert TWO_CORES.origin in found.plan.reason


@pytest.mark.parametrize("time", [{"stepper": "rkl2"}, {"stepper": "adi", "dt": 1e-5}, {"dt": 1e-7}])
def test_what_is_asked_for_is_not_measured(time: dict) -> None:
    def never() -> Backend:
        raise AssertionError("the device was opened")

    assert problem(never, time={"end": 0.2} | time).plan.stepper == time.get("stepper", "explicit")


def test_what_no_device_could_prefer_is_not_measured() -> None:
    steps = {"far": [Work(explicit.GENERAL.name, 1e6, 1e7)], "near": [Work(adi.STEPS.name, 1e6, 100.0)]}
    assert contenders(steps) == ["near"]

    def never(kinds: Iterable[str]) -> Rates:
        raise AssertionError("measured")

    name, why = cheapest(steps, {"far": "1 step", "near": "2 steps"}, never)
    assert name == "near"
    assert "far longer" in why


@pytest.mark.parametrize("favourite", ["rkl2", "adi"])
def test_the_device_decides(monkeypatch: pytest.MonkeyPatch, favourite: str) -> None:
    """How many stages of rkl2 a step of adi is worth."""
    monkeypatch.setattr(choice, "MOMENT", 0.0)
    monkeypatch.setattr(choice, "LONG", 0.0)
    backend = Timed(favourite)
    found = problem(lambda: backend, grid={"nx": 60, "ny": 60})
    assert found.method["stepper"] == "rkl2+adi"
    assert found.plan.control is not None
    assert (found.plan.control.worth > 1e6) == (favourite == "rkl2")
    assert (found.plan.control.worth < 1e-6) == (favourite == "adi")
    assert "rates of this device" in found.method["stepper_reason"]
    assert "exact does not apply: the conductivity is not the same everywhere" in found.method["stepper_reason"]
    assert len(backend.asked) == len(set(backend.asked)) >= 2
    assert all("float64" in question for question in backend.asked)


def test_a_device_that_cannot_be_opened_leaves_usual_rates() -> None:
    def broken() -> Backend:
        raise DeviceError("no such device")

    assert f"{TWO_CORES.origin}, since no such device" in problem(broken, **LONG).plan.reason
    elsewhere = problem(broken, **LONG, run={"device": "cuda"})
    assert f"{H200.origin}, since no such device" in elsewhere.plan.reason


def test_check_says_so_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(PLATE | LONG | {"run": {"device": "cuda:99"}}), encoding="utf-8")
    done = call(capsys, "check", "-v", path)
    assert done.returncode == 0, done.stderr
    assert f"at {H200.origin}, since " in done.stdout


# ---- remembering


@pytest.mark.parametrize("steps", [(0, 1), (0, 3, 5, 7, 8, 9), tuple(range(10_001))], ids=len)
def test_a_plan_is_remembered(steps: tuple[int, ...]) -> None:
    times = tuple(0.1 * i for i in range(len(steps)))
    plan = Plan("rkl2", Clock(steps, times), "because", 7)
    kept = json.dumps(plan.to_remember())
    assert len(kept) < 200
    assert Plan.remembered(json.loads(kept), times) == plan


def test_steps_as_long_as_they_may_be_are_remembered() -> None:
    """With the times at which data change, which the scenario alone does not tell."""
    found = problem(None, source=[{"power": "(t >= 0.03)"}], output={"frames": 3, "samples": 5})
    kept = json.loads(json.dumps(found.decided))
    again = HeatProblem.from_scenario(found.scenario, Path(), None, kept)
    assert again.plan == found.plan
    assert again.clock.times == (0.0, 0.03, 0.05, 0.1, 0.15000000000000002, 0.2)


@pytest.mark.parametrize("change", [{"steps": [[1, 3]]}, {"steps": [[1, 1 << 60]]}, {"steps": 1}, {"stepper": None}])
def test_a_plan_that_does_not_fit_is_said(change: dict) -> None:
    kept = {"stepper": "adi", "stages": 0, "steps": [[2, 2]], "reason": "", "changes": [], "time_error": None} | change
    if change == {"stepper": None}:
        del kept["stepper"]
    with pytest.raises(SimsuiteError, match="--fresh"):
        Plan.remembered(kept, (0.0, 1.0, 2.0))


# ---- rough data


HOLD = {"kind": "temperature", "value": 0.0}
COLD = dict.fromkeys(("left", "right", "bottom", "top"), HOLD)
ROUGH = {
    "wave": {"initial": {"temperature": "sin(pi*x)*sin(pi*y)"}, "boundary": COLD},
    "edges that do not fit": {"initial": {"temperature": 1.0}, "boundary": COLD},
    "jump": {"initial": {"temperature": "293 + where(x < 0.37, 1, 0)*where(y < 0.61, 1, 0)"}},
    "noise": {"initial": {"temperature": "sin(300*x)*sin(200*y) + 0.2*cos(pi*x)"}},
    "source": {"source": [{"power": "where(hypot(x - 0.5, y - 0.5) < 0.1, 100, 0)"}], "boundary": COLD},
    "held": {"region": [{"shape": "circle", "center": [0.6, 0.5], "radius": 0.12, "temperature": 5.0}]},
}


def fields(problem: HeatProblem) -> list[np.ndarray]:
    """At each frame."""
    stepper = problem.stepper(open_backend("cpu"), problem.initial())
    found = [problem.T0]
    for step in problem.layout.series[0].steps[1:]:
        stepper.advance(step - stepper.step)
        found.append(np.array(stepper.state["temperature"]))
    return found


@pytest.mark.parametrize("worth", [0.1, 10.0], ids=["adi quick", "adi slow"])
@pytest.mark.parametrize("case", ROUGH)
def test_steps_meet_the_tolerance(case: str, worth: float) -> None:
    """Of the largest temperature difference so far, in every cell, against explicit steps a fiftieth of the longest."""
    sections = ROUGH[case] | {"grid": {"nx": 24, "ny": 20}, "output": {"frames": 4}}
    found = problem(None, **sections, time={"end": 0.05, "tolerance": 1e-4, "stepper": "auto"})
    assert found.plan.control is not None
    found = replace(found, plan=replace(found.plan, control=replace(found.plan.control, worth=worth)))
    fine = problem(None, **sections, time={"end": 0.05, "stepper": "rkl2", "dt": 0.05 / 20_000})
    got, want = fields(found), fields(fine)
    assert max(float(np.max(np.abs(a - b))) for a, b in zip(got, want)) <= 1e-4 * np.ptp(want)


# ---- continuing


SMALL = PLATE | {"grid": {"nx": 24, "ny": 20}, "time": {"end": 0.2, "tolerance": 1e-6}}
PREFERS = """
from simsuite.cli import main
from simsuite.solvers.heat.stepper_choice import fastest as choice, trials
from simsuite.solvers.heat.stepper_choice.rates import Rates, Times

choice.MOMENT, choice.LONG, choice.FAR = 0.0, 0.0, 1e9

def measured(backend, kinds, run):
    return Rates({{kind: Times((1.0,), (1e-12 if {favourite!r} in kind else 1.0,)) for kind in kinds}}, {favourite!r})

trials.measured = measured
main()
"""


def test_a_killed_run_keeps_its_plan_whatever_is_fast_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed as soon as there is a file of results, and again after a checkpoint; what is not killed is run here."""
    path, parts = tmp_path / "s.toml", tmp_path / "parts"
    path.write_text(tomli_w.dumps(SMALL), encoding="utf-8")
    for name, value in (("MOMENT", 0.0), ("LONG", 0.0), ("FAR", 1e9)):
        monkeypatch.setattr(choice, name, value)

    def run(favourite: str, directory: str, *options: str) -> Any:
        def measured(backend: Backend, kinds: Iterable[str], run: HeatRun) -> Rates:
            return Rates({kind: Times((1.0,), (1e-12 if favourite in kind else 1.0,)) for kind in kinds}, favourite)

        monkeypatch.setattr(trials, "measured", measured)
        done = call(capsys, "run", path, "-o", tmp_path / directory, "--json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    before = run("rkl2", "whole")
    assert before["stepper"] == "rkl2+adi"
    for favourite, file in (("rkl2", "results.h5"), ("adi", "checkpoint.h5")):
        often = "run", path, "-o", parts, "--set", "output.checkpoint_every=1"
        killed = start_python(PREFERS.format(favourite=favourite), *often, cwd=tmp_path)
        for _ in polls(killed):
            if (parts / file).exists():
                break
        killed.kill()
        assert finish(killed).returncode == -signal.SIGKILL
    after = run("adi", "parts")
    assert [after[key] for key in ("stepper", "stepper_reason", "steps")] == [
        before[key] for key in ("stepper", "stepper_reason", "steps")
    ]
    assert_same_bits(parts / "results.h5", tmp_path / "whole" / "results.h5")
    assert run("adi", "parts", "--fresh")["stepper_reason"] != before["stepper_reason"]


def test_shipped_scenarios_are_planned_alike_everywhere() -> None:
    """They are so small that no device is opened."""

    def never() -> Backend:
        raise AssertionError("the device was opened")

    for path in [*(ROOT / "scenarios").glob("*.toml"), *benchmark_files()]:
        make_problem(load(path), never)
