"""Parts of a sweep in processes of their own, at the same time, and the script that has SLURM run them.

There is no SLURM here: bash runs the script with the variables that SLURM sets, beside a `scontrol` that writes down
what it is asked for.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from running import call
from test_sweeps import PLATE

import simsuite
from simsuite.errors import UsageError
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.plan import members_of

VARY = ("--vary", "constants.h=5,10,15,20,25,30")
FINE = ("--set", "grid.nx=48", "--set", "grid.ny=40")
LONG = ("--set", "grid.nx=300", "--set", "grid.ny=300", "--set", "time.stepper=explicit")
LOG = Path("s/members.jsonl")


@pytest.fixture
def plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    return tmp_path / "plate.toml"


def start(*options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "simsuite", "sweep", "plate.toml", *VARY, "-o", "s", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until(there: Callable[[], object], running: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not there():
        assert time.monotonic() < until
        assert running.poll() is None, running.communicate()
        time.sleep(0.005)


def ended() -> Counter[int]:
    return Counter(json.loads(line)["member"] for line in LOG.read_text().splitlines())


def test_two_parts_at_once_and_all_together(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [start(*FINE, "--members", part) for part in ("0-2", "3-5")]
    for part in parts:
        _, said = part.communicate(timeout=240)
        assert part.returncode == 0, said
        assert "of 6 members" in said
    assert ended() == dict.fromkeys(range(6), 1)
    assert not Path("s/sweep.h5").exists()
    whole = call(capsys, "sweep", "plate.toml", *VARY, *FINE, "-o", "s", "--json")
    assert whole.returncode == 0
    assert "/6  " not in whole.stderr
    alone = call(capsys, "sweep", "plate.toml", *VARY, *FINE, "-o", "alone", "--json")
    assert json.loads(whole.stdout)["members"] == json.loads(alone.stdout)["members"]
    assert Path("s/sweep.h5").exists()


def test_parts_that_overlap_run_nothing_twice(plate: Path) -> None:
    parts = [start(*FINE, "--members", "0-5", "--workers", "1", "-q") for _ in range(2)]
    for part in parts:
        assert part.communicate(timeout=240)[1] == ""
        assert part.returncode == 0
    assert ended() == dict.fromkeys(range(6), 1)
    with pytest.raises(UsageError, match="fresh"):
        simsuite.sweep(plate, {"constants.h": [5, 10]}, directory="s", members=(0, 0), fresh=True)


def test_whole_sweeps_and_parts_exclude_each_other(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for first, second in (((*LONG, "--members", "0-1"), LONG), (LONG, (*LONG, "--members", "0-1"))):
        running = start(*first)
        wait_until(Path("s/sweep.json").exists, running)
        assert "running" in call(capsys, "list", "s").stdout
        done = call(capsys, "sweep", "plate.toml", *VARY, "-o", "s", *second)
        assert done.returncode == 2
        assert "another simsuite works on the sweep" in done.stderr
        running.kill()
        running.communicate()
        time.sleep(0.3)
        call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5", "-o", "s", "--fresh")
        SweepDirectory(Path("s")).discard()


def test_a_line_that_was_cut_is_removed_before_another_is_added(tmp_path: Path) -> None:
    files = SweepDirectory(tmp_path)
    each = [Ended(i, "complete", {"max": float(i)}, {}, None, 1.0) for i in range(3)]
    files.add([each[0]])
    whole = files.log.read_bytes()
    for cut in (b"{", b'{"member": 1, "status": "comp', whole[:-1]):
        files.log.write_bytes(whole + cut)
        files.add([each[2]])
        assert files.log.read_bytes().startswith(whole)
        assert files.ended() == {0: each[0], 2: each[2]}


def test_members_in_words() -> None:
    assert members_of("8-15") == (8, 15)
    assert members_of(" 3 ") == (3, 3)
    for text in ("", "a", "3-", "5-3", "-3", "1,2"):
        with pytest.raises(UsageError, match="as in 8-15"):
            members_of(text)


def test_members_that_are_not_there(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "sweep", "plate.toml", *VARY, "--members", "4-6")
    assert done.returncode == 2
    assert "no members 4-6: the sweep has members 0-5" in done.stderr


def cluster(tmp_path: Path, **variables: str) -> dict[str, str]:
    """An environment as SLURM makes it, with a `scontrol` that writes down what it is asked for."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(tmp_path / "asked"))}\n')
    (tools / "scontrol").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "SLURM_ARRAY_JOB_ID": "77", "SLURM_JOB_ID": "78", **variables}


def job(tmp_path: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", str(tmp_path / "job.sh")],
        env=cluster(tmp_path, **variables),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_job_array(plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two tasks at a time of two members each; then the script outside of the array."""
    vary = ("--vary", "constants.h=5,10,15,20,25", "--vary", "title=it's $HOME,`b`", "--zip", "-o", "s")
    vary = (*vary[:3], "title=it's $HOME,`b`,c,d,e", *vary[4:])
    done = call(capsys, "sweep", "plate.toml", *vary, "--slurm", "job.sh", "--per-task", "2")
    assert done.returncode == 0, done.stderr
    assert "3 tasks for 5 members" in done.stdout
    assert "sbatch --dependency=afterany:$job --wrap" in done.stdout
    text = Path("job.sh").read_text()
    for line in ("--array=0-2", "--requeue", "--signal=B:TERM@60"):
        assert f"#SBATCH {line}\n" in text
    assert not Path("s").exists()
    subprocess.run(["bash", "-n", "job.sh"], check=True)
    for tasks in ("01", "2"):
        running = [job(tmp_path, SLURM_ARRAY_TASK_ID=task) for task in tasks]
        for task in running:
            _, said = task.communicate(timeout=240)
            assert task.returncode == 0, said
    assert ended() == dict.fromkeys(range(5), 1)
    merging = job(tmp_path)
    assert merging.communicate(timeout=240)[0].startswith("constants.h")
    assert merging.returncode == 0
    assert Path("s/sweep.h5").exists()
    assert sum(ended().values()) == 5
    assert not Path("asked").exists()
    again = call(capsys, "sweep", "plate.toml", *vary, "--slurm", "job.sh")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert Path("job.sh").read_text() == text


def test_a_task_that_is_stopped_is_queued_again_and_goes_on(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "sweep", "plate.toml", *VARY, *LONG, "-o", "s", "--slurm", "job.sh").returncode == 0
    running = job(tmp_path, SLURM_ARRAY_TASK_ID="3")
    wait_until(Path("s/members/0003/results.h5").exists, running)
    running.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 75, said
    assert Path("asked").read_text() == "requeue 77_3\n"
    assert not LOG.exists() or not ended()
    assert Path("s/members/0003/checkpoint.h5").exists()
    again = job(tmp_path, SLURM_ARRAY_TASK_ID="3")
    _, said = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert ended() == {3: 1}
    assert Path("asked").read_text() == "requeue 77_3\n"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_task_that_is_stopped_before_it_begins_is_queued_again(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "sweep", "plate.toml", *VARY, *LONG, "-o", "s", "--slurm", "job.sh").returncode == 0
    running = job(tmp_path, SLURM_ARRAY_TASK_ID="2")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")

    def begun() -> bool:
        child = children.read_text().split()
        return bool(child) and b"--members" in Path(f"/proc/{child[0]}/cmdline").read_bytes()

    wait_until(begun, running)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=120)
    assert running.returncode in (75, 143)
    assert Path("asked").read_text() == "requeue 77_2\n"


def test_a_task_whose_member_fails_is_not_queued_again(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,-1", "--slurm", "job.sh").returncode == 0
    failing = job(tmp_path, SLURM_ARRAY_TASK_ID="1")
    assert "1 member of 1 failed" in failing.communicate(timeout=120)[1]
    assert failing.returncode == 1
    assert not Path("asked").exists()


def test_options_of_jobs_that_make_no_sense(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        (("--per-task", "2"), "--per-task says"),
        (("--slurm", "job.sh", "--fresh"), "neither --fresh nor --members"),
        (("--slurm", "job.sh", "--members", "0-1"), "neither --fresh nor --members"),
        (("--slurm", "none/job.sh"), "cannot write none/job.sh"),
        (("--slurm", "job.sh", "--vary", "grid.nx=0,8"), "nx"),
    ):
        done = call(capsys, "sweep", "plate.toml", *VARY, *options)
        assert done.returncode == 2
        assert said in done.stderr
        assert not Path("job.sh").exists()
