"""Frames of members in sweep.h5, against the result files of the members."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from running import call

PLATE = """\
solver = "heat"
[constants]
hot = 400
[grid]
nx = 6
ny = 4
lx = 0.12
ly = 0.08
[material]
diffusivity = 1e-5
[initial]
temperature = 300.0
[boundary]
left = {kind = "temperature", value = "hot"}
[time]
end = 100.0
[output]
frames = 3
[run]
device = "cpu"
"""
MARKET = """\
solver = "gbm"
[market]
rate = 0.03
[[asset]]
name = "A"
spot = 100
volatility = 0.2
[time]
end = 1.0
steps = 4
[paths]
count = 512
[[option]]
style = "european"
payoff = "call"
strike = 100
[output]
frames = 2
[run]
device = "cpu"
"""


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("plate.toml").write_text(PLATE, encoding="utf-8")
    Path("market.toml").write_text(MARKET, encoding="utf-8")
    return lambda *words: call(capsys, "sweep", *words, "-o", "s")


def swept() -> xarray.Dataset:
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as found:
        return found.load()


def own(member: str) -> xarray.Dataset:
    with xarray.open_dataset(f"s/members/{member}/results.h5", engine="h5netcdf") as found:
        return found.load()


def test_last_and_all_frames_are_those_of_the_runs(sweep: Any) -> None:
    command = ("plate.toml", "--vary", "constants.hot=350,450", "--vary", "material.diffusivity=1e-5,2e-5,3e-5")
    assert sweep(*command).returncode == 0
    assert "temperature" not in swept()
    assert sweep(*command, "--frames", "last").returncode == 0, "frames of runs that have ended are added"
    last = swept()["temperature"]
    assert last.dims == ("constants.hot", "material.diffusivity", "y", "x")
    assert sweep(*command, "--frames", "all").returncode == 0
    found = swept()
    assert found["temperature"].dims == ("constants.hot", "material.diffusivity", "time", "y", "x")
    assert found["temperature"].attrs["units"] == "K"
    for member in range(6):
        run = own(f"{member:04}")
        at = {"constants.hot": member // 3, "material.diffusivity": member % 3}
        np.testing.assert_array_equal(found["temperature"].isel(at), run["temperature"])
        np.testing.assert_array_equal(last.isel(at), run["temperature"][-1])
        for name in ("x", "y", "time"):
            np.testing.assert_array_equal(found[name], run[name])


def test_coordinates_that_differ_are_there_for_each_member(sweep: Any) -> None:
    assert (
        sweep("plate.toml", "--vary", "grid.lx=0.12,0.24", "--vary", "time.end=10,20", "--frames", "all").returncode
        == 0
    )
    found = swept()
    assert found["x_coordinate"].dims == ("grid.lx", "time.end", "x")
    for member in range(4):
        at = {"grid.lx": member // 2, "time.end": member % 2}
        np.testing.assert_array_equal(found["x_coordinate"].isel(at), own(f"{member:04}")["x"])
        np.testing.assert_array_equal(found["time_coordinate"].isel(at), own(f"{member:04}")["time"])
    assert "y_coordinate" not in found


def test_other_shapes_are_left_out_and_told(sweep: Any) -> None:
    done = sweep("plate.toml", "--vary", "grid.nx=6,8", "--frames", "last")
    assert done.returncode == 0
    assert "warning: frames of `temperature` have other shapes" in done.stderr
    assert "temperature" not in swept()
    assert swept()["max"].shape == (2,)


def test_members_without_a_run_have_nan(sweep: Any) -> None:
    """Those that failed, and those whose run was removed."""
    command = (
        "plate.toml",
        "--zip",
        "--vary",
        "constants.hot=350,400,450",
        "--vary",
        "material.diffusivity=1e-5,-1,1e-5",
    )
    assert sweep(*command).returncode == 1
    shutil.rmtree("s/members/0002")
    assert sweep(*command, "--frames", "last").returncode == 1
    found = swept()["temperature"]
    assert found.dims == ("member", "y", "x")
    assert np.isfinite(found.values).all(axis=(1, 2)).tolist() == [True, False, False]


def test_options_that_share_paths_have_frames_of_the_same_prices(sweep: Any) -> None:
    assert (
        sweep(
            "market.toml", "--vary", "option.0.strike=90,100", "--vary", "market.rate=0.01,0.05", "--frames", "all"
        ).returncode
        == 0
    )
    found = swept()["price_mean"]
    assert found.dims[:3] == ("option.0.strike", "market.rate", "time")
    assert found[0].values.tobytes() == found[1].values.tobytes()
    np.testing.assert_allclose(found[0, :, -1].values.ravel(), [100 * np.exp(0.01), 100 * np.exp(0.05)], rtol=0.05)


def test_only_last_and_all_are_known(sweep: Any) -> None:
    done = sweep("plate.toml", "--vary", "constants.hot=350,450", "--frames", "first")
    assert done.returncode == 2
    assert "Invalid value for '--frames': 'first' is not one of 'last', 'all'" in " ".join(done.stderr.split())
