"""Runs with too little memory end with one plain line that says so, and their files stay as they are."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SIMULATING
from running import call
from test_resume import HEAT, write

from simsuite.cli.memory import LEAST, lacks_memory
from simsuite.io import checkpoint as checkpoint_module
from simsuite.io.checkpoint import read_checkpoint

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved")


def limited(nbytes: int, *args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`simsuite ARGS` with so many bytes of addresses."""
    command = [sys.executable, "-m", "simsuite", *map(str, args)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (nbytes, nbytes))  # noqa: E731
    return subprocess.run(command, cwd=cwd, preexec_fn=limit, capture_output=True, text=True)


@pytest.mark.parametrize("megabytes", [350, 480, 999])
def test_a_limit_that_is_too_low_for_the_libraries_is_told(tmp_path: Path, megabytes: int) -> None:
    path = write(tmp_path / "plate.toml", HEAT)
    refused = limited(megabytes * 10**6, "run", path, "-o", tmp_path / "run", cwd=tmp_path)
    assert refused.returncode == 4
    assert f"limited to {megabytes} MB" in refused.stderr
    assert "`ulimit -v unlimited` lifts the limit" in refused.stderr
    assert len(refused.stderr.splitlines()) == 2
    assert not (tmp_path / "run").exists()


def test_memory_that_runs_out_harms_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not called damaged, with the advice to begin again."""
    large = {"grid.nx": 1600, "grid.ny": 1600, "output.frames": 2}
    path = write(tmp_path / "plate.toml", HEAT, large)
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    before = (tmp_path / "run/checkpoint.h5").read_bytes()
    short = limited(LEAST, "resume", tmp_path / "run", "--max-minutes", 0, cwd=tmp_path)
    if short.returncode != 75:  # the libraries of some machines take less
        assert short.returncode == 4, short.stderr
        assert "not enough memory" in short.stderr
        assert "--fresh" not in short.stderr
        assert (tmp_path / "run/checkpoint.h5").read_bytes() == before
    assert "Traceback" not in short.stderr
    shutil.rmtree(tmp_path / "run")


def test_a_checkpoint_that_does_not_fit_into_memory_is_not_called_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "plate.toml", HEAT)
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75

    def full(*args: object) -> None:
        raise MemoryError("Unable to allocate 9 GB")

    monkeypatch.setattr(checkpoint_module, "_load", full)
    with pytest.raises(MemoryError):
        read_checkpoint(tmp_path / "run")
    refused = call(capsys, "resume", tmp_path / "run")
    assert refused.returncode == 4
    assert "not enough memory" in refused.stderr
    assert "damaged" not in refused.stderr


def test_what_libraries_say_of_missing_memory_is_understood() -> None:
    for error in (
        MemoryError("x"),
        RuntimeError("can't start new thread"),
        ImportError("numba.so: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory"),
        OSError("Can't read data (memory allocation failed for chunk)"),
    ):
        assert lacks_memory(error)
        wrapped = ImportError("could not be imported")
        wrapped.__cause__ = error
        assert lacks_memory(wrapped)
    assert not lacks_memory(ValueError("wrong"))
