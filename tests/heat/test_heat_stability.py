"""The bounds that steps are chosen by, against eigenvalues of the independent operator's matrix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import heat_plates
import numpy as np
import pytest
from heat_worlds import INSULATE, LENGTHS, PERIODIC, grid, plate

SHAPES = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (4, 5)]


def matrix(model: heat_plates.Plate) -> np.ndarray:
    """A of dT/dt = A T + b, column by column, without the cells that are held."""
    shape = model.held.shape
    b = heat_plates.flows(model, np.zeros(shape), 0.0).rate.ravel()
    columns = [heat_plates.flows(model, e.reshape(shape), 0.0).rate.ravel() - b for e in np.eye(model.held.size)]
    free = np.flatnonzero(~model.held.ravel())
    return np.stack(columns, axis=1)[np.ix_(free, free)]


def random_boundary(rng: np.random.Generator) -> dict[str, Any]:
    conditions = [
        {"kind": "temperature", "value": 3.0},
        INSULATE,
        {"kind": "convection", "h": float(10 ** rng.uniform(-1, 4)), "ambient": 1.0},
        {"kind": "flux", "value": 2.0},
    ]
    boundary = {edge: conditions[rng.integers(4)] for edge in heat_plates.EDGES}
    for pair in (("left", "right"), ("bottom", "top")):
        if rng.random() < 0.25:
            boundary |= dict.fromkeys(pair, PERIODIC)
    return boundary


@pytest.mark.parametrize("what", ["uniform", "fields", "held", "feedback"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_bounds_hold_and_are_no_idle_ones(
    heat: Callable, tmp_path: Path, shape: tuple[int, int], what: str
) -> None:
    """fastest: at least the largest eigenvalue, at most twice that. loss: the largest entry of the diagonal."""
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, *shape])
        boundary, held = random_boundary(rng), np.zeros(shape, bool)
        kx, ky, rho = 10 ** rng.uniform(-1, 1, (3, *shape))
        if what == "uniform":
            kx, ky, rho = (np.full(shape, a.flat[0]) for a in (kx, ky, rho))
        sections: dict[str, Any] = {"grid": grid(shape), "boundary": boundary}
        for name, values in (("kx", kx), ("ky", ky), ("rho", rho)):
            np.save(tmp_path / f"{name}.npy", values)
        conductivity = [{"file": "kx.npy"}, {"file": "ky.npy"}]
        sections["material"] = {"conductivity": conductivity, "density": {"file": "rho.npy"}, "specific_heat": 1.0}
        if what == "uniform":
            k = [float(kx.flat[0]), float(ky.flat[0])]
            sections["material"] = {"conductivity": k, "density": float(rho.flat[0]), "specific_heat": 1.0}
        if what == "held":
            held = rng.random(shape) < 0.3
            np.save(tmp_path / "held.npy", held)
            sections["region"] = [{"shape": "mask", "file": "held.npy", "temperature": 5.0}]
        sources = ["30*(2 - T)"] if what == "feedback" else []
        sections["source"] = [{"power": text} for text in sources]
        by_cell = [lambda y, x, T, k=k: float(k[y, x]) for k in (kx, ky)]
        model = plate(boundary, sources, *by_cell, rho, held)
        assert model.lengths == LENGTHS
        if held.all():
            continue
        A = matrix(model)
        if not A.any():
            continue
        largest, diagonal = -np.linalg.eigvals(A).real.min(), -np.diag(A).min()
        fastest, loss = heat(**sections, time={"end": 1e-3}).made.rates([0.0])
        assert largest <= fastest * (1 + 1e-9)
        if what == "feedback":  # of which the largest anywhere counts
            assert diagonal <= loss * (1 + 1e-6)
        else:
            assert fastest <= 2 * largest * (1 + 1e-9)
            assert loss == pytest.approx(diagonal, rel=1e-9)
        compared += 1
    assert compared > 2


def test_sources_drive_temperatures_one_way_and_each_cell_by_its_own_capacity(heat: Callable) -> None:
    """What heats no cell cools it, and the largest power beside the smallest capacity is none that a cell has."""
    made = heat(
        material={"conductivity": "exp(-0.01*T)", "density": "where(x > 0.5, 10, 1)", "specific_heat": 1.0},
        source=[{"power": "1000*(x > 0.5)"}, {"power": "-3*(x < 0.5)*(t < 7)"}],
        initial={"temperature": 300.0},
        boundary={"left": {"kind": "temperature", "value": 290.0}, "top": {"kind": "flux", "value": 0.0}},
        time={"end": 2.0},
    ).made
    assert made.reach([0.0], 2.0) == pytest.approx((290.0 - 3 * 2.0, 300.0 + 100 * 2.0))
    assert made.rates([0.0], 2.0)[0] < 2 * made.rates([0.0])[0]


@pytest.mark.parametrize("seed", range(8))
def test_held_cells_do_not_shorten_stable_steps(heat: Callable, seed: int) -> None:
    """The bound beside the exact limit, 2 over the largest eigenvalue of the free cells, on random plates with a held
    block: it is never longer, and not a half of it, as it was when held neighbours counted like free ones."""
    rng = np.random.default_rng(seed)
    nx, ny = (int(n) for n in rng.integers(3, 14, 2))
    column, row = int(rng.integers(nx)), int(rng.integers(ny))
    region = {"shape": "rectangle", "temperature": 400.0}
    region |= {"x": [column / nx, (column + int(rng.integers(1, 3))) / nx], "y": [row / ny, (row + 1) / ny]}
    periodic = {edge: {"kind": "periodic"} for edge in ("left", "right")} if seed % 2 else {}
    boundary = periodic | {"bottom": {"kind": "temperature", "value": 300.0}}
    plate = {"grid": {"nx": nx, "ny": ny, "lx": 1.0, "ly": 1.0}, "boundary": boundary}
    made = heat(**plate, region=[region], time={"end": 1e-6, "stepper": "adi"}).made
    fastest, _ = made.rates((0.0,))
    gx, gy = made.faces()
    wrap = bool(periodic)
    free = np.argwhere(~np.broadcast_to(made.held, (ny, nx)))
    number = {tuple(cell): i for i, cell in enumerate(free)}
    matrix = np.zeros((len(free), len(free)))
    for (y, x), i in number.items():
        for g, other in (
            (gx[y, x], (y, (x - 1) % nx if wrap else x - 1)),
            (gx[y, x + 1], (y, (x + 1) % nx if wrap else x + 1)),
            (gy[y, x], (y - 1, x)),
            (gy[y + 1, x], (y + 1, x)),
        ):
            inside = 0 <= other[0] < ny and 0 <= other[1] < nx
            if inside and other != (y, x):
                matrix[i, i] += g
                if other in number:
                    matrix[i, number[other]] -= g
            elif other[0] == -1:
                matrix[i, i] += 2 * g  # the edge lies half a cell away
    largest = float(np.linalg.eigvals(matrix).real.max())
    assert largest <= fastest * (1 + 1e-12)
    assert fastest < 1.35 * largest
