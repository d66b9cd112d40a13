"""The run directory: names, lock, state, and what --fresh removes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import fake_run
import pytest
from running import call, no_hang

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.directory import RunDirectory, State

PLATE = """
solver = "heat"  # with a comment
run.device = "cpu"
grid = {nx = 8, ny = 6}
material.diffusivity = 1.0
time = {end = 0.01, stepper = "explicit"}
"""
HOLD = """
import sys
import threading
import time
from simsuite.io.directory import RunDirectory
with RunDirectory(sys.argv[1]).locked():
    print(1, flush=True)
    sys.stdin.read()
"""


def test_only_one_process_at_a_time(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "runs/plate")
    command = [sys.executable, "-c", HOLD, str(directory.path)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as holder:
        holder.stdout.readline()
        message = re.escape(f"another simsuite is running in {directory.path}")
        with pytest.raises(UsageError, match=message), directory.locked():
            pytest.fail("locked twice")
        holder.kill()
        holder.wait()
        with directory.locked():  # a kill releases it
            assert directory.path.is_dir()


def test_a_lock_ends_with_its_block(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    with directory.locked(), pytest.raises(UsageError), RunDirectory(tmp_path).locked():
        pytest.fail("locked twice")
    with pytest.raises(ZeroDivisionError), directory.locked():
        raise ZeroDivisionError
    with directory.locked() as again:
        assert again is directory


def test_a_directory_that_cannot_be_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="output directory"), RunDirectory(tmp_path / "file/run").locked():
        pytest.fail("made a directory in a file")


def test_state_follows_the_run(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    assert directory.state() is State.EMPTY
    fake_run.run(tmp_path / "run")
    assert directory.state() is State.FINISHED
    directory.write_summary({"status": "stopped"})
    assert directory.state() is State.UNFINISHED
    directory.summary.unlink()
    assert directory.state() is State.UNFINISHED
    directory.results.unlink()
    assert directory.state() is State.UNFINISHED  # there is a checkpoint


def test_fresh_removes_what_simsuite_makes_and_nothing_else(tmp_path: Path) -> None:
    fake_run.run(tmp_path)
    directory = RunDirectory(tmp_path)
    directory.write_scenario('solver = "heat"\n')
    directory.append_log("one")
    for name in ("results.h5.new", "checkpoint.new.h5", "checkpoint.leaving.h5"):
        (tmp_path / name).write_text("left by a kill")
    own = ["notes.txt", "results.h5.bak", "plot.png", "heat.toml"]
    for name in own:
        (tmp_path / name).write_text("mine")
    directory.clear()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*own, "lock"])
    assert directory.state() is State.EMPTY
    directory.clear()


def test_small_files_come_back(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    assert directory.read_summary() is None
    summary = {"status": "complete", "results": {"probes": {"Größe": 12.5}}, "wall_seconds": 0.1}
    directory.write_summary(summary)
    assert directory.read_summary() == summary
    directory.write_scenario('title = "Kühl"\n')
    assert directory.scenario.read_text(encoding="utf-8") == 'title = "Kühl"\n'
    directory.append_log("first")
    directory.append_log("second")
    lines = directory.log.read_text().splitlines()
    assert [re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}[+-][\d:]{5} (\w+)", line)[1] for line in lines] == [
        "first",
        "second",
    ]


def test_a_summary_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = RunDirectory(tmp_path)
    directory.write_summary({"status": "stopped"})

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SimsuiteError, match="No space left"):
        directory.write_summary({"status": "complete"})
    assert directory.read_summary() == {"status": "stopped"}


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udcff"])
def test_a_damaged_summary_says_what_to_do(tmp_path: Path, text: str) -> None:
    directory = RunDirectory(tmp_path)
    directory.summary.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SimsuiteError, match="--fresh"):
        directory.state()


def test_deleting_the_file_does_not_get_past_the_lock(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    with directory.locked():
        (tmp_path / "lock").unlink()
        assert RunDirectory(tmp_path).in_use
        with pytest.raises(UsageError, match="another simsuite"), RunDirectory(tmp_path).locked():
            pass
    assert not directory.in_use


def test_others_see_whether_a_directory_is_in_use(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    assert not directory.in_use
    with directory.locked():
        assert RunDirectory(tmp_path / "run").in_use
    assert not directory.in_use


def test_asking_does_not_keep_a_run_from_beginning(tmp_path: Path) -> None:
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            assert RunDirectory(tmp_path).in_use in (True, False)
            time.sleep(1e-4)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(300):
            with RunDirectory(tmp_path).locked():
                pass
    finally:
        over.set()
        asking.join()


def test_progress_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    assert directory.read_progress() is None
    directory.write_progress({"percent": 12.5, "seconds_left": float("inf")})
    assert directory.read_progress() == {"percent": 12.5, "seconds_left": None}
    for text in ("", "{", "[1]"):
        directory.progress.write_text(text)
        assert directory.read_progress() is None
    RunDirectory(tmp_path / "nowhere").write_progress({"percent": 1.0})  # a disk that fails ends no run


def test_files_of_somebody_else_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the scenario, which may be in the directory itself, nor notes that are called as those of a run."""
    mine = {"scenario.toml": PLATE, "log.txt": "a diary", "summary.json": "{}", "results.h5": "measured"}
    for name, text in mine.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for extra in ((), ("--fresh",)):
        refused = call(capsys, "run", tmp_path / "scenario.toml", "-o", tmp_path, *extra)
        assert refused.returncode == 2
        assert "simsuite did not write them: summary.json, results.h5, scenario.toml, log.txt" in refused.stderr
        assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == mine
    (tmp_path / "lock").write_text("of my bicycle")
    refused = call(capsys, "run", tmp_path / "scenario.toml", "-o", tmp_path)
    assert "log.txt, lock" in refused.stderr
    assert (tmp_path / "lock").read_text() == "of my bicycle"


@pytest.mark.parametrize("mark", ["simsu", "\0" * 9, "sims\0\0\0\0\0"])
def test_a_mark_that_was_cut_off_is_no_file_of_somebody_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mark: str
) -> None:
    """A kill leaves a part of it, a power cut zeros."""
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").write_text(mark)
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", tmp_path / "run").returncode == 0
    assert (tmp_path / "run" / "lock").read_text() == "simsuite\n"


@pytest.mark.parametrize("command", [("info",), ("resume",), ("repair",), ("plot",)])
def test_a_run_that_was_killed_before_it_wrote_anything_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    with RunDirectory(tmp_path / "run").locked():
        pass
    said = call(capsys, *command, tmp_path / "run")
    assert said.returncode == 2
    assert "one that began in it ended before it wrote that; the same command begins it again" in said.stderr
    (tmp_path / "run" / "lock").unlink()
    assert "one that began" not in call(capsys, *command, tmp_path / "run").stderr


def test_a_directory_with_other_files_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", tmp_path).returncode == 0
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", tmp_path, "--fresh").returncode == 0
    assert (tmp_path / "plate.toml").read_text(encoding="utf-8") == PLATE


def test_a_scenario_written_by_hand_into_the_directory_of_a_run_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    run, scenario = tmp_path / "run", tmp_path / "run" / "scenario.toml"
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", run, "--max-minutes", 0).returncode == 75
    commented = "# mine\n" + scenario.read_text(encoding="utf-8")
    scenario.write_text(commented, encoding="utf-8")
    for extra in (("--fresh",), ("--set", "run.threads=1")):
        refused = call(capsys, "run", scenario, "-o", run, *extra)
        assert refused.returncode == 2
        assert "written or changed by hand" in refused.stderr
    assert call(capsys, "resume", run).returncode == 0
    assert scenario.read_text(encoding="utf-8") == commented


@pytest.mark.parametrize("name", ["results.h5", "checkpoint.h5", "scenario.toml.new", "log.txt", "summary.json"])
@pytest.mark.parametrize("kind", ["directory", "link", "pipe"])
def test_what_is_no_file_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    run, there = tmp_path / "run", tmp_path / "run" / name
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", run, "--max-minutes", 0).returncode == 75
    there.unlink(missing_ok=True)
    if kind == "directory":
        there.mkdir()
    elif kind == "link":
        (tmp_path / "precious").write_text("mine")
        there.symlink_to(tmp_path / "precious")
    else:
        os.mkfifo(there)
    with no_hang():
        for extra in ((), ("--fresh",)):
            refused = call(capsys, "run", tmp_path / "plate.toml", "-o", run, *extra)
            assert refused.returncode == 2, refused.stderr
            assert f"{name} in it is no plain file" in refused.stderr
        for command in ("info", run), ("resume", run), ("plot", run, "-o", tmp_path / "x.png"):
            looked = call(capsys, *command)
            assert looked.returncode in (0, 1, 2)
            assert "Traceback" not in looked.stderr
    assert kind != "link" or (tmp_path / "precious").read_text() == "mine"
