"""Every file in simsuite/verify/benchmarks: it comes as close to the published answer as it says, and closer on finer
grids.

That the answers themselves are right is the matter of `test_heat_benchmark_answers`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import heat_series as series
import numba
import numpy as np
import pytest
from heat_benchmarks import ERROR, FILES, ROOT, Found, allowed, coarser, model_of, run

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

# What is exact on any grid: then finer ones are no closer. Elsewhere errors fall by 4, or by what is said here.
EXACT = {
    ("nafems_t2", "target"),
    ("nafems_t2", "middle"),
    ("layered_slab", "brick"),
    ("layered_slab", "insulation"),
    ("layered_slab", "plaster"),
    ("hot_side", "centre"),
    ("arpaci_variable_conductivity", "hottest"),
    ("heater", "plate"),
}
FALLS_BY = {("barenblatt", ERROR): 2.3, ("pipe_in_plate", ERROR): 1.5, ("pipe_in_plate", "between"): 1.0}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    numba.set_num_threads(1)


@functools.cache
def found(name: str, factor: int) -> Found:
    """The benchmark on cells that are `factor` times as wide as its own, by the stepper that it takes on its own."""
    model = model_of(name)
    if not model.time.steady:
        problem = HeatProblem.from_scenario(model, ROOT)
        stepper = "auto" if problem.adaptive else problem.method["stepper"]
        model = model.model_copy(update={"time": model.time.model_copy(update={"stepper": stepper})})
    return run(coarser(model, factor))


def deviations(name: str, factor: int) -> dict[str, float]:
    return {key: abs(found(name, factor).figures[key] - expected) for key, (expected, _) in allowed(name).items()}


@pytest.mark.parametrize("name", FILES)
def test_it_says_what_is_right_and_why(name: str) -> None:
    text = FILES[name].read_text(encoding="utf-8")
    comment = text[: text.index('solver = "heat"')]
    assert all(line.startswith("#") for line in comment.splitlines())
    assert "# Source: " in comment
    assert "# Tolerance: " in comment
    figures = allowed(name)
    assert figures
    assert all(expected is not None and within for expected, within in figures.values())


@pytest.mark.parametrize("name", FILES)
def test_figures_come_out_as_close_as_the_file_says(name: str) -> None:
    off = deviations(name, 1)
    for key, (_, within) in allowed(name).items():
        assert off[key] <= within, key
        if (name, key) not in EXACT:
            assert off[key] >= within / 4, f"{key}: the tolerance is generous"


@pytest.mark.parametrize("name", FILES)
def test_finer_cells_are_closer(name: str) -> None:
    near, far = deviations(name, 1), deviations(name, 2)
    for key, (_, within) in allowed(name).items():
        if (name, key) in EXACT:
            assert max(near[key], far[key]) <= within, key
        else:
            assert far[key] >= FALLS_BY.get((name, key), 3.4) * near[key], key


# --- more than the files can say --------------------------------------------------------------------------------------

SQUARE = {"centre": (0.5, 0.5), "quarter": (0.25, 0.25), "side": (0.5, 0.25)}


def until(name: str, end: float) -> Mapping[str, float]:
    """The figures of a benchmark at another time."""
    model = coarser(model_of(name), 1)
    return run(model.model_copy(update={"time": model.time.model_copy(update={"end": end})})).figures


@pytest.mark.parametrize("end", [0.02, 0.1, 0.2])
def test_square_cools_as_in_the_table(end: float) -> None:
    figures = until("cooled_square", end)
    for key, (x, y) in SQUARE.items():
        assert figures[key] == pytest.approx(series.cooled_square(x, y, end), abs=1.2e-3)


@pytest.mark.parametrize(("end", "inner", "outer"), [(0.1, 8.0928628, 65.4776972), (2.0, 99.1291185, 99.7170334)])
def test_shock_goes_through_the_slab_as_in_the_table(end: float, inner: float, outer: float) -> None:
    figures = until("thermal_shock", end)
    assert figures["inner"] == pytest.approx(inner, abs=2e-2)
    assert figures["outer"] == pytest.approx(outer, abs=2e-2)


@pytest.mark.parametrize(
    ("name", "stepper"),
    [
        *(("nafems_t3", stepper) for stepper in ("explicit", "rkl2", "adi")),
        *(("cooled_square", stepper) for stepper in ("explicit", "rkl2", "adi", "exact")),
        *(("holman_flux", stepper) for stepper in ("explicit", "rkl2", "adi", "exact")),
        *(("barenblatt", stepper) for stepper in ("explicit", "rkl2", "adi")),
    ],
)
def test_every_stepper_finds_the_same(name: str, stepper: str) -> None:
    """On coarser cells, whose error is 4 times that of the file; explicit steps add one of their own."""
    model = coarser(model_of(name), 2)
    time = model.time.model_copy(update={"stepper": stepper, "tolerance": 1e-6})
    figures = run(model.model_copy(update={"time": time})).figures
    for key, (expected, within) in allowed(name).items():
        assert figures[key] == pytest.approx(expected, abs=(12 if stepper == "explicit" else 4) * within), key


def test_the_discrete_system_of_incropera_4_3() -> None:
    """A column, 1 m by 1 m, three sides at 500 K, air of 300 K at the fourth (h = 10, k = 1), on nodes 0.25 m apart, of
    which some are on the surface: the eight temperatures that the book prints solve the discrete equations.

    F. P. Incropera et al., Fundamentals of Heat and Mass Transfer, 6th ed., example 4.3. Nodes are cells here: those on
    the surface stand for half a cell, conduct half as much sideways, and lose h (T - 300) over Δ of height; the walls
    at 500 K are a whole cell away from the nodes beside them, not half of one, which h = 2k/Δ makes up for.
    """
    wall = {"kind": "convection", "h": "where(y < 0.25, 4, 8)", "ambient": 500.0}
    model = HeatScenario.model_validate(
        {
            "solver": "heat",
            "grid": {"nx": 3, "ny": 4, "lx": 0.75, "ly": 1.0},
            "material": {"diffusivity": ["where(y < 0.25, 0.5, 1)", 1.0]},
            "initial": {"temperature": 400.0},
            "boundary": {"left": wall, "right": wall, "top": wall | {"h": 8.0}},
            "source": [{"power": "where(y < 0.25, 40*(300 - T), 0)"}],
            "time": {"end": 20.0, "stepper": "explicit"},
            "output": {"frames": 2},
        }
    )
    T = run(model).temperature[::-1]
    printed = np.array([[489.30, 485.15], [472.07, 462.01], [436.95, 418.74], [356.99, 339.05]])
    assert np.abs(T[:, :2] - printed).max() <= 0.0051
    assert np.abs(T[:, 2] - T[:, 0]).max() <= 1e-9


def test_laser_leaves_all_its_heat_in_the_sheet() -> None:
    results = found("moving_laser", 1).results
    energy = results["energy"]
    assert energy["sources"]["laser"] == pytest.approx(8e5, rel=1e-12)
    assert energy["stored"] == pytest.approx(8e5, rel=1e-12)
    assert abs(energy["residual"]) <= 1e-12 * 8e5
    assert results["mean"] == pytest.approx(293 + 8e5 / (7800 * 470 * 0.02), rel=1e-13)


def test_rim_of_the_porous_blob_moves_to_its_place_and_nothing_is_lost() -> None:
    """π C r²/2 of it, with C = 1 and r = 4 at the start: 8π, up to what the middles of cells make of it."""
    blob = found("barenblatt", 1)
    made, T = blob.problem.made, blob.temperature
    x, y = made.centres
    r = np.hypot(x - 6.0, y - 6.0)
    rim = 4.0 * 3.0**0.25
    assert T.min() >= 0.0
    assert np.max(r[T > 1e-6]) == pytest.approx(rim, abs=2 * made.dx)
    assert T[r > rim + 3 * made.dx].max() < 1e-9
    start = float(np.sum(blob.problem.T0)) * made.dx * made.dy
    assert start == pytest.approx(8 * math.pi, rel=1e-3)
    assert float(np.sum(T)) * made.dx * made.dy == pytest.approx(start, rel=1e-13)


@pytest.mark.parametrize("name", FILES)
def test_docs_list_it(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
