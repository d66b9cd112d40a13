"""`simsuite compare`: two runs, on the same grid or others, or a run and another program's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from running import call

import simsuite

PLATE: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 24, "ny": 16, "lx": 0.3, "ly": 0.2},
    "material": {"diffusivity": 1e-4},
    "initial": {"temperature": "20 + 100*x + 50*y"},
    "boundary": {"left": {"kind": "temperature", "value": 20.0}},
    "probe": [{"name": "a", "x": 0.1, "y": 0.1}, {"name": "b", "x": 0.2, "y": 0.1}],
    "time": {"end": 10.0},
    "output": {"frames": 3},
    "run": {"device": "cpu"},
}
OPTION = {"style": "european", "payoff": "call", "strike": 100.0, "name": "call"}
GBM: dict[str, Any] = {
    "solver": "gbm",
    "constants": {"K": 100.0},
    "market": {"rate": 0.05},
    "asset": [{"spot": 100.0, "volatility": 0.2}],
    "time": {"end": 1.0, "steps": 4},
    "paths": {"count": 4096},
    "option": [OPTION, {"style": "expression", "value": "max(last(A) - K, 0)", "name": "own"}],
    "output": {"store_paths": 0},
    "run": {"device": "cpu"},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    done = call(capsys, "compare", *args, "--json")
    found = json.loads(done.stdout)
    return done.returncode, found | {"by_name": {each["name"]: each for each in found.get("variables", ())}}


def test_a_run_is_the_same_as_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        simsuite.run(PLATE, directory=name)
    code, found = compared(capsys, "a", "b")
    assert code == 0
    assert found["status"] == "same"
    assert found["keys"] == {"output.directory": ["a", "b"]}
    assert {"temperature", "probe_temperature", "energy_left"} <= found["by_name"].keys()
    assert all(each["largest"] == 0 for each in found["variables"])


def test_differences_are_those_of_the_arrays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simsuite.run(PLATE, directory="a")
    simsuite.run(PLATE, {"boundary.left.value": 21.5}, directory="b")
    code, found = compared(capsys, "a", "b")
    assert code == 5
    assert found["keys"]["boundary.left.value"] == [20.0, 21.5]
    with xarray.open_dataset("a/results.h5") as a, xarray.open_dataset("b/results.h5") as b:
        apart = np.abs(a["temperature"].values - b["temperature"].values)
        size = float(np.abs(a["temperature"].values).max())
        l2 = float(np.linalg.norm(apart) / np.linalg.norm(a["temperature"].values))
    of = found["by_name"]["temperature"]
    assert (of["largest"], of["size"]) == (apart.max(), size)
    assert of["relative_l2"] == pytest.approx(l2, rel=1e-12)
    largest = apart.max()
    for atol, wanted in ((largest * 1.001, True), (largest * 0.999, False)):
        code, found = compared(capsys, "a", "b", "--variable", "temperature", "--atol", str(atol))
        assert (code == 0) == wanted
        code, found = compared(capsys, "a", "b", "--variable", "temperature", "--rtol", str(atol / size))
        assert (code == 0) == wanted
        assert found["by_name"]["temperature"]["within"] == wanted
    text = call(capsys, "compare", "a", "b", "-o", "diff.png").stdout
    assert "boundary.left.value: 20.0 -> 21.5" in text
    assert "temperature *" in text
    assert Path("diff.png").read_bytes().startswith(b"\x89PNG")


def test_other_grids_times_and_probes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Interpolation is linear: a linear field agrees on any grid, edges and a single row of cells included."""
    linear = PLATE | {"boundary": {}, "time": {"end": 1e-9}}
    simsuite.run(linear, directory="a")
    for name, changes in (
        ("finer", {"grid.nx": 57, "grid.ny": 31}),
        ("coarser", {"grid.nx": 5, "grid.ny": 3}),
    ):
        simsuite.run(linear, changes, directory=name)
        code, found = compared(capsys, "a", name, "--variable", "temperature", "--rtol", "1e-6")
        assert code == 0, found
    simsuite.run(PLATE, directory="c")
    fewer = PLATE | {"probe": PLATE["probe"][1:]}
    simsuite.run(fewer, {"output.frames": 5}, directory="d")
    code, found = compared(capsys, "c", "d", "--rtol", "1e-4")
    assert code == 0, found
    text = call(capsys, "compare", "c", "d", "--rtol", "1e-4").stdout
    assert "at 3 common times, at 1 common probes" in text
    simsuite.run(PLATE | {"output": {"times": [3.3]}}, directory="e")
    done = call(capsys, "compare", "c", "e", "--variable", "temperature")
    assert "at 1 common times" in done.stdout  # the end


@pytest.mark.parametrize("kind", ["npy", "csv", "h5"])
def test_the_file_of_another_program(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simsuite.run(PLATE, directory="a")
    with xarray.open_dataset("a/results.h5") as a:
        last = a["temperature"].values[-1]
    theirs = last + 0.25
    variable = "temperature"
    if kind == "npy":
        np.save("t.npy", theirs)
    elif kind == "csv":
        np.savetxt(
            "t.csv", theirs, delimiter=",", header=",".join(f"x{i}" for i in range(24)), comments="", fmt="%.17g"
        )
    else:
        with h5py.File("t.h5", "w") as file:
            file["fields/T"] = theirs
        variable = "fields/T:temperature"
    code, found = compared(capsys, f"t.{kind}", "a", "--variable", variable, "--atol", "0.2")
    assert code == 5
    assert found["by_name"]["temperature"]["largest"] == pytest.approx(0.25, abs=1e-12)
    assert compared(capsys, "a", f"t.{kind}", "--variable", variable, "--atol", "0.3")[0] == 0


def test_monte_carlo_in_standard_errors(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simsuite.run(GBM, directory="a")
    simsuite.run(GBM, {"run.seed": 2}, directory="b")
    code, found = compared(capsys, "a", "b")
    assert code == 5
    of = found["by_name"]["option_price"]
    with xarray.open_dataset("a/results.h5") as a, xarray.open_dataset("b/results.h5") as b:
        error = np.hypot(a["option_standard_error"].values, b["option_standard_error"].values)
        z = np.abs(a["option_price"].values - b["option_price"].values) / error
    assert of["sigmas"] == pytest.approx(z.max(), rel=1e-12)
    prices = ("--variable", "option_price")
    assert compared(capsys, "a", "b", *prices, "--sigmas", str(z.max() * 1.01))[0] == 0
    assert compared(capsys, "a", "b", *prices, "--sigmas", str(z.max() * 0.99))[0] == 5
    assert "standard errors" in call(capsys, "compare", "a", "b").stdout
    assert call(capsys, "plot", "a").returncode == 0  # whose payoff is in a constant


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("a", "nowhere"), "nowhere"),
        (("a", "t.npy"), "say which of the variables the array in t.npy is"),
        (("a", "t.npy", "--variable", "temperature"), "has the shape"),
        (("a", "a", "--variable", "temprature"), "has no variable `temprature`"),
        (("a", "words.csv", "--variable", "temperature"), "holds no array of numbers"),
        (("a", "g"), "no variable in common"),
        (("a", "wider", "--variable", "temperature"), "x goes from"),
    ],
)
def test_what_cannot_be_compared(
    args: tuple[str, ...], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simsuite.run(PLATE, directory="a")
    simsuite.run(GBM, directory="g")
    simsuite.run(PLATE, {"grid.lx": 0.2}, directory="wider")
    np.save("t.npy", np.zeros((3, 3)))
    Path("words.csv").write_text("a,b\nhello,world\n")
    done = call(capsys, "compare", *args)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_cannot_be_brought_together_is_left_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simsuite.run(PLATE, directory="a")
    simsuite.run(PLATE | {"probe": [{"name": "other", "x": 0.1, "y": 0.1}]}, directory="b")
    code, found = compared(capsys, "a", "b")
    assert code == 0
    assert "temperature" in found["by_name"]
    assert any("no probe" in name for name in found["alone"])
    simsuite.run(GBM, directory="c")
    simsuite.run(GBM, {"run.seed": 3}, directory="d")
    assert compared(capsys, "c", "d", "--sigmas", "5")[0] == 0
    assert compared(capsys, "c", "d", "--sigmas", "0.001")[0] == 5
    done = call(capsys, "compare", "a", "b", "-o", "nowhere/x.png")
    assert done.returncode == 2
    assert "cannot write nowhere/x.png" in done.stderr


def test_a_first_row_of_numbers_is_no_header(here: Path) -> None:
    from simsuite.comparison.arrays import opened

    for text, shape in (("nan,1\n2,3\n", (2, 2)), ("a,b\n2,3\n4,5\n", (2, 2)), ("inf,1\n2,3\n", (2, 2))):
        Path("t.csv").write_text(text)
        with opened(Path("t.csv"), "temperature") as source:
            assert source.arrays["temperature"].shape == shape
