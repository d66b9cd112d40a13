"""A run that goes on to a later end has the bits of one that was begun with it, or is refused with the reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import assert_same_bits, call, contents, finish, start, wait_for_step

import simsuite
from simsuite.core import Backend
from simsuite.errors import UsageError
from simsuite.io.checkpoint import read_checkpoint
from simsuite.running import lengthening

HEAT: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 12, "ny": 8},
    "material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
    "initial": {"temperature": "20 + sin(9*x)*cos(7*y)"},
    "boundary": {
        "left": {"kind": "temperature", "value": 25.0},
        "bottom": {"kind": "convection", "h": 4.0, "ambient": 10.0},
    },
    "probe": [{"name": "P", "x": 0.3, "y": 0.2}],
    "event": [{"of": "P", "reaches": 20.0}, {"of": "mean", "reaches": 20.5}],
    "time": {"end": 0.25, "stepper": "explicit", "dt": 0.0025},
    "output": {"every": 0.125, "samples": 21, "checkpoint_every": 7},
}
MOVING = {**HEAT["boundary"], "top": {"kind": "flux", "value": "sin(30*t)"}}
LINEAR: dict[str, Any] = {
    "solver": "linear",
    "run": {"seed": 3},
    "system": {
        "kind": "continuous",
        "matrix": [[0.0, 1.0], [-4.0, -0.1]],
        "input_matrix": [[0.0], [1.0]],
        "input": ["where(t < 3.5, 1, 0.2)"],
    },
    "initial": {"state": [1.0, 0.0]},
    "time": {"steps": 500, "dt": 0.01},
    "event": [{"of": 0, "reaches": 0.25}],
    "output": {"every": 0.5, "checkpoint_every": 37},
}
TWICE = {"heat": {"time.end": 0.5, "output.samples": 41}, "linear": {"time.steps": 1000}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "explicit": (HEAT, {}),
    "exact": (HEAT, {"time.stepper": "exact"}),
    "step": (LINEAR, {"time.method": "step"}),
    "adi": (HEAT, {"time.stepper": "adi", "boundary": MOVING}),
    "rkl2": (HEAT, {"time.stepper": "rkl2", "boundary": MOVING}),
    "explicit float32c": (HEAT, {"run.precision": "float32c", "boundary": MOVING}),
    "power": (LINEAR, {"time.method": "power"}),
    "spectral": (LINEAR, {"time.method": "spectral", "system.input": [0.5]}),
    "inputs that change": (LINEAR, {"system.input": ["sin(40*t)"], "event": [{"of": 1, "reaches": 0.1}]}),
    "noise": (LINEAR, {"system.noise_matrix": [[0.0], [0.1]]}),
}
SMALL = {
    "heat": {"grid.nx": 3, "grid.ny": 2, "time.dt": 0.025},
    "linear": {"time.dt": 0.1, "output.checkpoint_every": 7},
}


def same_results(run: simsuite.Run, whole: simsuite.Run) -> None:
    assert_same_bits(run.directory / "results.h5", whole.directory / "results.h5")
    assert run.results == whole.results
    mine, its = (str(each.dataset.attrs["scenario"]) for each in (run, whole))
    assert mine == its.replace(str(whole.directory), str(run.directory))
    assert (run.directory / "scenario.toml").read_text() == mine


@pytest.mark.parametrize("case", CASES)
def test_a_longer_run_has_the_bits_of_one_that_was_begun_so(tmp_path: Path, backend: Backend, case: str) -> None:
    scenario, change = CASES[case]
    change = change | {"output.directory": "run"}
    longer = change | TWICE[scenario["solver"]]
    if backend.name == "cudasim":
        change, longer = (each | SMALL[scenario["solver"]] for each in (change, longer))
        if scenario is LINEAR:
            change, longer = change | {"time.steps": 20}, longer | {"time.steps": 40}
    simsuite.run(scenario, set=change, device=backend.name, directory=tmp_path / "run")
    at = read_checkpoint(tmp_path / "run")
    run = simsuite.run(scenario, set=longer, device=backend.name, directory=tmp_path / "run", extend=True)
    assert at is not None
    assert at.snapshot.step > 0
    assert run.summary["resumed"]
    same_results(run, simsuite.run(scenario, set=longer, device=backend.name, directory=tmp_path / "whole"))


def test_a_run_that_was_killed_goes_on_to_a_later_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is killed once more after that. `resume` alone then goes on to the later end."""
    import tomli_w

    path, run = tmp_path / "plate.toml", tmp_path / "run"
    long = HEAT | {"time": {**HEAT["time"], "end": 1.25}, "output": {**HEAT["output"], "checkpoint_every": 5}}
    path.write_text(tomli_w.dumps(long | {"output": {**long["output"], "samples": 101}}))
    first = start("run", path, "-o", run, "-q", cwd=tmp_path)
    assert wait_for_step(first, run, 60)
    first.kill()
    finish(first)
    second = ["--set", "time.end=2.5", "--set", "output.samples=201"]
    going = start("run", path, "-o", run, "-q", "--extend", *second, cwd=tmp_path)
    assert wait_for_step(going, run, 620)
    going.kill()
    finish(going)
    rest = call(capsys, "resume", run, "--json")
    assert rest.returncode == 0, rest.stderr
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json", *second)
    assert_same_bits(run / "results.h5", tmp_path / "whole" / "results.h5")
    assert json.loads(rest.stdout)["results"] == json.loads(whole.stdout)["results"]


@pytest.mark.parametrize("at", ["forget_previous", "os.replace", "write_checkpoint", "copy_rows"])
def test_one_that_ends_amid_the_lengthening_is_as_good_as_before_or_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Whatever it was about to do, the run is the finished one of before, or the longer one."""
    simsuite.run(HEAT, device="cpu", directory=tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "before")

    def fail(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"simsuite.running.lengthening.{at}", fail)
        with pytest.raises(KeyboardInterrupt):
            simsuite.run(HEAT, set=TWICE["heat"], device="cpu", directory=tmp_path / "run", extend=True)
    if at in ("write_checkpoint", "copy_rows"):
        again = simsuite.run(HEAT, device="cpu", directory=tmp_path / "run")
        assert again.summary["status"] == "complete"
        assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "before" / "results.h5")
        assert not (tmp_path / "run" / "results.longer.h5").exists()
    run = simsuite.run(HEAT, set=TWICE["heat"], device="cpu", directory=tmp_path / "run", extend=True)
    same_results(run, simsuite.run(HEAT, set=TWICE["heat"], device="cpu", directory=tmp_path / "whole"))


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "steps by their error": (HEAT, {"time.stepper": "adi", "time.dt": "auto"}, {"time.end": 0.5}, "as their error"),
    "frames by number": (HEAT, {"output.frames": 3, "output.every": None}, {"time.end": 0.5}, "frames fall on other"),
    "samples": (HEAT, {}, {"time.end": 0.5}, "samples fall on other"),
    "an end between frames": (
        HEAT,
        {"output.every": 0.1},
        {"time.end": 0.5, "output.samples": 41},
        "from t = 0.25 s on",
    ),
    "looks": (HEAT, {"output.looks": 11}, TWICE["heat"], "give output.looks"),
    "looks that steps end at": (
        HEAT,
        {"time.dt": None, "output.samples": None},
        {"time.end": 0.41},
        "give output.looks",
    ),
    "looks of exact steps": (
        HEAT,
        {"time.dt": None, "output.samples": None, "time.stepper": "exact"},
        {"time.end": 0.41},
        "give output.looks",
    ),
    "frames and looks that steps end at": (
        HEAT,
        {"time.dt": None, "output.samples": None, "output.frames": 3, "output.every": None},
        {"time.end": 0.41},
        "frames fall on other",
    ),
    "an earlier end": (HEAT, {}, {"time.end": 0.125, "output.samples": 11}, "is not before"),
    "another key": (HEAT, {}, {"time.end": 0.5, "material.density": 4.0}, "in more than its end: material.density"),
    "a switch": (
        HEAT,
        {"source": [{"power": "where(t < 0.1, 1, 0)"}]},
        TWICE["heat"],
        "data jump or kink",
    ),
    "an end by a level": (
        HEAT,
        {"event": [{"name": "warm", "of": "mean", "reaches": 20.2, "stop": True}]},
        TWICE["heat"],
        "it was ended by `warm`",
    ),
    "another method": (LINEAR, {"time.method": "step"}, {"time.method": "power", "time.steps": 1000}, "time.method"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_have_other_bits_is_refused_and_left_alone(tmp_path: Path, case: str) -> None:
    scenario, first, then, words = REFUSED[case]
    given = json.loads(json.dumps(scenario))
    for key in [key for key, value in first.items() if value is None]:
        section, name = key.split(".")
        del given[section][name]
    change = {key: value for key, value in first.items() if value is not None}
    before = simsuite.run(given, set=change, device="cpu", directory=tmp_path)
    kept = contents(tmp_path / "results.h5")
    with pytest.raises(UsageError, match=words):
        simsuite.run(given, set=change | then, device="cpu", directory=tmp_path, extend=True)
    assert contents(tmp_path / "results.h5").keys() == kept.keys()
    assert simsuite.run(given, set=change, device="cpu", directory=tmp_path).summary == before.summary


def test_without_a_checkpoint_the_run_begins_again(tmp_path: Path) -> None:
    once = {"output.checkpoint_every": 0}
    simsuite.run(HEAT, set=once, device="cpu", directory=tmp_path / "run")
    assert read_checkpoint(tmp_path / "run") is None
    run = simsuite.run(HEAT, set=once | TWICE["heat"], device="cpu", directory=tmp_path / "run", extend=True)
    assert "resumed" not in run.summary
    same_results(run, simsuite.run(HEAT, set=once | TWICE["heat"], device="cpu", directory=tmp_path / "whole"))


def test_a_run_that_took_long_leaves_a_checkpoint_of_its_end(tmp_path: Path) -> None:
    """Long is a tenth of the minutes between checkpoints."""
    change = {"output.checkpoint_every": 0, "output.checkpoint_minutes": 1e-9}
    run = simsuite.run(HEAT, set=change, device="cpu", directory=tmp_path)
    found = read_checkpoint(tmp_path)
    assert found is not None
    assert found.snapshot.step == run.summary["steps"]


def test_the_command_says_how_and_resume_spaces_frames_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Callable[..., Path]
) -> None:
    path = write(LINEAR | {"output": {"frames": 6, "checkpoint_every": 37}})
    run = tmp_path / "run"
    assert call(capsys, "run", path, "-o", run, "-q").returncode == 0
    refused = call(capsys, "run", path, "-o", run, "--set", "time.steps=1000")
    assert refused.returncode == 2
    assert "--extend goes on with that run to a later end" in refused.stderr
    for other in ("time.steps=100", "system.kind=discrete"):
        refused = call(capsys, "run", path, "-o", run, "--set", "time.steps=1000", "--set", other)
        assert refused.returncode == 2
        assert "--extend" not in refused.stderr, "an earlier end, and another system, are no later end"
    between = call(capsys, "resume", run, "--end", "7.5")
    assert between.returncode == 2
    assert "frames every 1 s" in between.stderr
    assert "the next of them is at 8 s" in between.stderr
    for wrong, said in (
        ("7 m", "`m` is the unit of a length"),
        ("ten", "cannot read 'ten' as a time"),
        ("0", "above 0"),
    ):
        refused = call(capsys, "resume", run, "--end", wrong)
        assert refused.returncode == 2
        assert said in refused.stderr
    assert call(capsys, "resume", run, "--end", "10000 ms", "-q").returncode == 0
    whole = tmp_path / "whole"
    longer = ["--set", "time.steps=1000", "--set", "output.frames=11", "--set", "output.looks=20001"]
    assert call(capsys, "run", path, "-o", whole, "-q", *longer).returncode == 0
    assert_same_bits(run / "results.h5", whole / "results.h5")
    assert call(capsys, "run", path, "-o", run, "--extend", "--fresh").returncode == 2
    assert call(capsys, "resume", run, "--end", "20", "--paths", "7").returncode == 2


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    import tomli_w

    def written(scenario: dict[str, Any]) -> Path:
        path = tmp_path / "scenario.toml"
        path.write_text(tomli_w.dumps(scenario))
        return path

    return written


def test_monte_carlo_runs_have_no_later_end(tmp_path: Path) -> None:
    prices = {
        "solver": "gbm",
        "market": {"rate": 0.05},
        "asset": [{"spot": 100.0, "volatility": 0.2}],
        "time": {"end": 1.0, "steps": 4},
        "paths": {"count": 64},
    }
    simsuite.run(prices, device="cpu", directory=tmp_path)
    with pytest.raises(UsageError, match="options are paid at its end"):
        simsuite.run(prices, set={"time.end": 2.0}, device="cpu", directory=tmp_path, extend=True)
    with pytest.raises(UsageError, match="options are paid at its end"):
        lengthening.to_later_end(tmp_path, 2.0)


def test_the_seed_is_no_part_of_a_run_without_random_numbers(tmp_path: Path) -> None:
    first = simsuite.run(HEAT, device="cpu", directory=tmp_path)
    assert simsuite.run(HEAT, set={"run.seed": 9}, device="cpu", directory=tmp_path).summary == first.summary
