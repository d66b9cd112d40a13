"""`simsuite info`: what is said of a run while it runs, after it was killed, and of files and folders near it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running import call, finish, polls, start

from simsuite.backends import open_backend
from simsuite.inspection import inspect
from simsuite.io.checkpoint import read_about, read_checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.progress import LiveProgress, Meter

LONG = """
solver = "heat"
grid = {nx = 48, ny = 48}
material = {diffusivity = 1.0}
initial = {temperature = "x*y"}
boundary = {left = {kind = "temperature", value = 0.0}}
time = {end = 1000.0, stepper = "explicit"}
output = {frames = 3, checkpoint_every = 1000}
"""
Say = Callable[..., Any]
CONTRACT = {"directory", "solver", "status", "device", "device_name", "title", "stepper", "stepper_reason"}
CONTRACT |= {"datasets", "checkpoint_step", "summary"}


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """`simsuite ARGS` in a directory with a scenario of hours; with --json the object that it prints."""
    monkeypatch.chdir(tmp_path)
    Path("long.toml").write_text(LONG, encoding="utf-8")

    def run(*args: object) -> Any:
        done = call(capsys, *args)
        return json.loads(done.stdout) if "--json" in args else done

    return run


@pytest.fixture
def under_way(say: Say, tmp_path: Path) -> Iterator[Any]:
    """That scenario in a process of its own, in which it has got somewhere, after an earlier stop."""
    assert say("run", "long.toml", "--device", "cpu", "--max-minutes", "0", "-q").returncode == 75
    process = start("run", "long.toml", "--device", "cpu", cwd=tmp_path)
    try:
        for _ in polls(process):
            live = RunDirectory("runs/long").read_progress() or {}
            if live.get("steps", 0) > 2000 and live.get("seconds_left"):
                break
        yield process
    finally:
        process.kill()
        finish(process)


def test_a_run_tells_others_how_far_it_is_and_where_it_was_killed(say: Say, under_way: Any) -> None:
    found = say("info", "runs/long", "--json")
    assert found.keys() >= CONTRACT
    assert (found["status"], found["pid"], found["host"]) == ("running", under_way.pid, socket.gethostname())
    assert found["steps"] > 2000
    assert 0 < found["percent"] < 100
    assert found["percent"] == pytest.approx(100 * found["time"] / 1000.0, rel=1e-6)
    assert (found["end"], found["time_unit"]) == (1000.0, "s")
    assert found["seconds_left"] > 1
    assert found["summary"] is None, "that of the earlier stop is over"
    shown = say("info", "runs/long").stdout
    for words in ("running", f"process {under_way.pid} on {socket.gethostname()}", "step ", " of 1000 s)", "%", "left"):
        assert words in shown
    assert say("info", "runs", "--json")["runs"][0]["status"] == "running"
    for _ in range(5):
        looked = say("info", "runs/long", "--json")
        assert looked["steps"] >= looked["checkpoint_step"], "a run is not said to be behind its own checkpoint"
    refused = say("run", "long.toml", "--device", "cpu")
    assert refused.returncode == 2
    assert f"another simsuite is running in runs/long (process {under_way.pid}" in refused.stderr

    assert under_way.poll() is None, "looking disturbs nothing"
    os.kill(under_way.pid, signal.SIGKILL)
    under_way.wait()
    killed = say("info", "runs/long", "--json")
    assert killed.keys() >= CONTRACT
    assert (killed["status"], killed["resume"], killed["summary"]) == ("killed", "simsuite resume runs/long", None)
    assert killed["steps"] >= found["steps"]
    checkpoint = killed["checkpoint"]
    assert checkpoint["step"] == killed["checkpoint_step"] > 0
    assert checkpoint["time"] == pytest.approx(checkpoint["step"] * found["time"] / found["steps"])
    shown = say("info", "runs/long").stdout
    for words in (
        f"killed at step {killed['steps']} (t = ",
        "continue with `simsuite resume runs/long`",
        f"checkpoint at step {checkpoint['step']} (t = ",
    ):
        assert words in shown

    run = RunDirectory(Path("runs/long"))
    run.write_progress({**(run.read_progress() or {}), "steps": 0, "time": 0.0, "percent": 0.0})
    later = say("info", "runs/long", "--json")
    assert (later["steps"], later["time"]) == (checkpoint["step"], checkpoint["time"]), (
        "the checkpoint came after the note"
    )
    assert later["percent"] == pytest.approx(100 * checkpoint["time"] / 1000.0)

    assert say("resume", "runs/long", "--max-minutes", "0", "-q").returncode == 75
    stopped = say("info", "runs/long", "--json")
    assert stopped.keys() >= CONTRACT
    assert (stopped["status"], stopped["summary"]["steps"]) == ("stopped", checkpoint["step"] + 1)
    assert stopped["percent"] == stopped["summary"]["percent"]
    assert stopped["percent"] == pytest.approx(100 * stopped["summary"]["time"] / 1000.0, rel=0.01)


def test_progress_counts_from_where_a_run_continues() -> None:
    now = [100.0]
    meter = Meter(lambda step: 2.0 * step, 50, 150, lambda: now[0])
    assert (meter.share, meter.rate, meter.seconds_left) == (pytest.approx(1 / 3), 0.0, None)
    now[0] = 160.0
    meter.reach(60)  # kernels were compiled
    assert meter.seconds_left is None
    now[0] = 165.0
    meter.reach(80)
    assert (meter.share, meter.rate) == (pytest.approx(80 / 150), 8.0)
    assert meter.seconds_left == 2 * (150 - 80) / 8.0
    meter.expect(90)
    assert (meter.share, meter.seconds_left) == (pytest.approx(80 / 90), 2 * 10 / 8.0)


def test_the_time_left_follows_what_steps_are_like_lately() -> None:
    """A run that goes ten times as far in a second after its first half minute; the rate is of another work."""
    now, made = [0.0], [0.0]
    meter = Meter(float, 0, 10_000, lambda: now[0], lambda: made[0])
    for second in range(101):
        now[0], made[0] = float(second), 7.0 * second
        meter.reach(max(second, 10 * second - 270))
    assert meter.seconds_left == pytest.approx((10_000 - 730) / 10.0)
    assert meter.rate == pytest.approx(7.0)


def test_short_steps_at_the_beginning_foretell_nothing() -> None:
    now = [0.0]
    meter = Meter(float, 0, 1000, lambda: now[0], least=0.01)
    for step in (1, 2, 3, 9):
        now[0] += 1.0
        meter.reach(step)
        assert meter.seconds_left is None
    now[0] += 1.0
    meter.reach(10)
    assert meter.seconds_left == pytest.approx(990 * 2 / 7, rel=0.5)


def test_the_rate_of_steps_that_find_out_their_lengths_is_of_the_work_that_they_do(
    heat: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of the share of the run, which goes by how many steps were expected."""
    monkeypatch.setattr("simsuite.progress.SECONDS", 0.0)
    problem, backend = heat(initial={"temperature": "x"}, time={"end": 1.0, "stepper": "rkl2"}), open_backend("cpu")
    stepper = problem.stepper(backend, problem.initial())
    live = LiveProgress(RunDirectory(tmp_path), backend, problem)
    live.begin(stepper)
    effort, work = [], []
    for _ in range(2):
        stepper.advance(problem.clock.end // 4)
        live.reach()
        effort.append(stepper.work)
        work.append(problem.work(stepper.step))
    found = json.loads((tmp_path / "progress.json").read_text(encoding="utf-8"))
    left = problem.work(problem.clock.end) - work[1]
    made = effort[1] - effort[0]
    assert found["rate"] * found["seconds_left"] == pytest.approx(made * left / (work[1] - work[0]))


def test_a_file_of_a_run_stands_for_the_run(say: Say) -> None:
    assert say("run", "long.toml", "--device", "cpu", "--max-minutes", "0", "-q").returncode == 75
    for name in ("runs/long", "runs/long/results.h5", "runs/long/scenario.toml", "runs/long/log.txt", "long.toml"):
        assert say("info", name, "--json")["directory"] == "runs/long", name
    assert say("plot", "runs/long/results.h5").returncode == 0
    assert Path("runs/long/plot.png").exists()
    assert say("resume", "runs/long/results.h5", "--max-minutes", "0", "-q").returncode == 75


def test_a_folder_of_runs_is_listed(say: Say) -> None:
    for name in ("a", "b"):
        assert say("run", "long.toml", "--device", "cpu", "--max-minutes", "0", "-q", "-o", f"runs/{name}").returncode
    Path("runs/notes").mkdir()
    Path("runs/broken").mkdir()
    Path("runs/broken/results.h5").write_text("no HDF5")
    found = say("info", "runs", "--json")
    assert [run["directory"] for run in found["runs"]] == ["runs/a", "runs/b", "runs/broken"]
    assert [run["status"] for run in found["runs"]] == ["stopped", "stopped", "damaged"]
    shown = say("info", "runs").stdout.splitlines()
    assert [line.split()[:2] for line in shown[:2]] == [["runs/a", "stopped"], ["runs/b", "stopped"]]
    missed = say("info", "runs/c")
    assert missed.returncode == 2
    assert missed.stderr.endswith("= help: there are runs/a, runs/b, runs/broken\n")
    for name in "cdefgh":
        shutil.copytree("runs/a", f"runs/{name}")
    missed = say("info", "runs/none").stderr
    assert missed.endswith("runs/e, runs/f, runs/g and 1 more: `simsuite info runs` lists them\n")


def test_times_of_a_run_have_their_unit_when_it_is_over(say: Say) -> None:
    """Stopped, failed and complete: the note of how far it is, which had the unit too, is gone by then."""
    run = "run", "long.toml", "--device", "cpu", "-q", "--set", "output.checkpoint_every=1", "--set", "time.end=0.01"
    assert say(*run, "--max-minutes", "0").returncode == 75
    assert re.search(r"checkpoint at step 1 \(t = \S+ s\)\n", say("info", "runs/long").stdout)
    assert "heat, 1 step to t = " in say("info", "runs").stdout
    assert say(*run).returncode == 0
    found = say("info", "runs/long", "--json")
    assert found["time_unit"] == "s"
    assert found["status"] == "complete"
    assert found["checkpoint"] is found["checkpoint_step"] is None, "there is one, from before, which nobody needs"
    assert Path("runs/long/checkpoint.h5").exists()
    assert "\n  checkpoint" not in say("info", "runs/long").stdout
    bad = "source=[{power = 'where(t > 0.002, sqrt(-1 - T*T), 0)'}]"
    assert say(*run, "--fresh", "--set", bad).returncode == 3
    shown = say("info", "runs/long").stdout
    assert "failed" in shown
    assert re.search(r"checkpoint at step [1-9]\d* \(t = \S+ s\)\n", shown)


@pytest.mark.parametrize(("end", "words"), [(1.0, "1 year"), (1.75, "1.75 years")])
def test_years_are_counted_among_runs(say: Say, end: float, words: str) -> None:
    Path("price.toml").write_text(
        f'solver = "gbm"\n[market]\nrate = 0.05\n[[asset]]\nspot = 100.0\nvolatility = 0.2\n[time]\nend = {end}\n'
        "steps = 1\n[paths]\ncount = 1024\n"
    )
    assert say("run", "price.toml", "--device", "cpu", "-q").returncode == 0
    assert f"gbm, 1 step to t = {words}\n" in say("info", "runs").stdout


def test_the_record_of_a_checkpoint_is_read_without_its_arrays(say: Say) -> None:
    assert say("run", "long.toml", "--device", "cpu", "--max-minutes", "0", "-q").returncode == 75
    step, about = read_about(Path("runs/long"))
    whole = read_checkpoint(Path("runs/long"))
    assert (step, about) == (whole.snapshot.step, whole.meta)
    assert about["steps"] == 1
    assert 0.0 < about["time"] < 1e-3
    Path("runs/long/checkpoint.h5").write_text("no HDF5")
    assert read_about(Path("runs/long")) is None
    assert read_about(Path("nowhere")) is None


def test_steps_of_a_checkpoint_are_those_that_were_taken(say: Say) -> None:
    """The clock of steps as long as their error allows counts ticks, of which nobody wants to hear."""
    short = ["--set", "time.stepper=rkl2", "--set", "time.end=0.1", "--set", "output.checkpoint_every=3"]
    assert say("run", "long.toml", "--device", "cpu", "-q", *short).returncode == 0
    steps = say("info", "runs/long", "--json")["summary"]["steps"]
    _, about = read_about(Path("runs/long"))
    assert 3 <= about["steps"] <= steps < 10_000
    assert 0 < about["time"] <= 0.1


def test_the_time_in_which_kernels_are_compiled_is_no_part_of_the_rest() -> None:
    """A method that comes in later is compiled then, in a step that takes some seconds beside many of milliseconds."""
    now = [0.0]
    meter = Meter(float, 0, 1000, lambda: now[0], foretold=True)
    for step in range(1, 11):
        now[0] += 0.01
        meter.reach(step)
    assert meter.seconds_left == pytest.approx(9.9)
    now[0] += 20.0
    meter.reach(11)
    assert meter.seconds_left < 10.0
    now[0] += 0.01
    meter.reach(12)
    assert meter.seconds_left < 10.0
    for step in range(13, 15):  # steps that are so slow are no kernels that are compiled
        now[0] += 20.0
        meter.reach(step)
    assert meter.seconds_left > 1000.0


def test_a_run_on_another_machine_lives_while_it_writes(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    note = {"host": "elsewhere", "pid": 1, "updated": time.time(), "solver": "heat", "steps": 3, "percent": 1.0}
    run.write_progress(note)
    assert inspect(run)["status"] == "running"
    run.write_progress(note | {"updated": time.time() - 1000})
    assert inspect(run)["status"] == "killed"
    run.write_progress(note | {"host": socket.gethostname()})
    assert inspect(run)["status"] == "killed", "the lock is free, and would not be"


def test_a_note_that_was_damaged_is_none(tmp_path: Path) -> None:
    """Whichever bit of it flipped: names of keys are no longer known then, or numbers are others."""
    run = RunDirectory(tmp_path)
    run.write_progress({"host": "elsewhere", "pid": 1, "steps": 3, "time": 0.1, "percent": 12.5, "seconds_left": None})
    text = run.progress.read_bytes()
    for at in range(len(text) - 1):
        run.progress.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        assert run.read_progress() is None, at
        assert inspect(run)["status"] == "killed"
