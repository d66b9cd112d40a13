"""Runs whose directories were moved: what results say of places, and that everything still works with them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from running import assert_same_bits, call

from simsuite.io.reading import open_results

PLATE = """
solver = "heat"
run.device = "cpu"
grid = {{nx = 8, ny = 6}}
material.diffusivity = 1.0
initial.temperature = {initial}
time = {{end = 0.01, stepper = "explicit"}}
output.frames = 4
"""
FROM_A_FILE = '{file = "T0.npy"}'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in the working directory, with a scenario and the file that has its initial temperatures."""
    monkeypatch.chdir(tmp_path)
    here = Path("here")
    here.mkdir()
    np.save(here / "T0.npy", np.random.default_rng(1).normal(size=(6, 8)))
    (here / "plate.toml").write_text(PLATE.format(initial=FROM_A_FILE), encoding="utf-8")
    return here


@pytest.fixture
def begun(capsys: pytest.CaptureFixture[str]) -> Callable[[Path, Path], Path]:
    """Begins a run and stops it at once. Returns its directory."""

    def begin(scenario: Path, run: Path) -> Path:
        assert call(capsys, "run", scenario, "-o", run, "--max-minutes", 0).returncode == 75
        return run

    return begin


def attributes(run: Path) -> dict[str, object]:
    with open_results(run / "results.h5") as file:
        return dict(file.attrs)


def works(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that takes a run's directory: the run goes on to its end."""
    assert call(capsys, "info", run).returncode == 0
    assert call(capsys, "plot", run, "-o", run / "plate.png").returncode == 0
    done = call(capsys, "resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert '"status": "complete"' in done.stdout


def test_a_run_goes_on_after_it_was_moved_with_its_data(
    tmp_path: Path, place: Path, begun: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "run", place / "plate.toml", "-o", place / "whole").returncode == 0
    found = attributes(begun(place / "plate.toml", place / "runs" / "plate"))
    assert found["scenario_base"] == os.path.join("..", "..")
    assert str(tmp_path) not in "".join(map(str, found.values()))
    there = place.rename("there")
    works(there / "runs" / "plate", capsys)
    assert_same_bits(there / "runs" / "plate" / "results.h5", there / "whole" / "results.h5")


def test_a_run_is_found_by_another_name_of_its_directory(
    place: Path, begun: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A symbolic link, beside which no data are."""
    run = begun(place / "plate.toml", place / "runs" / "plate")
    Path("link").symlink_to(run, target_is_directory=True)
    works(Path("link"), capsys)


def test_results_with_an_absolute_place_of_the_data_are_understood(
    place: Path, begun: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """As version 0.1.0 wrote them, also where there were no data."""
    run = begun(place / "plate.toml", place / "runs" / "plate")
    (place / "plain.toml").write_text(PLATE.format(initial='"x + y"'), encoding="utf-8")
    plain = begun(place / "plain.toml", place / "runs" / "plain")
    for path in (run, plain):
        with h5py.File(path / "results.h5", "r+") as file:
            file.attrs["scenario_base"] = str(place.resolve())
    works(run.rename("moved"), capsys)
    works(plain.rename("plain"), capsys)


def test_a_run_without_data_says_nothing_of_where_it_was_made(
    tmp_path: Path, place: Path, begun: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "plate.toml").write_text(PLATE.format(initial='"x + y"'), encoding="utf-8")
    run = begun(place / "plate.toml", place / "runs" / "plate")
    assert str(tmp_path) not in "".join(map(str, attributes(run).values()))
    works(run.rename("moved"), capsys)


def test_a_picture_needs_no_data(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = place / "run"
    assert call(capsys, "run", place / "plate.toml", "-o", run).returncode == 0
    (place / "T0.npy").unlink()
    assert call(capsys, "info", run).returncode == 0
    assert call(capsys, "plot", run, "-o", run / "plate.png").returncode == 0


def test_data_that_were_left_behind_are_missed_by_name(
    place: Path, begun: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the scenario, which is where the data are, continues the run."""
    moved = begun(place / "plate.toml", place / "runs" / "plate").rename("moved")
    refused = call(capsys, "resume", moved)
    assert refused.returncode == 2
    assert "no such file: 'T0.npy'" in refused.stderr
    done = call(capsys, "run", place / "plate.toml", "-o", moved)
    assert done.returncode == 0, done.stderr
    assert "continuing" in done.stderr
