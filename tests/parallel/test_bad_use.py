"""What people get wrong with several processes: a clear error from one of them, exit code 2 or 4, and no hang (all of
these have a time limit, see `shared_runs.LIMIT`)."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest
from shared_runs import Done, commands, faulty, finished, require_same, simsuite, started, with_mpi
from test_shared_runs import written

pytestmark = with_mpi
RUN = ["run", "x.toml", "-o", "run", "-q"]


def told_once(done: Done, text: str) -> bool:
    return done.err.count("error:") == 1 and re.search(text, done.err) is not None


@pytest.mark.parametrize(("device", "text"), [
    ("cuda", "error: process 2 of 3, on .*: there is no cuda:2; this machine has 2"),
    ("auto", "error: process 2 of 3, on .* is on cpu, process 0 on cuda:0\n  = help: start at most one process a GPU"),
])  # fmt: skip
def test_more_processes_than_gpus(tmp_path: Path, device: str, text: str) -> None:
    written(tmp_path, "fewer groups")
    done = faulty(3, [-1, "gpus 2", 0], [*RUN, "--device", device], tmp_path)
    assert done.code == 4, done
    assert told_once(done, text), done.err


def test_a_gpu_that_only_one_process_has(tmp_path: Path) -> None:
    written(tmp_path, "fewer groups")
    done = faulty(2, [0, "gpus 1", 0], [*RUN, "--device", "auto"], tmp_path)
    assert done.code == 4, done
    assert told_once(done, "error: process 1 of 2, on .* is on cpu, process 0 on cuda:0"), done.err


@pytest.mark.parametrize(("process", "text"), [
    (-1, "^error: a run that several processes share needs mpi4py, which is not installed: pip install"),
    (0, "^error: a run that several processes share needs mpi4py, which is not installed: pip install"),
    (1, "^error: process 1 of 2, on .*: a run that several processes share needs mpi4py"),
])  # fmt: skip
def test_without_mpi4py(tmp_path: Path, process: int, text: str) -> None:
    """Also if it is another process than the first one that lacks it, which no longer can tell the first one."""
    written(tmp_path, "fewer groups")
    done = faulty(2, [process, "bare", 0], RUN, tmp_path)
    assert done.code == 2, done
    assert told_once(done, text), done.err
    assert not (tmp_path / "run").exists()


def test_without_a_library_of_mpi(tmp_path: Path) -> None:
    written(tmp_path, "fewer groups")
    done = finished(started(2, ["-m", "simsuite", *RUN], tmp_path, {"MPI4PY_LIBMPI": "/nowhere.so"}))
    assert done.code == 2, done
    assert told_once(done, "error: MPI cannot be loaded .*`pip install mpich`"), done.err


def test_two_runs_in_one_directory(tmp_path: Path) -> None:
    written(tmp_path, "batches", **{"count = 7002": "count = 2000002"})
    first = started(2, ["-m", "simsuite", *RUN], tmp_path)
    begun = time.monotonic()
    while time.monotonic() - begun < 60 and not (tmp_path / "run/progress.json").exists():
        time.sleep(0.05)
    second = simsuite(2, RUN, tmp_path)
    first.send_signal(signal.SIGINT)
    finished(first)
    assert second.code == 2, second
    assert told_once(second, r"error: another simsuite is running in run \(process \d+ on "), second.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_launcher_that_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    """MPICH's passes signals on; Open MPI's sends SIGTERM and gives processes a second. With either one the run goes
    on later."""
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    for directory in (alone, shared):
        written(directory, "batches", **{"count = 7002": "count = 60002"})
    process = started(3, ["-m", "simsuite", *RUN], shared)
    begun = time.monotonic()
    while time.monotonic() - begun < 60 and not (shared / "run/checkpoint.h5").exists():
        time.sleep(0.05)
    process.send_signal(number)
    done = finished(process)
    assert done.code in ({signal.SIGINT: 130, signal.SIGTERM: 75}[number], 1), done
    codes, done = commands(2, [[str(shared), *RUN]], tmp_path)
    assert codes == [0], done
    assert simsuite(1, RUN, alone).code == 0
    require_same(shared / "run", alone / "run")
