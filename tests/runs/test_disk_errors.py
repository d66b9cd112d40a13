"""Errors of the disk at any operation of a run: an error that is told, never a crash, and the same bits afterwards."""

from __future__ import annotations

import errno
import itertools
import json
import shutil
from pathlib import Path

import fake_run
import numpy as np
import pytest
import xarray as xr
from faults.disk import preloaded
from running import call
from sm90 import others_long
from test_results_file import load
from test_resume import HEAT, write

from simsuite.core import Snapshot
from simsuite.errors import DiskError
from simsuite.io import results_file as results_module
from simsuite.io.checkpoint import write_checkpoint

TESTS = Path(__file__).parents[1]
# Forks a process for each case, in which the n-th operation fails; its exit code is 1 for an error that is told.
FAILING = """
import os, sys, traceback
sys.path[:0] = sys.argv[2], sys.argv[3]
import fake_run
from pathlib import Path
from simsuite.errors import SimsuiteError
for n in range(int(sys.argv[6]), 400, 23):
    child = os.fork()
    if child == 0:
        os.environ["FAULTS_FAIL"] = f"{n} {sys.argv[4]} {sys.argv[5]}"
        try:
            fake_run.run(Path(sys.argv[1]) / str(n))
        except SimsuiteError:
            sys.exit(1)
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("case", n, code, flush=True)
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="the library that makes operations fail needs a C compiler")
@pytest.mark.parametrize(
    ("error", "lasting"),
    others_long(itertools.product(("ENOSPC", "EIO"), (0, 1)), {("ENOSPC", 1), ("EIO", 0)}, several=True),
)
def test_errors_of_the_disk_are_told_and_harm_nothing(tmp_path: Path, error: str, lasting: int) -> None:
    fake_run.run(tmp_path / "whole")
    whole = load(tmp_path / "whole/results.h5")
    root = tmp_path / "runs"
    root.mkdir()
    first = 1 + 5 * lasting + 11 * (error == "EIO")
    command = ["-c", FAILING, str(root), str(TESTS), str(TESTS.parent), str(getattr(errno, error)), str(lasting)]
    ended = preloaded([*command, str(first)], root, tmp_path)
    cases = [line.split()[1:] for line in ended.stdout.splitlines() if line.startswith("case ")]
    assert len(cases) > 10
    for n, code in cases:
        assert code in "01", f"operation {n}: exit code {code}\n{ended.stderr}"
        fake_run.run(root / n)
        xr.testing.assert_identical(load(root / n / "results.h5"), whole)
    assert sum(code == "1" for _, code in cases) >= 10  # what is asked of the disk in passing may fail
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_disk_that_fails_leaves_what_is_safe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, checkpoint: bool
) -> None:
    """Exit code 75, by which batch systems run a job again, is for runs that would go on from where they were."""
    every = {"output.checkpoint_every": 30 if checkpoint else 0, "run.device": "cpu"}
    path = write(tmp_path / "plate.toml", HEAT, every)
    require, rows = results_module.require_room, []

    def full(directory: Path, nbytes: int) -> None:
        rows.append(nbytes)
        require(directory, nbytes if len(rows) < 20 else 1 << 60)

    monkeypatch.setattr(results_module, "require_room", full)
    failed = call(capsys, "run", path, "-o", tmp_path / "run", "--json")
    assert failed.returncode == (75 if checkpoint else 1)
    assert f"no space left in {tmp_path / 'run'}" in failed.stderr
    assert ("the checkpoint of step" in failed.stderr and "is safe" in failed.stderr) == checkpoint
    assert json.loads(failed.stdout)["exit_code"] == failed.returncode
    monkeypatch.undo()
    rest = call(capsys, "run", path, "-o", tmp_path / "run")
    assert rest.returncode == 0, rest.stderr
    assert ("continuing" in rest.stderr) == checkpoint


def test_a_checkpoint_in_a_directory_that_was_taken_away_is_an_error_of_the_disk(tmp_path: Path) -> None:
    """Whatever the instant: asking for free space fails too."""
    with pytest.raises(DiskError, match=r"cannot write in .*gone: .*No such file or directory.*run again to continue"):
        write_checkpoint(tmp_path / "gone", Snapshot(7, {"u": np.ones(3)}), {}, {})
