"""Sources in cells that a file marks: as if they were written in another way, and against a method of lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from scipy.integrate import solve_ivp

import simsuite
from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.marked import marked
from simsuite.pictures.plates.fields import domain_of
from simsuite.pictures.plates.outlines import draw_outlines
from simsuite.pictures.plates.plate import plate_of
from simsuite.scenario.heat.heating import VARIABLES
from simsuite.scenario.load import load_table

NX, NY, LX, LY = 11, 7, 0.11, 0.07
GRID = {"nx": NX, "ny": NY, "lx": LX, "ly": LY, "thickness": 2e-3}
MATERIAL = {"conductivity": 20.0, "density": 2000.0, "specific_heat": 500.0}
RECTANGLE = {"shape": "rectangle", "x": [0.03, 0.07], "y": [0.02, 0.04]}
MASK = {"shape": "mask", "file": "mask.npy"}


@pytest.fixture(autouse=True)
def in_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def random_mask(seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).random((NY, NX)) < 0.4


def run(tmp_path: Path, name: str, source: dict[str, Any], **tables: Any) -> simsuite.Run:
    plate = {"solver": "heat", "grid": GRID, "material": MATERIAL, "initial": {"temperature": 300.0}}
    plate |= {"run": {"device": "cpu"}, "time": {"end": 3.0}, "source": [source]}
    for key, table in tables.items():
        plate[key] = {**plate.get(key, {}), **table} if isinstance(table, dict) else table
    return simsuite.run(plate, directory=tmp_path / name)


def fields(found: simsuite.Run) -> np.ndarray:
    return np.asarray(found.dataset["temperature"].values)


@pytest.mark.parametrize(
    ("stepper", "power"),
    [
        *((stepper, {"power": "1e7*x*(1 + y)"}) for stepper in ("explicit", "rkl2", "adi", "exact")),
        *((stepper, {"watts": "2*t", "on": [0.5, 2.5]}) for stepper in ("explicit", "rkl2", "adi")),
        *((stepper, {"power": "1e5*(320 - T)", "on": [0.5]}) for stepper in ("explicit", "rkl2", "adi")),
    ],
)
def test_a_mask_of_a_rectangle_is_that_rectangle(
    stepper: str, power: dict[str, Any], backend: Backend, tmp_path: Path
) -> None:
    cells = np.zeros((NY, NX))
    cells[2:4, 3:7] = 7.0
    np.save(tmp_path / "mask.npy", cells)
    device = {"device": backend.name}
    time = {"stepper": stepper, "end": 3.0} | ({"dt": 0.5} if backend.name == "cudasim" else {})
    if stepper == "explicit" and backend.name == "cudasim":
        time |= {"dt": 0.75, "end": 3.0}
    a = run(tmp_path, "a", {**RECTANGLE, **power}, run=device, time=time)
    b = run(tmp_path, "b", {**MASK, **power}, run=device, time=time)
    np.testing.assert_allclose(fields(b), fields(a), rtol=1e-9 if "dt" not in time else 1e-13, atol=0)
    ours, its = (each.results["energy"]["sources"]["source1"] for each in (b, a))
    assert ours == pytest.approx(its, rel=1e-6 if "T" in str(power) else 1e-12)


def test_random_cells_against_a_method_of_lines(tmp_path: Path) -> None:
    """Own finite volumes with held and convective edges, by Radau's method in SciPy."""
    cells = random_mask()
    np.save(tmp_path / "mask.npy", cells)
    source = {**MASK, "power": "4e6*(1 + sin(3*t)) - 2e4*(T - 300)", "on": [[0.4, 1.9]], "name": "s"}
    boundary = {
        "left": {"kind": "temperature", "value": 310.0},
        "top": {"kind": "convection", "h": 800.0, "ambient": 290.0},
    }
    found = run(tmp_path, "run", source, boundary=boundary, output={"every": 1.0}, time={"tolerance": 1e-6})
    dx, dy, k, rho_c = LX / NX, LY / NY, 20.0, 1e6

    def rate(t: float, flat: np.ndarray) -> np.ndarray:
        T = flat.reshape(NY, NX)
        x = np.diff(T, axis=1, prepend=np.nan, append=np.nan) * k / dx
        x[:, 0], x[:, -1] = (T[:, 0] - 310.0) * 2 * k / dx, 0.0
        y = np.diff(T, axis=0, prepend=np.nan, append=np.nan) * k / dy
        y[0], y[-1] = 0.0, (290.0 - T[-1]) / (1 / 800.0 + dy / (2 * k))
        q = cells * (4e6 * (1 + np.sin(3 * t)) - 2e4 * (T - 300)) * (0.4 <= t < 1.9)
        return ((np.diff(x, axis=1) / dx + np.diff(y, axis=0) / dy + q) / rho_c).ravel()

    T, expected = np.full(NY * NX, 300.0), [np.full((NY, NX), 300.0)]
    for a, b in ((0.0, 0.4), (0.4, 1.0), (1.0, 1.9 - 1e-13), (1.9, 2.0), (2.0, 3.0)):
        T = solve_ivp(rate, (a, b), T, "Radau", rtol=1e-9, atol=1e-9).y[:, -1]
        if b in (1.0, 2.0, 3.0):
            expected.append(T.reshape(NY, NX))
    assert np.abs(fields(found) - np.array(expected)).max() < 3e-6 * np.ptp(expected)
    assert np.ptp(expected) > 5


@pytest.mark.parametrize("picture", [False, True])
def test_watts_are_of_all_marked_cells(picture: bool, tmp_path: Path) -> None:
    cells = random_mask()
    source = {**MASK, "watts": 3.0, "on": [[0.5, 2.0]], "name": "heater"}
    if picture:  # of twice the grid's pixels, top row first
        pixels = np.repeat(np.repeat(cells[::-1], 2, axis=0), 2, axis=1)
        Image.fromarray((pixels * 255).astype(np.uint8)).save(tmp_path / "mask.png")
        source["file"] = "mask.png"
    else:
        np.save(tmp_path / "mask.npy", cells)
    found = run(tmp_path, "run", source, material={"conductivity": 1e-9}, time={"stepper": "explicit"})
    assert found.results["energy"]["sources"]["heater"] == pytest.approx(4.5, rel=1e-12)
    rise = 4.5 / (cells.sum() * (LX / NX) * (LY / NY) * 2e-3 * 1e6)
    np.testing.assert_allclose(fields(found)[-1], 300 + rise * cells, rtol=1e-9)


def test_what_is_wrong_with_a_mask_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.zeros((NX, NY)))
    with pytest.raises(ScenarioError) as caught:
        run(tmp_path, "run", {**MASK, "power": 1.0})
    assert "mask.npy holds float64 of shape (11, 7), needed are (ny, nx) = (7, 11)" in caught.value.report
    with pytest.raises(ScenarioError) as caught:
        run(tmp_path, "run", {**MASK, "file": "no.npy", "power": 1.0})
    assert "no such file: 'no.npy'" in caught.value.report
    np.save(tmp_path / "mask.npy", np.zeros((NY, NX)))
    found = run(tmp_path, "empty", {**MASK, "watts": 1.0})
    assert found.summary["warnings"] == ["the source source1 heats nothing: mask.npy marks no cell"]
    np.save(tmp_path / "mask.npy", np.ones((NY, NX)))
    held = {"shape": "rectangle", "x": [0.0, 0.0549], "y": [0.0, 1.0], "temperature": 300.0}
    found = run(tmp_path, "held", {**MASK, "watts": 1.0}, region=[held])
    assert any("45.5 % of the watts of the source source1 are lost" in text for text in found.summary["warnings"])


def test_a_marked_function_and_its_bounds() -> None:
    """Bounds in random boxes enclose the values at random points in them, and are met where the cells are all alike."""
    random = np.random.default_rng(3)
    cells = random_mask(8)
    mark = marked(cells, LX / NX, LY / NY)
    f = Expression.from_tree(mark, VARIABLES)
    assert f.names == {"x", "y"}
    x, y = (np.arange(NX) + 0.5) * LX / NX, ((np.arange(NY) + 0.5) * LY / NY)[:, None]
    assert np.array_equal(f(x=x, y=y) != 0, cells)
    assert f != Expression.from_tree(marked(~cells, LX / NX, LY / NY), VARIABLES)
    for _ in range(200):
        (x0, x1), (y0, y1) = np.sort(random.uniform(0, LX, 2)), np.sort(random.uniform(0, LY, 2))
        lower, upper = bounds_within(f.tree, {"x": (x0, x1), "y": (y0, y1)})
        xs, ys = np.meshgrid(np.linspace(x0, x1, 57), np.linspace(y0, y1, 57))
        seen = f(x=xs, y=ys)
        assert (lower, upper) == (seen.min(), seen.max())


def test_pictures_outline_what_is_marked(tmp_path: Path) -> None:
    cells = np.zeros((NY, NX))
    cells[2:4, 3:7] = 1
    np.save(tmp_path / "mask.npy", cells)
    table = {"solver": "heat", "grid": GRID, "material": MATERIAL, "source": [{**MASK, "power": 1.0}]}
    model = load_table({**table, "time": {"end": 1.0}}, tmp_path / "x.toml").model
    marks = plate_of(model, tmp_path).marked
    assert np.array_equal(marks["source"], cells == 1)
    assert not marks["region"].any()
    ax = Figure().subplots()
    assert [line.get_label() for line in draw_outlines(ax, model, domain_of(model), marks)] == ["heat source"]
    (outline,) = ax.collections
    xs, ys = np.concatenate([path.vertices for path in outline.get_paths()]).T
    assert (xs.min(), xs.max(), ys.min(), ys.max()) == pytest.approx((3.0, 7.0, 2.0, 4.0))  # cm
