"""Runs whose files were changed, or replaced by those of other runs: never continued in silence, never a traceback."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from running import assert_same_bits, call
from test_resume import HEAT, SHORT, write

from simsuite.io import checkpoint as checkpoint_module
from simsuite.io.checkpoint import NEWEST
from simsuite.version import FORMAT_VERSION


@pytest.fixture
def stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The directory of a run that was stopped at once; its scenario is beside it."""
    path = write(tmp_path / "plate.toml", HEAT, SHORT)
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    return tmp_path / "run"


def change_record(path: Path, **changes: Any) -> None:
    """Change what a checkpoint says of itself, with a checksum that fits."""
    with h5py.File(path, "r+") as file:
        about = json.loads(file["meta"][...].tobytes()) | changes
        data = np.frombuffer(json.dumps(about).encode(), np.uint8)
        del file["meta"]
        file.create_dataset("meta", data=data, chunks=data.shape, fletcher32=True)


@pytest.mark.parametrize("by", [-1, 1])
def test_a_checkpoint_of_another_step_is_damaged(stopped: Path, capsys: pytest.CaptureFixture[str], by: int) -> None:
    with h5py.File(stopped / NEWEST) as file:
        step = json.loads(file["meta"][...].tobytes())["step"]
    change_record(stopped / NEWEST, step=step + by)
    refused = call(capsys, "resume", stopped)
    assert refused.returncode == 1
    assert "checkpoint.h5 is damaged (what it says of itself was changed)" in refused.stderr


@pytest.mark.parametrize("version", [FORMAT_VERSION - 1, FORMAT_VERSION + 1, "x", None])
def test_a_checkpoint_of_another_format_is_refused(
    stopped: Path, capsys: pytest.CaptureFixture[str], version: object
) -> None:
    change_record(stopped / NEWEST, format_version=version)
    refused = call(capsys, "resume", stopped)
    assert refused.returncode == 1
    assert f"files have format {version}, not {FORMAT_VERSION}" in refused.stderr


def test_results_of_a_newer_format_are_not_read(
    stopped: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with h5py.File(stopped / "results.h5", "r+") as file:
        file.attrs["format_version"] = FORMAT_VERSION + 1
    for command in ("info", stopped), ("plot", stopped, "-o", tmp_path / "x.png"):
        refused = call(capsys, *command)
        assert refused.returncode == 1
        assert "written by a newer simsuite" in refused.stderr


@pytest.mark.parametrize(
    "change",
    ["initial.temperature=20.0", "time.stepper=rkl2", "run.precision=float32", "output.frames=7", "grid.lx=0.9"],
)
def test_a_checkpoint_of_another_run_is_refused(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    other, path = tmp_path / "other", tmp_path / "plate.toml"
    assert call(capsys, "run", path, "-o", other, "--max-minutes", 0, "--set", change).returncode == 75
    shutil.copy(other / NEWEST, stopped / NEWEST)
    refused = call(capsys, "resume", stopped)
    assert refused.returncode == 1
    assert f"is of another run, which differs in {change.partition('=')[0]}" in refused.stderr
    shutil.copy(other / "results.h5", stopped / "results.h5")
    assert call(capsys, "resume", stopped).returncode == 1


def test_a_checkpoint_of_a_run_alike_is_refused(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows may stand elsewhere in the results file."""
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", tmp_path / "twin", "--max-minutes", 0).returncode == 75
    shutil.copy(tmp_path / "twin" / NEWEST, stopped / NEWEST)
    refused = call(capsys, "resume", stopped)
    assert refused.returncode == 1
    assert "not the file that its checkpoint was made with" in refused.stderr


@pytest.mark.parametrize("junk", [None, np.bytes_(b"\xff\xfe{"), 5, np.arange(3.0), "", "[" * 2000, "[1, 2]"], ids=str)
def test_damaged_attributes_are_restored_or_told_of(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], junk: object
) -> None:
    with h5py.File(stopped / "results.h5", "r+") as file:
        for name in file.attrs:
            if name != "run_id":
                del file.attrs[name]
                if junk is not None:
                    file.attrs[name] = junk
    for command in ("info", stopped), ("info", stopped, "--json"), ("plot", stopped, "-o", tmp_path / "x.png"):
        looked = call(capsys, *command)
        assert looked.returncode in (0, 1, 2)
        assert "Traceback" not in looked.stderr
    rest = call(capsys, "resume", stopped)
    assert rest.returncode == 0, rest.stderr
    assert call(capsys, "run", tmp_path / "plate.toml", "-o", tmp_path / "whole").returncode == 0
    assert_same_bits(stopped / "results.h5", tmp_path / "whole/results.h5")


@pytest.mark.parametrize("junk", [b"", b"\xff\xfe", b"a = [", b"a = " + b"[" * 3000, b"solver = 5\n"])
def test_a_damaged_scenario_in_the_directory_is_told_of(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], junk: bytes
) -> None:
    (stopped / "scenario.toml").write_bytes(junk)
    for command in ("run", tmp_path / "plate.toml", "-o", stopped), ("resume", stopped), ("info", stopped):
        looked = call(capsys, *command)
        assert looked.returncode in (0, 1, 2)
        assert "Traceback" not in looked.stderr


def test_the_record_of_a_checkpoint_is_checked_in_all_parts(stopped: Path) -> None:
    with h5py.File(stopped / NEWEST) as file:
        about = json.loads(file["meta"][...].tobytes())
    assert about.pop("digest") == checkpoint_module._digest(about)
    assert {"format_version", "step", "shapes", "rows", "meta", "results"} == about.keys()
