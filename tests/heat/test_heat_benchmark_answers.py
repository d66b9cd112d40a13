"""The answers that simsuite/verify/benchmarks expect: figures against series and closed forms in `heat_series`,
reference solutions against the equation, the edges and the initial state of their file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import heat_series as series
import numpy as np
import pytest
from heat_benchmarks import FILES, ROOT, allowed, model_of
from scipy.integrate import quad

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat import HeatScenario, Periodic
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, TEMPERATURE, Piece
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN
from simsuite.solvers.heat.statement import discretise

STEEL = 45.0 / (7800.0 * 470.0)
LAYERS = [0.10 / 0.72, 0.05 / 0.04, 0.05 / 0.17]
FLOW = 30.0 / sum(LAYERS)


def _bar(x: float) -> float:
    return series.driven_bar(x, 32.0, 0.1, 35.0 / (7200.0 * 440.5), math.pi / 40)


def _laser(x: float, y: float) -> float:
    power = 1e5 / (7800.0 * 470.0)
    return 293.0 + series.moving_spot(x, y, 8.0, lambda s: 0.06 + 0.01 * s, 0.003, power, STEEL)


def _heater() -> float:
    """20 °C and what came of 10 W between 20 s and 60 s, with ramps of 10 s, by quadrature."""
    capacity, tau = 8960.0 * 385.0 * 0.04 * 0.03 * 0.002, 8960.0 * 385.0 * 0.002 / (2 * 100.0)

    def heat(s: float) -> float:
        power = 10.0 * (min(max((s - 20) / 10, 0.0), 1.0) - min(max((s - 60) / 10, 0.0), 1.0))
        return power * math.exp(-(65.0 - s) / tau) / capacity

    return 20.0 + sum(quad(heat, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in ((20, 30), (30, 60), (60, 65)))


def _radiating() -> float:
    return series.radiating_end(1000.0, 300.0, 55.6, 0.1, 0.98, STEFAN_BOLTZMANN)


# What each figure is, evaluated here, and to how much the file's digits agree.
ANSWERS: dict[tuple[str, str], tuple[Callable[[], float], float]] = {
    ("nafems_t2", "target"): (_radiating, 5e-2),
    ("nafems_t2", "middle"): (lambda: (1000.0 + _radiating()) / 2, 1e-9),
    ("nafems_t3", "target"): (lambda: _bar(0.08), 1e-7),
    ("nafems_t3", "x2cm"): (lambda: _bar(0.02), 1e-7),
    ("nafems_t3", "x4cm"): (lambda: _bar(0.04), 1e-7),
    ("nafems_t3", "x6cm"): (lambda: _bar(0.06), 1e-7),
    ("nafems_t3", "x9cm"): (lambda: _bar(0.09), 1e-7),
    ("nafems_t4", "target"): (lambda: series.nafems_t4(0.6, 0.2), 1e-8),
    ("nafems_t4", "inner"): (lambda: series.nafems_t4(0.0, 0.5), 1e-8),
    ("cooled_square", "centre"): (lambda: series.cooled_square(0.5, 0.5, 0.05), 1e-12),
    ("cooled_square", "quarter"): (lambda: series.cooled_square(0.25, 0.25, 0.05), 1e-12),
    ("cooled_square", "side"): (lambda: series.cooled_square(0.5, 0.25, 0.05), 1e-12),
    ("gaussian", "peak"): (lambda: 5.0 / 9.0, 1e-15),
    ("thermal_shock", "inner"): (lambda: series.shocked_slab(0.2, 0.2), 1e-7),
    ("thermal_shock", "outer"): (lambda: series.shocked_slab(0.8, 0.2), 1e-7),
    ("layered_slab", "brick"): (lambda: 20.0 - FLOW * LAYERS[0] / 2, 1e-11),
    ("layered_slab", "insulation"): (lambda: 20.0 - FLOW * (LAYERS[0] + LAYERS[1] / 2), 1e-11),
    ("layered_slab", "plaster"): (lambda: -10.0 + FLOW * LAYERS[2] / 2, 1e-11),
    ("uniform_source", "centre"): (lambda: series.heated_square(0.5, 0.5), 1e-12),
    ("hot_side", "centre"): (lambda: series.hot_side(0.5, 0.5), 1e-12),
    ("hot_side", "above"): (lambda: series.hot_side(0.5, 0.75), 1e-11),
    ("hot_side", "above_left"): (lambda: series.hot_side(0.25, 0.75), 1e-11),
    ("hot_side", "below"): (lambda: series.hot_side(0.5, 0.25), 1e-12),
    ("hot_side", "below_left"): (lambda: series.hot_side(0.25, 0.25), 1e-12),
    ("arpaci_variable_conductivity", "hottest"): (lambda: series.linear_conductivity(0.0, 2, 0.01, 5, 10), 1e-9),
    ("arpaci_variable_conductivity", "middle"): (lambda: series.linear_conductivity(5.0, 2, 0.01, 5, 10), 1e-9),
    ("holman_flux", "deep"): (lambda: 35 + series.half_space_flux(0.025, 30.0, 3.2e5, 45.0, 1.4e-5), 5e-8),
    ("holman_surface", "deep"): (lambda: 35 + 215 * series.half_space_step(0.025, 30.0, 1.4e-5), 5e-8),
    ("incropera_burial_depth", "main"): (
        lambda: 20 - 35 * series.half_space_step(0.676961854, 60 * 86400.0, 0.138e-6),
        1e-7,
    ),
    ("plane_wall", "middle"): (lambda: series.plane_wall(0.0, 0.5, 1.0), 1e-10),
    ("plane_wall", "surface"): (lambda: series.plane_wall(1.0, 0.5, 1.0), 1e-10),
    ("barenblatt", "centre"): (lambda: 1 / math.sqrt(3.0), 1e-15),
    ("flux_plate", "hot_corner"): (lambda: 300 + 2e4 / (45 * math.pi) * math.tanh(math.pi / 2), 1e-9),
    ("pipe_in_plate", "between"): (lambda: 80 - 60 * math.log(2.5) / math.log(4.5), 1e-9),
    ("heater", "plate"): (_heater, 1e-10),
    ("moving_laser", "spot"): (lambda: _laser(0.14, 0.0), 1e-8),
    ("moving_laser", "behind"): (lambda: _laser(0.12, 0.0), 1e-8),
    ("moving_laser", "aside"): (lambda: _laser(0.13, 0.01), 1e-8),
}


def test_every_figure_is_evaluated_here() -> None:
    assert {(name, p.name) for name in FILES for p in model_of(name).probe} == ANSWERS.keys()


@pytest.mark.parametrize(("name", "key"), ANSWERS)
def test_published_figures_follow_from_series(name: str, key: str) -> None:
    answer, digits = ANSWERS[name, key]
    expected, _ = allowed(name)[key]
    assert expected == pytest.approx(answer(), rel=0, abs=digits)


def test_series_agree_with_printed_tables() -> None:
    """Incropera, Fundamentals of Heat and Mass Transfer, table 5.1 (its four digits), and figures of books."""
    table = {
        0.1: (0.3111, 1.0161),
        0.5: (0.6533, 1.0701),
        1: (0.8603, 1.1191),
        2: (1.0769, 1.1785),
        10: (1.4289, 1.2620),
    }
    for biot, (zeta, coefficient) in table.items():
        root = series.wall_roots(biot, 1)
        assert root[0] == pytest.approx(zeta, abs=5.1e-5)
        assert series.wall_coefficients(root)[0] == pytest.approx(coefficient, abs=6e-5)
    assert _bar(0.08) == pytest.approx(36.60, abs=5e-3)  # NAFEMS T3
    assert _radiating() == pytest.approx(927.0, abs=5e-2)  # NAFEMS T2
    assert series.nafems_t4(0.6, 0.2) == pytest.approx(18.3, abs=5e-2)  # NAFEMS T4
    assert 35 + series.half_space_flux(0.025, 30.0, 3.2e5, 45.0, 1.4e-5) == pytest.approx(79.3, abs=5e-2)  # Holman 4-2
    assert 35 + 215 * series.half_space_step(0.025, 30.0, 1.4e-5) == pytest.approx(118.5, abs=5e-2)  # Holman 4-2
    assert series.half_space_step(0.68, 60 * 86400.0, 0.138e-6) == pytest.approx(20 / 35, abs=3e-3)  # Incropera 5.6


# --- reference solutions ----------------------------------------------------------------------------------------------

REFERENCES = [name for name in FILES if (r := model_of(name).reference) is not None and not r.manufactured]


def in_space(model: HeatScenario) -> Discretisation:
    mistakes: list[Mistake] = []
    made = discretise(model, ROOT, mistakes)
    assert not mistakes
    return made


def slope(f: Callable[[Any], np.ndarray], at: Any, h: float) -> np.ndarray:
    """Derivative of f, fourth order (central differences)."""
    return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h)


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_solves_the_equation_of_its_file(name: str) -> None:
    """ρc ∂T/∂t = ∂x(k ∂x T) + ∂y(k ∂y T) + q in the cell centres, by differences over a small part of a cell."""
    model = model_of(name)
    made, T = in_space(model), _reference(model)
    x, y = np.broadcast_arrays(*made.centres)
    hx, hy, t = 1e-3 * made.dx, 1e-3 * made.dy, 0.6 * (model.time.end or 1.0)

    def flux_x(at: np.ndarray) -> np.ndarray:
        return _conductivity(made, T(at, y, t), 0) * slope(lambda s: T(s, y, t), at, hx)

    def flux_y(at: np.ndarray) -> np.ndarray:
        return _conductivity(made, T(x, at, t), 1) * slope(lambda s: T(x, s, t), at, hy)

    along_x, along_y = slope(flux_x, x, hx), slope(flux_y, y, hy)
    heating = made.rho_c * slope(lambda s: T(x, y, s), t, 1e-3 * t)
    q = sum((made.source(i, t, T(x, y, t)) for i in range(len(made.sources))), np.zeros(x.shape))
    scale = np.max(np.abs(np.where(made.held, 0.0, along_x))) + np.max(np.abs(np.where(made.held, 0.0, along_y)))
    residual = np.where(made.held | _kinked(T, x, y, t, hx, hy), 0.0, heating - along_x - along_y - q)
    assert np.max(np.abs(residual)) <= 2e-6 * scale


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_fits_the_edges_and_the_initial_state_of_its_file(name: str) -> None:
    model = model_of(name)
    made, T = in_space(model), _reference(model)
    x, y = made.centres
    size = float(np.max(np.abs(T(x, y, 0.0))))
    if not model.time.steady:
        assert np.max(np.abs(made.T0 - T(x, y, 0.0))) <= 1e-13 * size
    free = [piece for piece in made.edges.pieces if not made.held[_cells(piece, made.ny, made.nx)].any()]
    for t in np.array([0.1, 0.5, 1.0]) * (model.time.end or 1.0):
        for piece in free:
            assert np.max(np.abs(_mismatch(made, piece, T, t))) <= 1e-7 * size, (piece.path, t)


def _reference(model: HeatScenario) -> Callable[[Any, Any, Any], np.ndarray]:
    assert model.reference is not None
    f: Expression = model.reference.temperature
    return lambda x, y, t: np.asarray(f(x=x, y=y, t=t))


def _kinked(T: Callable[..., np.ndarray], x: np.ndarray, y: np.ndarray, t: float, hx: float, hy: float) -> np.ndarray:
    """Where it is nothing on one side of the differences and something on the other: on the rim of a front."""
    ways = [(4, 0, 0), (-4, 0, 0), (0, 4, 0), (0, -4, 0), (0, 0, 2), (0, 0, -2)]
    nothing = [T(x + i * hx, y + j * hy, t + k * 1e-3 * t) == 0.0 for i, j, k in ways]
    return np.any(nothing, axis=0) & ~np.all(nothing, axis=0)


def _conductivity(made: Discretisation, T: np.ndarray, axis: int) -> np.ndarray:
    """Of the cells if they were at temperatures T."""
    if made.law is None:
        return (made.kx, made.ky)[axis]
    x, y = made.centres
    law = (made.law.along_x, made.law.along_y)[axis]
    return law(x=x, y=y, T=T, k=(made.kx, made.ky)[axis], which=made.law.which)


def _cells(piece: Piece, ny: int, nx: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the cells at an edge."""
    rows, columns = np.arange(len(piece.points)), np.arange(len(piece.points))
    return {
        "left": (rows, 0 * rows),
        "right": (rows, 0 * rows + nx - 1),
        "bottom": (0 * rows, columns),
        "top": (0 * rows + ny - 1, columns),
    }[str(piece.path[1])]


def _mismatch(made: Discretisation, piece: Piece, T: Callable[..., np.ndarray], t: float) -> np.ndarray:
    """How far the solution is from the condition of an edge: in K, for fluxes over half the domain."""
    edge = str(piece.path[1])
    first, second = (f(x=piece.x, y=piece.y, t=t) for f in (piece.first, piece.second))
    at_edge = T(piece.x, piece.y, t)
    if piece.kind == TEMPERATURE:
        return at_edge - first
    across_x = edge in ("left", "right")
    cells = _cells(piece, made.ny, made.nx)
    k = (made.kx if across_x else made.ky)[cells]
    k = np.where(k > 0, k, 1.0)
    if across_x:
        gradient = slope(lambda s: T(s, piece.y, t), piece.x, 0.01 * made.dx)
    else:
        gradient = slope(lambda s: T(piece.x, s, t), piece.y, 0.01 * made.dy)
    outwards = 1.0 if edge in ("right", "top") else -1.0
    if isinstance(piece.condition, Periodic):
        other = {"left": (made.nx * made.dx, 0.0), "bottom": (0.0, made.ny * made.dy)}.get(edge, (0.0, 0.0))
        return at_edge - T(piece.x + other[0], piece.y + other[1], t)
    assert piece.kind in (FLUX, CONVECTION)
    wanted = first if piece.kind == FLUX else first * (second - at_edge)
    return (k * gradient * outwards - wanted) / k * (made.nx * made.dx if across_x else made.ny * made.dy)
