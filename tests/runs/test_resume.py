"""Stopping and continuing: killed, signalled or stopped runs end with the bits of an uninterrupted one.

Random moments are steps, not seconds: a run is killed when its checkpoint of a random step appears, plus a few random
milliseconds, so that a slow machine changes nothing. Runs are slow enough because they write a checkpoint every few
steps, which is no part of the problem and may differ between the parts of a run.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from running import assert_same_bits, call, finish, plain, polls, start, wait_for_step
from sm90 import others_long

from simsuite.core import Backend
from simsuite.execution import Execution
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.scenario import load
from simsuite.stopping import Stopping

HEAT: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 40, "ny": 30, "lx": 0.8, "ly": 0.6},
    "material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
    "initial": {"temperature": "20 + sin(9*x)*cos(7*y)"},
    "boundary": {
        "left": {"kind": "temperature", "value": "20 + 5*sin(40*t) + y"},
        "right": {"kind": "flux", "value": "3*y - t"},
        "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "x*cos(30*t)"},
        "top": {"kind": "insulated"},
    },
    "probe": [{"name": "P", "x": 0.3, "y": 0.2}, {"name": "corner", "x": 0.8, "y": 0.6}],
    "time": {"end": 0.6, "stepper": "explicit"},
    "output": {"frames": 6, "samples": 41, "checkpoint_every": 13},
}
GBM: dict[str, Any] = {
    "solver": "gbm",
    "run": {"seed": 5},
    "market": {"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
    "asset": [
        {"name": "A", "spot": 100.0, "volatility": 0.2},
        {"name": "B", "spot": 50.0, "volatility": 0.4, "dividend_yield": 0.03},
    ],
    "time": {"end": 1.0, "steps": 30},
    "paths": {"count": 5000, "batch": 1024, "antithetic": True},
    "option": [
        {"name": "call", "style": "european", "payoff": "call", "strike": 100.0},
        {"name": "asian", "style": "asian", "asset": "B", "payoff": "put", "strike": 50.0, "fixings": 6},
    ],
    "output": {"frames": 6, "store_paths": 20, "checkpoint_every": 2},
}
LINEAR: dict[str, Any] = {
    "solver": "linear",
    "run": {"seed": 3},
    "system": {
        "kind": "continuous",
        "matrix": {"generator": "springs", "masses": 3, "stiffness": 400.0, "damping": 0.05},
        "input_matrix": [[0.0], [0.0], [0.0], [1.0], [0.0], [0.5]],
        "input": ["where(t < 2, sin(7*t), 1)"],
        "output_matrix": [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, -1.0]],
    },
    "initial": {"state": {"random": "normal", "batch": 3}},
    "time": {"steps": 1500, "dt": 0.01},
    "output": {"frames": 31, "checkpoint_every": 17},
}
WARM = HEAT | {  # everything at once
    "material": {"conductivity": ["2 + x", "1 + 0.02*T"], "density": "3 + y", "specific_heat": 5.0},
    "region": [{"shape": "circle", "center": [0.4, 0.3], "radius": 0.1, "temperature": 21.0}],
    "source": [{"power": "4*sin(9*t)*x"}, {"power": "0.1*(25 - T)"}],
}
LEVELS = [  # some are reached often, one ends the run
    {"name": "P at 20", "of": "P", "reaches": 20.0},
    {"of": "max", "reaches": 24.0, "direction": "up"},
    {"of": "mean", "reaches": 20.9, "direction": "down"},
]
SCENARIOS = {
    "heat": HEAT,
    "heat float32c": HEAT | {"run": {"precision": "float32c"}},
    "heat rkl2": HEAT | {"time": {"end": 0.6, "stepper": "rkl2", "dt": 0.002}},
    "heat adi": WARM | {"time": {"end": 0.6, "stepper": "adi", "dt": 0.002}},
    "heat exact": HEAT
    | {"boundary": {"left": {"kind": "convection", "h": 3.0, "ambient": 5.0}}}
    | {"time": {"end": 0.6, "stepper": "exact", "dt": 0.002}},
    "heat with events": HEAT | {"event": LEVELS, "time": {"end": 0.6}, "output": {"frames": 6, "checkpoint_every": 3}},
    "gbm": GBM,
    "linear": LINEAR,
    "linear with events": LINEAR
    | {"event": [{"of": 0, "reaches": 0.1}, {"of": "y1", "sample": 2, "reaches": 0.0, "direction": "up"}]},
}
SMALL: dict[str, dict[str, Any]] = {  # for the simulator, in which a thread on the GPU is one of Python
    "heat": {
        "grid.nx": 3,
        "grid.ny": 2,
        "time.end": 0.5,
        "output.frames": 3,
        "output.samples": 7,
        "output.checkpoint_every": 1,
    },
    **{
        f"heat {stepper}": {
            "grid.nx": 3,
            "grid.ny": 2,
            "time.end": 0.1,
            "time.dt": 0.01,
            "output.frames": 3,
            "output.samples": 3,
            "output.checkpoint_every": 1,
        }
        for stepper in ("rkl2", "adi", "exact")
    },
    "gbm": {"paths.count": 10, "time.steps": 60, "output.store_paths": 4, "output.checkpoint_every": 1},
    **{
        name: {"time.steps": 24, "output.frames": 4, "output.checkpoint_every": 1}
        for name in ("linear", "linear with events")
    },
}
SHORT = {"run.device": "cpu", "output.checkpoint_every": 0, "time.end": 0.3}
OFTEN = "output.checkpoint_every=1"  # makes a run slow


def write(path: Path, scenario: dict[str, Any], changes: dict[str, Any] | None = None) -> Path:
    """The scenario as a file, with changes by dotted key."""
    scenario = json.loads(json.dumps(scenario))
    for key, value in (changes or {}).items():
        *tables, last = key.split(".")
        table = scenario
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    path.write_text(tomli_w.dumps(scenario), encoding="utf-8")
    return path


@pytest.fixture
def heat_file(tmp_path: Path) -> Path:
    return write(tmp_path / "plate.toml", HEAT, SHORT)


@pytest.fixture
def stop_at(tmp_path: Path) -> Callable[[Path, int], None]:
    """Runs a scenario in `tmp_path / "run"` until it is at `step` or a little after, and stops with a checkpoint."""

    def run(path: Path, step: int) -> None:
        class Watch:
            def __init__(self) -> None:
                self.step = 0

            def message(self, text: str, advice: object = None) -> None: ...

            def warning(self, text: str) -> None: ...

            def begin(self, problem: object, step: int) -> None:
                self.step = step

            def progress(self, step: int) -> None:
                self.step = step

            def expect(self, end: int) -> None: ...

            def end(self) -> None: ...

        watch, directory = Watch(), RunDirectory(tmp_path / "run")
        stopped = Execution(load(path), directory, watch, lambda: "test" if watch.step >= step else None).run()
        assert stopped["status"] == "stopped"

    return run


def kill_somewhere(path: Path, directory: Path, step: int, pause: float, *options: object) -> bool:
    """Kill a run `pause` seconds after its checkpoint of `step`, or for step 0 after its file is there."""
    process = start("run", path, "-o", directory, "-q", *options, cwd=path.parent)
    if step == 0:
        for _ in polls(process):
            if (directory / "results.h5").exists():
                break
    else:
        wait_for_step(process, directory, step)
    time.sleep(pause)
    process.kill()
    return finish(process).returncode == -signal.SIGKILL


@pytest.mark.parametrize("compression", ["none", "lossless"])
@pytest.mark.parametrize("solver", SCENARIOS)
def test_a_killed_run_ends_with_the_bits_of_an_uninterrupted_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: Backend, solver: str, compression: str
) -> None:
    """Killed at the very start and then once or twice at random, in processes; what is not killed needs none."""
    if compression == "lossless" and (solver != "heat" or backend.name != "cpu"):
        pytest.skip("files are written alike for all solvers and devices")
    if backend.name == "cudasim" and solver.startswith("heat "):
        pytest.skip("one heat stepper is enough for the simulator")
    rng = random.Random(f"{solver} {backend.name} {compression}")
    changes = {"run.device": backend.name, "output.compression": compression}
    path = write(tmp_path / "s.toml", SCENARIOS[solver], changes | (SMALL[solver] if backend.name == "cudasim" else {}))
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    last = read_checkpoint(tmp_path / "whole")
    assert last is not None
    end = last.snapshot.step

    parts = tmp_path / "parts"
    often = solver in ("heat", "gbm", "linear") and backend.name != "cudasim" and compression == "none"
    latest = end // 2  # so many have to be left that the kill comes before the end
    moments = [*([0] if often else []), *sorted(rng.randint(1, latest) for _ in range(2 if often else 1))]
    landed = [kill_somewhere(path, parts, step, rng.uniform(0, 0.01)) for step in moments]
    assert any(landed[-2:]), f"none of the kills at steps {moments} of {end} came before the end"
    rest = call(capsys, "run", path, "-o", parts, "--json")
    assert rest.returncode == 0, rest.stderr

    assert_same_bits(parts / "results.h5", tmp_path / "whole" / "results.h5")
    assert json.loads(rest.stdout)["results"] == json.loads(whole.stdout)["results"]
    again = read_checkpoint(parts)
    assert again is not None
    assert again.snapshot.step == end
    for name, array in last.snapshot.arrays.items():
        assert plain(again.snapshot.arrays[name]) == plain(array), name


ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGXCPU")


@pytest.mark.parametrize("name", others_long(ENDING, {"SIGTERM", "SIGINT", "SIGQUIT"}))
def test_a_signal_stops_with_a_checkpoint(
    tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    number, code = signal.Signals[name], 130 if name == "SIGINT" else 75
    process = start("run", heat_file, "-o", "run", "--json", "--set", OFTEN, cwd=tmp_path)
    assert wait_for_step(process, tmp_path / "run", 20)
    process.send_signal(number)
    stopped = finish(process)
    assert stopped.returncode == code, stopped.stderr
    summary = json.loads(stopped.stdout)
    assert (summary["status"], summary["stopped_by"]) == ("stopped", number.name)
    assert "run the same command to continue" in stopped.stderr
    checkpoint = read_checkpoint(tmp_path / "run")
    assert checkpoint is not None
    assert checkpoint.snapshot.step == summary["steps"] >= 20

    rest = call(capsys, "run", heat_file, "-o", tmp_path / "run")
    assert rest.returncode == 0, rest.stderr
    assert f"continuing {tmp_path / 'run'} from step {summary['steps']}" in rest.stderr
    assert call(capsys, "run", heat_file, "-o", tmp_path / "whole").returncode == 0
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "whole" / "results.h5")


def test_signals_that_are_ignored_or_come_twice() -> None:
    """Under `nohup` a closed terminal stops nothing; otherwise a run may hear of it twice."""
    with Stopping() as stopping:
        for _ in range(2):
            signal.raise_signal(signal.SIGHUP)
        assert stopping() == "SIGHUP"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Stopping() as stopping:
            signal.raise_signal(signal.SIGHUP)
            assert stopping() is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_resume_needs_neither_the_scenario_nor_its_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    np.save(here / "T0.npy", np.random.default_rng(1).normal(size=(30, 40)))
    write(here / "plate.toml", HEAT, SHORT | {"initial.temperature": {"file": "T0.npy"}})
    monkeypatch.chdir(here)
    assert call(capsys, "run", "plate.toml", "-o", "run", "--set", "output.frames=4").returncode == 0
    assert call(capsys, "run", "plate.toml", "--max-minutes", 0, "--set", "output.frames=4").returncode == 75
    (here / "plate.toml").unlink()
    monkeypatch.chdir(there)
    rest = call(capsys, "resume", "../here/runs/plate", "--json")
    assert rest.returncode == 0, rest.stderr
    assert json.loads(rest.stdout)["directory"] == "../here/runs/plate"
    assert_same_bits(here / "runs" / "plate" / "results.h5", here / "run" / "results.h5")


def test_resume_where_there_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for directory in (tmp_path, tmp_path / "nowhere"):
        refused = call(capsys, "resume", directory)
        assert refused.returncode == 2
        assert "holds no run" in refused.stderr
    assert not (tmp_path / "nowhere").exists()


def test_only_one_process_at_a_time(tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = start("run", heat_file, "-o", "run", "--set", OFTEN, cwd=tmp_path)
    try:
        assert wait_for_step(first, tmp_path / "run", 1)
        for command in (["run", heat_file, "-o", tmp_path / "run"], ["resume", tmp_path / "run"]):
            second = call(capsys, *command)
            assert second.returncode == 2
            assert "another simsuite is running in" in second.stderr
        assert call(capsys, "run", heat_file, "-o", tmp_path / "run", "--fresh").returncode == 2
        looked = call(capsys, "info", tmp_path / "run", "--json")
        assert looked.returncode == 0
        assert json.loads(looked.stdout)["status"] == "running"
        assert first.poll() is None
    finally:
        first.kill()
        finish(first)


def test_a_finished_run_is_not_run_again(tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "run" / "results.h5"
    command = ("run", heat_file, "-o", tmp_path / "run", "--json")
    first = call(capsys, *command)
    assert first.returncode == 0

    def as_written() -> tuple[int, int, int]:
        """Return what of a file's state a look at it leaves alone; reading renews the time of access."""
        state = results.stat()
        return state.st_ino, state.st_size, state.st_mtime_ns

    before = as_written()
    resume = ("resume", tmp_path / "run", "--json")
    for same, option in ((command, "--fresh"), (resume, f"`simsuite run SCENARIO -o {tmp_path / 'run'} --fresh`")):
        again = call(capsys, *same)
        assert again.returncode == 0
        assert json.loads(again.stdout) == json.loads(first.stdout)
        assert f"holds this run, finished; {option} runs it again" in again.stderr
        assert as_written() == before
    shutil.copy(results, tmp_path / "first.h5")
    fresh = call(capsys, *command, "--fresh")
    assert fresh.returncode == 0
    assert "finished" not in fresh.stderr
    assert as_written() != before
    assert_same_bits(results, tmp_path / "first.h5")


def test_a_run_of_another_scenario_is_not_continued(
    tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("run", heat_file, "-o", tmp_path / "run")
    assert call(capsys, *command, "--max-minutes", 0).returncode == 75
    changes = ("--set", "grid.nx=41", "--set", "boundary.top.kind=temperature", "--set", "boundary.top.value=1.0")
    other = call(capsys, *command, *changes)
    assert other.returncode == 2
    for words in ("grid.nx", "boundary.top.kind", "boundary.top.value", "--fresh", "-o DIR"):
        assert words in other.stderr
    assert "grid.ny" not in other.stderr
    harmless = ("--set", "title=Another name", "--set", "output.checkpoint_every=0")
    assert call(capsys, *command, *harmless, "--max-minutes", 0).returncode == 75
    assert call(capsys, *command, *changes, "--fresh", "--max-minutes", 0).returncode == 75


def test_a_changed_data_file_is_another_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "T0.npy", np.arange(12.0).reshape(3, 4))
    plate = {"grid.nx": 4, "grid.ny": 3, "initial.temperature": {"file": "T0.npy"}, "probe": []}
    command = ("run", write(tmp_path / "plate.toml", HEAT, SHORT | plate), "-o", tmp_path / "run", "--max-minutes", 0)
    assert call(capsys, *command).returncode == 75
    assert call(capsys, *command).returncode == 75
    np.save(tmp_path / "T0.npy", np.ones((3, 4)))
    changed = call(capsys, *command)
    assert changed.returncode == 2
    assert "the contents of initial.temperature" in changed.stderr


def test_another_device_may_finish_a_run(tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("run", heat_file, "-o", tmp_path / "run")
    assert call(capsys, *command, "--max-minutes", 0).returncode == 75
    assert call(capsys, *command, "--device", "auto").returncode == 0
    assert call(capsys, *command, "--device", "cpu").returncode == 0


def test_a_device_that_is_not_there_costs_no_results(
    tmp_path: Path, heat_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("run", heat_file, "-o", tmp_path / "run")
    assert call(capsys, *command).returncode == 0
    before = (tmp_path / "run" / "results.h5").read_bytes()
    assert call(capsys, *command, "--fresh", "--device", "cuda:99").returncode == 4
    assert (tmp_path / "run" / "results.h5").read_bytes() == before
    assert (tmp_path / "run" / "summary.json").exists()


def test_lost_results_are_computed_again(
    tmp_path: Path, heat_file: Path, stop_at: Callable[[Path, int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = ("run", heat_file, "-o", run)
    stop_at(heat_file, 300)
    (run / "results.h5").unlink()
    assert call(capsys, *command, "--max-minutes", 0).returncode == 75
    found = read_checkpoint(run)
    assert found is not None
    assert found.snapshot.step < 300, "the old checkpoint has rows that the new file has not"
    assert call(capsys, *command).returncode == 0
    shutil.copy(run / "results.h5", tmp_path / "first.h5")
    (run / "results.h5").unlink()
    assert call(capsys, *command).returncode == 0
    assert_same_bits(run / "results.h5", tmp_path / "first.h5")


def flip(path: Path) -> None:
    """Damage a file in its middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)


def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    tmp_path: Path, heat_file: Path, stop_at: Callable[[Path, int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    stop_at(heat_file, 50)
    before = read_checkpoint(run)
    stop_at(heat_file, 300)
    after = read_checkpoint(run)
    assert before is not None
    assert after is not None
    assert after.snapshot.step > before.snapshot.step >= 50
    flip(run / "checkpoint.h5")
    rest = call(capsys, "run", heat_file, "-o", run)
    assert rest.returncode == 0, rest.stderr
    assert "checkpoint.h5 is damaged" in rest.stderr
    assert f"from step {before.snapshot.step}, time " in rest.stderr
    assert call(capsys, "run", heat_file, "-o", tmp_path / "whole").returncode == 0
    assert_same_bits(run / "results.h5", tmp_path / "whole" / "results.h5")


def test_two_damaged_checkpoints_are_an_error(
    tmp_path: Path, heat_file: Path, stop_at: Callable[[Path, int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    stop_at(heat_file, 50)
    stop_at(heat_file, 300)
    flip(run / "checkpoint.h5")
    flip(run / "checkpoint.previous.h5")
    refused = call(capsys, "run", heat_file, "-o", run)
    assert refused.returncode == 1
    assert "--fresh" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert call(capsys, "run", heat_file, "-o", run, "--fresh").returncode == 0


def test_results_are_the_same_whether_steps_wait_for_them_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "plate.toml", HEAT, SHORT)
    for switch in ("on", "off"):
        assert call(capsys, "run", path, "-o", tmp_path / switch, "--async", switch).returncode == 0
    assert_same_bits(tmp_path / "on/results.h5", tmp_path / "off/results.h5")
    wrong = call(capsys, "run", path, "-o", tmp_path / "no", "--async", "maybe")
    assert wrong.returncode == 2
    assert "'on', 'off'" in wrong.stderr.replace("\n", " ")


GROWING: dict[str, Any] = {
    "solver": "linear",
    "run": {"precision": "float32", "device": "cpu"},
    "system": {"kind": "discrete", "matrix": [[1.0, 0.0], [0.0, 4.0]]},
    "initial": {"state": [[1.0, 1.0], [0.0, 1.0]]},
    "time": {"steps": 100, "dt": 0.5, "method": "step"},
}
BROKEN_SOURCE = HEAT | {  # depends on T, and so is looked at before a run at the start only
    "source": [{"power": "log(0.05 - t)*(1 + T)"}],
    "time": {"end": 0.1, "stepper": "explicit"},
    "run": {"device": "cpu"},
}
FAILURES = {  # scenario with output, what the message says: 4^64 is beyond float32
    "linear at a frame": (GROWING, {"frames": 11, "checkpoint_every": 7}, ["sample 1 at step 70, time 35 s"]),
    "linear at a checkpoint": (
        GROWING,
        {"frames": 2, "checkpoint_every": 33},
        ["not finite at index (0, 1) at step 66, time 33 s", "the checkpoint of step 33 is safe"],
    ),
    "heat at a frame": (
        BROKEN_SOURCE,
        {"frames": 11, "checkpoint_every": 40},
        ["cell 0 along x, 0 along y at step ", "time 0.06 s"],
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_bad_state_never_replaces_a_good_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr("simsuite.solvers.linear.checks.overflow._LIMIT", 0)  # so that growth is not foreseen
    scenario, output, words = FAILURES[case]
    path, run = write(tmp_path / "s.toml", scenario | {"output": output}), tmp_path / "run"
    kept: list[int] = []
    for _ in range(2):
        failed = call(capsys, "run", path, "-o", run, "--json")
        assert failed.returncode == 3
        assert json.loads(failed.stdout)["error"]["kind"] == "NumericalFailure"
        for word in words:
            assert word in failed.stderr
        checkpoint = read_checkpoint(run)
        assert checkpoint is not None
        assert all(np.all(np.isfinite(a)) for a in checkpoint.snapshot.arrays.values())
        kept.append(checkpoint.snapshot.step)
    assert kept[0] == kept[1] > 0
    info = call(capsys, "info", run, "--json")
    assert json.loads(info.stdout)["status"] == "failed"
