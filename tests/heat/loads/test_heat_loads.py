"""Loads as people state them: watts in a shape, switched on and off; heat through the faces of a thin plate."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board import BOARD, solution
from hypothesis import given, settings
from hypothesis import strategies as st

import simsuite
from simsuite.errors import ScenarioError
from simsuite.expressions import Expression
from simsuite.scenario import load
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.heating import VARIABLES, _in_shape
from simsuite.scenario.heat.shapes import PolygonShape, outline_margin
from simsuite.solvers.heat.grid.shapes import inside_shape

STEEL = {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}
CPU = {"device": "cpu"}


def run(tmp_path: Path, table: dict[str, Any]) -> simsuite.Run:
    return simsuite.run({"solver": "heat", "run": CPU, **table}, directory=tmp_path / "run")


def test_a_circuit_board_against_a_method_of_lines(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    found = simsuite.run(
        tmp_path / "board.toml", set={"run.device": "cpu", "output.frames": 11}, directory=tmp_path / "r"
    )
    expected = solution([60.0, 120.0, 300.0, 600.0])
    fields = found.dataset["temperature"].values
    for k, T in zip((1, 2, 5, 10), expected):
        assert np.abs(fields[k] - T).max() < 1e-4 * np.ptp(expected[-1])
    for name, at in (("hottest", expected[-1].argmax()), ("coldest", expected[-1].argmin())):
        row, column = np.unravel_index(at, expected[-1].shape)
        place = found.results[name]
        assert (place["x"], place["y"]) == pytest.approx(((column + 0.5) * 1e-3, (row + 0.5) * 1e-3), abs=1e-12)
    energy = found.results["energy"]
    assert energy["sources"] == pytest.approx({"cpu": 4.5 * 540, "regulator": 1.5 * 240}, rel=1e-12)
    stored = 1900 * 1000 * 0.08 * 0.05 * 1.6e-3 * (expected[-1].mean() - 20)
    assert energy["stored"] == pytest.approx(stored, rel=1e-5)
    assert energy["surface"] == pytest.approx(stored - 4.5 * 540 - 1.5 * 240, rel=1e-4)
    assert abs(energy["residual"]) < 1e-9
    assert found.dataset["energy_surface"].attrs["units"] == "J"


@pytest.mark.parametrize("stepper", ["auto", "explicit", "rkl2", "adi"])
def test_a_plate_cools_through_its_faces_as_a_lump(stepper: str, tmp_path: Path) -> None:
    """Of uniform temperature it stays uniform: (T - a) falls by exp(-2 h t / (ρ c d))."""
    table = {
        "grid": {"nx": 7, "ny": 5, "lx": 0.07, "ly": 0.05, "thickness": 2e-3},
        "material": STEEL,
        "initial": {"temperature": 400.0},
        "surface": {"h": 50.0, "ambient": 300.0},
        "time": {"end": 60.0, "stepper": stepper, "tolerance": 1e-7, "dt": 0.01 if stepper == "explicit" else "auto"},
    }
    results = run(tmp_path, table).results
    rate = 2 * 50 / (7800 * 470 * 2e-3)
    left = (1 - 0.01 * rate) ** 6000 if stepper == "explicit" else math.exp(-60 * rate)
    assert results["min"] == pytest.approx(300 + 100 * left, abs=2e-5)
    assert results["max"] == pytest.approx(results["min"], abs=1e-9)
    lost = 7800 * 470 * 0.07 * 0.05 * 2e-3 * (results["mean"] - 400)
    assert results["energy"]["surface"] == pytest.approx(lost, rel=1e-9)


def test_a_plate_radiates_through_one_face(tmp_path: Path) -> None:
    """Into the cold: 1/T³ grows by 3 ε σ t / (ρ c d)."""
    table = {
        "grid": {"nx": 3, "ny": 2, "lx": 0.03, "ly": 0.02, "thickness": 1e-3},
        "material": STEEL,
        "initial": {"temperature": 1200.0},
        "surface": {"emissivity": 0.8, "ambient": 0.0, "faces": 1},
        "time": {"end": 100.0, "tolerance": 1e-7},
    }
    rate = 3 * 0.8 * 5.670374419e-8 / (7800 * 470 * 1e-3)
    expected = (1200.0**-3 + rate * 100) ** (-1 / 3)
    assert run(tmp_path, table).results["mean"] == pytest.approx(expected, rel=2e-7)


def test_a_fin_at_its_steady_state(tmp_path: Path) -> None:
    """θ = cosh(m (L - x)) / cosh(m L), m² = 2 h / (k d); F. P. Incropera et al., Fundamentals of Heat and Mass
    Transfer, section 3.6. The error falls by 4 where cells are halved."""
    L, h, k, d = 0.1, 100.0, 45.0, 4e-3
    m, errors = math.sqrt(2 * h / (k * d)), []
    for nx in (32, 64):
        table = {
            "grid": {"nx": nx, "ny": 1, "lx": L, "ly": 0.01, "thickness": d},
            "material": STEEL,
            "initial": {"temperature": 300.0},
            "boundary": {"left": {"kind": "temperature", "value": 400.0}},
            "surface": {"h": h, "ambient": 300.0},
            "time": {"steady": True},
        }
        found = simsuite.run({"solver": "heat", "run": CPU, **table}, directory=tmp_path / str(nx))
        x = (np.arange(nx) + 0.5) * L / nx
        exact = 300 + 100 * np.cosh(m * (L - x)) / math.cosh(m * L)
        errors.append(np.abs(found.dataset["temperature"].values[-1, 0] - exact).max())
        flow = found.results["energy"]
        assert flow["surface"] == pytest.approx(-flow["edges"]["left"], rel=1e-9)
        assert found.dataset["energy_surface"].attrs["units"] == "W"
    assert 3.7 < errors[0] / errors[1] < 4.3
    assert flow["edges"]["left"] == pytest.approx(k * d * 0.01 * 100 * m * math.tanh(m * L), rel=1e-3)


SHAPES = [
    {"shape": "rectangle", "x": [0.012, 0.0391], "y": [0.0113, 0.03]},
    {"shape": "circle", "center": [0.03, 0.02], "radius": 0.0107},
    {"shape": "polygon", "points": [[0.01, 0.01], [0.05, 0.012], [0.03, 0.037]]},
]


@pytest.mark.parametrize("cells", [(13, 9), (40, 31)])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["shape"])
@pytest.mark.parametrize(("when", "seconds"), [({}, 10.0), ({"on": [[2, 5], [7.5]]}, 5.5)])
def test_watts_are_these_watts_on_every_grid(
    cells: tuple[int, int], shape: dict[str, Any], when: dict[str, Any], seconds: float, tmp_path: Path
) -> None:
    table = {
        "grid": {"nx": cells[0], "ny": cells[1], "lx": 0.06, "ly": 0.04, "thickness": 1e-3},
        "material": STEEL,
        "source": [{**shape, **when, "watts": 3.0}],
        "time": {"end": 10.0},
    }
    energy = run(tmp_path, table).results["energy"]
    assert energy["stored"] == pytest.approx(3.0 * seconds, rel=1e-9)
    assert energy["sources"]["source1"] == pytest.approx(3.0 * seconds, rel=1e-12)


def test_a_ramp_takes_its_time(tmp_path: Path) -> None:
    """From each `from` and each `to` on, so that the energy is that of the interval without a ramp."""
    source = {"watts": 2.0, "on": [[1, 4], [6, 8]], "ramp": 1.5}
    table = {"grid": {"nx": 2, "ny": 2, "thickness": 0.01}, "material": STEEL, "source": [source], "time": {"end": 10}}
    model = load_table(table)
    power = model.heating[0].power
    t = np.array([0.0, 1.0, 1.75, 2.5, 3.9, 4.75, 5.5, 6.75, 7.9, 8.75, 9.5])
    share = [0, 0, 0.5, 1, 1, 0.5, 0, 0.5, 1, 0.5, 0]
    np.testing.assert_allclose(power(x=0.5, y=0.5, t=t, T=0.0) * 0.01, 2.0 * np.array(share), atol=1e-12)
    assert run(tmp_path, table).results["energy"]["stored"] == pytest.approx(2.0 * 5, rel=1e-9)


def test_power_and_watts_may_change(tmp_path: Path) -> None:
    shape = {"shape": "rectangle", "x": [0.0, 0.5], "y": [0.0, 1.0]}
    sources = [{**shape, "watts": "2*t", "name": "a"}, {**shape, "power": "100*t*x", "on": [[1, 2]], "name": "b"}]
    table = {"grid": {"nx": 8, "ny": 4, "thickness": 0.02}, "material": STEEL, "source": sources, "time": {"end": 3.0}}
    found = run(tmp_path, table).results["energy"]["sources"]
    assert found["a"] == pytest.approx(9.0, rel=1e-9)
    assert found["b"] == pytest.approx(100 * 1.5 * 0.125 * 0.02, rel=1e-9)


def load_table(table: dict[str, Any]) -> HeatScenario:
    from simsuite.scenario.load import load_table

    model: HeatScenario = load_table({"solver": "heat", **table}, Path("case.toml")).model
    return model


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 16)), min_size=3, max_size=9), st.booleans())
def test_a_polygon_has_the_cells_that_a_region_has(corners: list[tuple[int, int]], centred: bool) -> None:
    """Also where corners and sides lie on the centres of cells."""
    nx, ny, h = 12, 8, 0.01
    points = [[0.5 * h * (a + centred), 0.5 * h * (b + centred)] for a, b in corners]
    shape, margin = PolygonShape(shape="polygon", points=points), outline_margin(nx * h, ny * h)
    x, y = (np.arange(nx) + 0.5) * h, ((np.arange(ny) + 0.5) * h)[:, None]
    expected = inside_shape(x, y, shape, margin)
    f = Expression.from_tree(_in_shape(shape, margin), VARIABLES)
    np.testing.assert_array_equal(np.broadcast_to(f(x=x, y=y) != 0, (ny, nx)), expected)


def test_thickness_makes_energies_of_the_whole_plate(tmp_path: Path) -> None:
    table = {
        "grid": {"nx": 8, "ny": 8, "lx": 0.1, "ly": 0.1},
        "material": STEEL,
        "boundary": {"left": {"kind": "flux", "value": 1000.0}},
        "time": {"end": 10.0},
    }
    plain = simsuite.run({"solver": "heat", "run": CPU, **table}, directory=tmp_path / "plain")
    thick = {**table, "grid": {**table["grid"], "thickness": 0.004}}
    found = simsuite.run({"solver": "heat", "run": CPU, **thick}, directory=tmp_path / "thick")
    assert plain.results["energy"]["edges"]["left"] == pytest.approx(1000.0, rel=1e-12)
    assert found.results["energy"]["edges"]["left"] == pytest.approx(4.0, rel=1e-12)
    assert found.results["energy"]["stored"] == pytest.approx(4.0, rel=1e-12)
    assert [r.dataset["energy_left"].attrs["units"] for r in (plain, found)] == ["J m-1", "J"]
    np.testing.assert_array_equal(plain.dataset["temperature"], found.dataset["temperature"])


def test_a_run_of_the_board_that_is_stopped_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    keys = {"run.device": "cpu", "grid.nx": 20, "grid.ny": 12}
    whole = simsuite.run(tmp_path / "board.toml", set=keys, directory=tmp_path / "whole")
    for _ in range(4):
        cut = simsuite.run(tmp_path / "board.toml", set=keys, directory=tmp_path / "cut", max_minutes=1e-6)
        assert cut.summary["status"] == "stopped"
    cut = simsuite.run(tmp_path / "board.toml", set=keys, directory=tmp_path / "cut")
    assert cut.summary["status"] == "complete"
    np.testing.assert_array_equal(whole.dataset["temperature"], cut.dataset["temperature"])
    assert json.dumps(whole.results) == json.dumps(cut.results)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda"], indirect=True)
def test_a_circuit_board_on_a_gpu(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    found = [
        simsuite.run(tmp_path / "board.toml", set={"run.device": device}, directory=tmp_path / device)
        for device in ("cpu", "cuda")
    ]
    a, b = (each.dataset["temperature"].values for each in found)
    assert np.abs(a - b).max() < 2e-5 * np.ptp(a)
    assert found[1].results["energy"]["sources"] == pytest.approx(found[0].results["energy"]["sources"], rel=1e-12)


def test_the_resolved_scenario_loads_back(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    first = load(tmp_path / "board.toml")
    (tmp_path / "again.toml").write_text(first.resolved_toml(), encoding="utf-8")
    again = load(tmp_path / "again.toml")
    assert again.model == first.model
    assert again.model.heating == first.model.heating


def test_watts_in_held_cells_are_told_to_be_lost(tmp_path: Path) -> None:
    region = {"shape": "rectangle", "x": [0.0, 0.5], "y": [0.0, 1.0], "temperature": 300.0}
    source = {"shape": "rectangle", "x": [0.25, 0.75], "y": [0.0, 1.0], "watts": 8.0}
    table = {
        "grid": {"nx": 8, "ny": 4, "thickness": 0.01},
        "material": STEEL,
        "initial": {"temperature": 300.0},
        "region": [region],
        "source": [source],
        "time": {"end": 10.0},
    }
    found = run(tmp_path, table)
    told = "50 % of the watts of the source source1 are lost: 8 of its 16 cells"
    assert any(told in text for text in found.summary["warnings"])
    assert found.results["energy"]["source"] == pytest.approx(40.0, rel=1e-12)


FACES = {
    "grid": {"nx": 10, "ny": 40, "lx": 0.1, "ly": 0.1, "thickness": 0.002},
    "material": STEEL,
    "initial": {"temperature": 300.0},
    "time": {"end": 600.0},
}


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ({"emissivity": 0.8, "ambient": -20.0}, "`ambient` must not be below absolute zero, 0 K, but is -20"),
        ({"emissivity": 0.8, "ambient": "300 - 400*(t > 100)"}, "but is -100 at x = 0.005 m, y = 0.00125 m, t = 100 s"),
        ({"h": "20 - 30*(t > 5)", "ambient": 350.0}, "`h` must not be negative, but is -10"),
        ({"h": "-5 + 0*x", "ambient": 350.0}, "`h` must not be negative, but is -5"),
        ({"h": "1 - 11*x", "ambient": 350.0}, "`h` must not be negative"),
        ({"emissivity": "0.5 + 0.2*t", "ambient": 300.0}, "`emissivity` must be from 0 to 1"),
        ({"h": 5.0, "ambient": "300 + log(5 - t)"}, "`ambient` is not finite: it is nan"),
        ({"h": "1/(x - 0.005)", "ambient": 300.0}, "is not finite"),
    ],
)
def test_faces_are_checked_as_edges_are(surface: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        run(tmp_path, FACES | {"surface": surface})
    assert words in str(caught.value)
    assert len(caught.value.mistakes) == 1


def test_radiating_faces_need_kelvin(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    surface = {"emissivity": 0.5, "ambient": 300.0}
    with pytest.raises(ScenarioError, match="must not be below absolute zero, 0 K, but is -30"):
        run(tmp_path, FACES | {"surface": surface, "initial": {"temperature": -30.0}})
    run(tmp_path, FACES | {"surface": {"h": 5.0, "ambient": -20.0}})
    assert "surface.ambient = -20 K is below absolute zero" in caplog.text
