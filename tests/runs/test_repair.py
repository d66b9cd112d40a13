"""`simsuite repair`: results of a run that was cut off, readable again without continuing it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr
from running import call, no_hang
from test_digests import flip
from test_recovery import damage
from test_resume import HEAT, SHORT, assert_same_bits, write

from simsuite.io import reading as reading_module
from simsuite.io.lock import Lock

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    return write(tmp_path / "plate.toml", HEAT, SHORT)


@pytest.fixture
def stopped(tmp_path: Path, plate: Path, capsys: Capture) -> Path:
    assert call(capsys, "run", plate, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    return tmp_path / "run"


def test_damaged_results_are_put_back_and_the_run_goes_on(
    stopped: Path, plate: Path, capsys: Capture, tmp_path: Path
) -> None:
    before = xr.load_dataset(stopped / "results.h5", engine="h5netcdf")
    damage(stopped / "results.h5")
    with no_hang():
        repaired = call(capsys, "repair", stopped)
    assert repaired.returncode == 0, repaired.stderr
    assert "results.h5 was damaged; it is restored to what it was at the newest checkpoint" in repaired.stderr
    assert "0 of them damaged" in repaired.stdout
    assert before.equals(xr.load_dataset(stopped / "results.h5", engine="h5netcdf"))
    again = json.loads(call(capsys, "repair", stopped, "--json").stdout)
    assert (again["restored"], again["damaged"]) == (False, [])
    assert call(capsys, "resume", stopped).returncode == 0
    assert call(capsys, "run", plate, "-o", tmp_path / "whole").returncode == 0
    assert_same_bits(stopped / "results.h5", tmp_path / "whole/results.h5")


def test_rows_that_changed_are_named(stopped: Path, capsys: Capture) -> None:
    flip(stopped / "results.h5", "temperature", 0)
    found = call(capsys, "repair", stopped)
    assert found.returncode == 5
    assert "temperature at time = 0 changed since it was written" in found.stdout


@pytest.mark.parametrize("what", ["no checkpoint", "another file", "scenario", "in use", "no run"])
def test_what_cannot_be_repaired_is_left_as_it_is(
    stopped: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, what: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(reading_module, "_LIMIT", 2.0)  # HDF5 never comes to an end of reading the damaged file
    damage(stopped / "results.h5")
    said, code, run = {
        "no checkpoint": ("and there is no checkpoint to restore it from; bring the file back", 1, stopped),
        "another file": ("it is not the file that its checkpoint was made with", 1, stopped),
        "scenario": ("scenario.toml is damaged", 1, stopped),
        "in use": ("another simsuite is running in", 2, stopped),
        "no run": ("holds no run", 2, tmp_path / "empty"),
    }[what]
    run.mkdir(exist_ok=True)
    if what == "no checkpoint":
        (stopped / "checkpoint.h5").unlink()
    elif what == "another file":
        content = (stopped / "results.h5").read_bytes()
        (stopped / "results.h5").write_bytes(content[:100] + b"\0" * (len(content) - 100))
    elif what == "scenario":
        (stopped / "scenario.toml").write_bytes(b"\0")
    before = (stopped / "results.h5").read_bytes()
    with no_hang():
        if what == "in use":
            with Lock(stopped).held():
                refused = call(capsys, "repair", run)
        else:
            refused = call(capsys, "repair", run)
    assert (refused.returncode, said in refused.stderr) == (code, True), refused.stderr
    assert (stopped / "results.h5").read_bytes() == before
