"""Results and checkpoints of runs that several processes share: those of one process, bit for bit."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from pathlib import Path

import pytest
from scenarios import SCENARIOS
from shared_runs import commands, faulty, finished, require_same, simsuite, started, with_mpi

pytestmark = with_mpi


def written(directory: Path, name: str, **replaced: str) -> None:
    text = SCENARIOS[name]
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "x.toml").write_text(text, encoding="utf-8")


def lines(directory: Path, names: list[str]) -> list[list[str]]:
    for i, name in enumerate(names):
        written(directory / str(i), name)
    return [[str(directory / str(i)), "run", "x.toml", "-o", "run", "-q"] for i in range(len(names))]


def test_two_processes_have_the_bits_of_one(tmp_path: Path) -> None:
    names = ["one batch", "columns", "rows", "ring"]
    for processes in (1, 2):
        codes, done = commands(processes, lines(tmp_path / str(processes), names), tmp_path)
        assert codes == [0] * len(names), done
    for i in range(len(names)):
        require_same(tmp_path / "1" / str(i) / "run", tmp_path / "2" / str(i) / "run")


@pytest.mark.parametrize("third", range(3))
def test_every_kind_of_run_has_the_bits_of_one_process(tmp_path: Path, third: int) -> None:
    names = list(SCENARIOS)[third::3]
    for processes in (1, 2, 3, 4):
        codes, done = commands(processes, lines(tmp_path / str(processes), names), tmp_path)
        assert codes == [0] * len(names), done
    for i in range(len(names)):
        for processes in (2, 3, 4):
            require_same(tmp_path / str(processes) / str(i) / "run", tmp_path / "1" / str(i) / "run")


@pytest.mark.parametrize(
    ("name", "first", "steps", "longer"),
    [
        ("batches", False, (4, 16), {"count = 7002": "count = 30002"}),
        ("one batch", False, (4, 16), {"steps = 10": "steps = 50"}),
        ("multilevel", True, (0, 0), {}),
        ("slabs", True, (60, 130), {}),
        ("rows and noise", False, (80, 150), {}),
        ("powers of rows", False, (80, 150), {}),
    ],
)
def test_a_stopped_run_goes_on_with_another_number_of_processes(
    tmp_path: Path, name: str, first: bool, steps: tuple[int, int], longer: dict[str, str]
) -> None:
    """first: whether it is the first process that is told to stop each time, and not the last one, which then tells the
    first."""
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    written(alone, name, **longer)
    written(shared, name, **longer)
    run = ["run", "x.toml", "-o", "run", "--json"]
    assert simsuite(1, run, alone).code == 0
    for processes, step in zip((3, 2), steps):
        done = faulty(processes, [0 if first else processes - 1, "term", step], run, shared)
        assert done.code == 75, done
    done = simsuite(4, ["resume", "run", "--json"], shared)
    assert done.code == 0, done
    summary = json.loads(done.out)
    assert (summary["processes"], summary["resumed"]) == (4, True)
    require_same(shared / "run", alone / "run")


def test_killed_processes_leave_a_run_that_goes_on(tmp_path: Path) -> None:
    """The launcher is killed at random moments, and with it all processes."""
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    longer = {"count = 7002": "count = 2000002", "checkpoint_every = 3": "checkpoint_every = 250"}
    for directory in (alone, shared):
        written(directory, "batches", **longer)
    run, moments = ["run", "x.toml", "-o", "run", "-q"], random.Random(5)
    assert simsuite(1, run, alone).code == 0
    for attempt in range(6):
        process = started(2 + attempt % 3, ["-m", "simsuite", *run], shared)
        begun = time.monotonic()
        while time.monotonic() - begun < 60 and not (shared / "run/progress.json").exists():
            time.sleep(0.05)
        time.sleep(moments.uniform(0.0, 2.0))
        process.send_signal(signal.SIGKILL)
        finished(process)
    done = simsuite(3, run, shared)
    assert done.code == 0, done
    require_same(shared / "run", alone / "run")


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        ("raise", 1, "ZeroDivisionError: planted"),
        ("refuse", 4, "error: process 1 of 3, on .*: the device is on fire; the checkpoint of .* is safe"),
        ("kill", 9, ""),
    ],
)
def test_a_process_that_fails_ends_all(tmp_path: Path, fault: str, code: int, told: str) -> None:
    written(tmp_path, "one batch")
    words = ["run", "x.toml", "-o", "run", "-q"]
    done = faulty(3, [1, fault, 5], words, tmp_path)
    assert done.code == code, done
    assert re.search(told, done.err)
    assert (tmp_path / "run/checkpoint.h5").exists() or fault == "kill"
    assert simsuite(2, words, tmp_path).code == 0


def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    """All at the beginning, by the first process alone."""
    written(tmp_path, "fewer groups")
    heat = (Path(__file__).parents[2] / "scenarios/heat.toml").as_posix()
    cases = [
        (
            ["run", heat, "-o", "heat", "--set", "time.steady=true"],
            2,
            "cannot share this run: a steady state is solved",
        ),
        (["check", "x.toml"], 2, "2 processes cannot share `simsuite check`"),
        (["run", "x.toml", "--device", "cuda:1"], 2, "2 processes cannot share the one device cuda:1"),
        (["run", "nowhere.toml"], 2, "cannot read 'nowhere.toml'"),
        (["run", "x.toml", "--nothing"], 2, "No such option"),
    ]
    codes, done = commands(2, [[str(tmp_path), *words] for words, _, _ in cases], tmp_path)
    assert codes == [code for _, code, _ in cases], done
    for _, _, told in cases:
        assert done.err.count(told) == 1, done.err
    assert not (tmp_path / "heat").exists()


def test_other_files_than_the_first_process_has_are_found(tmp_path: Path) -> None:
    """Process 1 works in another directory, in which the scenario is another one, and then none."""
    for directory in ("0", "1"):
        written(tmp_path / directory, "fewer groups", **({"strike = 100": "strike = 90"} if directory == "1" else {}))
    words = ["run", "x.toml", "-o", "run", "-q"]
    done = faulty(2, [1, f"cd {tmp_path / '1'}", 0], words, tmp_path / "0")
    assert done.code == 2, done
    assert "process 1 of 2" in done.err
    assert "has read another scenario: option.0.strike" in done.err
    (tmp_path / "1/x.toml").unlink()
    done = faulty(2, [1, f"cd {tmp_path / '1'}", 0], words, tmp_path / "0")
    assert done.code == 2, done
    assert re.search("process 1 of 2, on .*: cannot read 'x.toml'", done.err)
    assert not (tmp_path / "0/run").exists()
