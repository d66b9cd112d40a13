"""The run directory: names, lock, state, and what --fresh removes."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import fake_run
import pytest

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.directory import RunDirectory, State

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
    root = Path(__file__).parent.parent
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
