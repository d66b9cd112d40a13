"""Heat problems with everything in them, each as sections of a scenario and, written down again, as a `Plate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from heat_plates import Plate

LENGTHS = (0.7, 1.3)
NAMES = {name: getattr(math, name) for name in ("sin", "cos", "exp", "sqrt", "pi")}
INSULATE = {"kind": "insulated"}
PERIODIC = {"kind": "periodic"}

BOUNDARY = {
    "left": [
        {"kind": "temperature", "value": "300 + 40*y*sin(9*t)", "to": 0.6},
        {"kind": "convection", "h": "40 + 100*t", "ambient": "350 + 30*y", "from": 0.6},
    ],
    "right": {"kind": "radiation", "emissivity": "0.5 + 0.3*y", "ambient": "400 + 100*sin(40*t)"},
    "bottom": {"kind": "flux", "value": "2000*(x - 0.3*sin(t))"},
    "top": [
        {"kind": "insulated", "to": 0.2},
        {"kind": "radiation", "emissivity": 0.9, "ambient": 500.0, "from": 0.2, "to": 0.5},
        {"kind": "convection", "h": 25.0, "ambient": "300 + 10*cos(30*t)", "from": 0.5},
    ],
}
SOURCES = ["3000*x*y + 100", "5000*exp(-((x - 0.3*cos(t))**2 + (y - 0.6)**2)/0.1)", "20*(310 - T)*y"]


def call(text: str | float, **values: float) -> float:
    return float(text) if isinstance(text, (int, float)) else eval(text, NAMES | values)


def condition(edge: str, spec: Any) -> Callable[[float, float], dict[str, Any]] | None:
    """What a `Plate` takes for an edge of a scenario."""
    if spec == PERIODIC:
        return None
    pieces = spec if isinstance(spec, list) else [spec]

    def at(s: float, t: float) -> dict[str, Any]:
        piece = next(p for p in pieces if p.get("from", 0.0) <= s < p.get("to", math.inf))
        x, y = {"left": (0.0, s), "right": (LENGTHS[0], s), "bottom": (s, 0.0), "top": (s, LENGTHS[1])}[edge]
        values = {key: v for key, v in piece.items() if key not in ("from", "to", "kind")}
        return {"kind": piece["kind"]} | {key: call(v, x=x, y=y, t=t) for key, v in values.items()}

    return at


def source(text: str) -> Callable[[float, float, float, float], float]:
    return lambda x, y, t, T: call(text, x=x, y=y, t=t, T=T)


def plate(boundary: dict[str, Any], sources: list[str], kx: Any, ky: Any, rho_c: np.ndarray, held: np.ndarray) -> Plate:
    edges = {edge: condition(edge, boundary.get(edge, INSULATE)) for edge in ("left", "right", "bottom", "top")}
    return Plate(LENGTHS, kx, ky, rho_c, held, edges, [source(text) for text in sources])


def centres(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """x and y of all cells, (ny, nx) each."""
    ny, nx = shape
    return np.meshgrid((np.arange(nx) + 0.5) * LENGTHS[0] / nx, (np.arange(ny) + 0.5) * LENGTHS[1] / ny)


def grid(shape: tuple[int, int]) -> dict[str, Any]:
    return {"ny": shape[0], "nx": shape[1], "lx": LENGTHS[0], "ly": LENGTHS[1]}


def rectangle(x: np.ndarray, y: np.ndarray, a: float, b: float, c: float, d: float) -> np.ndarray:
    return (a <= x) & (x <= b) & (c <= y) & (y <= d)


def patchwork(shape: tuple[int, int], base: Path) -> tuple[dict[str, Any], Plate]:
    """Coefficients by the cell, different along x and y, regions of other materials, one held, all kinds of edges."""
    rng = np.random.default_rng(sum(shape))
    kx, ky, rho = rng.uniform(0.5, 20.0, (3, *shape))
    for name, values in (("kx", kx), ("ky", ky), ("rho", rho)):
        np.save(base / f"{name}.npy", values)
    sections = {
        "grid": grid(shape),
        "material": {
            "conductivity": [{"file": "kx.npy"}, {"file": "ky.npy"}],
            "density": {"file": "rho.npy"},
            "specific_heat": "2 + x",
        },
        "region": [
            {"shape": "circle", "center": [0.2, 0.9], "radius": 0.25, "conductivity": "1 + 5*y", "density": 4.0},
            {"shape": "rectangle", "x": [0.3, 0.6], "y": [0.2, 0.8], "temperature": "300 + 20*x"},
            {"shape": "rectangle", "x": [0.5, 0.7], "y": [0.1, 0.45], "specific_heat": 7.0},
        ],
        "boundary": BOUNDARY,
        "source": [{"power": text} for text in SOURCES],
    }
    x, y = centres(shape)
    in_circle, corner = np.hypot(x - 0.2, y - 0.9) <= 0.25, rectangle(x, y, 0.5, 0.7, 0.1, 0.45)
    held = rectangle(x, y, 0.3, 0.6, 0.2, 0.8) & ~corner
    kx, ky = (np.where(in_circle, 1 + 5 * y, k) for k in (kx, ky))
    rho_c = np.where(in_circle, 4.0, rho) * np.where(corner, 7.0, 2 + x)
    by_cell = [lambda row, column, T, k=k: float(k[row, column]) for k in (kx, ky)]
    return sections, plate(BOUNDARY, SOURCES, *by_cell, rho_c, held)


def glowing(shape: tuple[int, int], base: Path) -> tuple[dict[str, Any], Plate]:
    """Conductivities that depend on temperature, each region in its own way, and on the cell in the rest."""
    k = np.random.default_rng(sum(shape)).uniform(0.5, 3.0, shape)
    np.save(base / "k.npy", k)
    sections = {
        "grid": grid(shape),
        "material": {"conductivity": ["0.5 + 0.002*T", {"file": "k.npy"}], "density": 3.0, "specific_heat": 5.0},
        "region": [
            {"shape": "circle", "center": [0.5, 0.3], "radius": 0.3, "conductivity": "0.003*T*(1 + y)"},
            {"shape": "rectangle", "x": [0.0, 0.2], "y": [0.9, 1.3], "temperature": 320.0},
            {"shape": "rectangle", "x": [0.4, 0.7], "y": [0.7, 1.0], "conductivity": 2.5},
        ],
        "boundary": BOUNDARY,
        "source": [{"power": SOURCES[2]}, {"power": SOURCES[0]}],
    }
    x, y = centres(shape)
    circle, plain = np.hypot(x - 0.5, y - 0.3) <= 0.3, rectangle(x, y, 0.4, 0.7, 0.7, 1.0)
    held = rectangle(x, y, 0.0, 0.2, 0.9, 1.3)

    def along_x(row: int, column: int, T: float) -> float:
        if plain[row, column]:
            return 2.5
        return 0.003 * T * (1 + y[row, column]) if circle[row, column] else 0.5 + 0.002 * T

    def along_y(row: int, column: int, T: float) -> float:
        fixed = 2.5 if plain[row, column] else float(k[row, column])
        return 0.003 * T * (1 + y[row, column]) if circle[row, column] and not plain[row, column] else fixed

    return sections, plate(BOUNDARY, [SOURCES[2], SOURCES[0]], along_x, along_y, np.full(shape, 15.0), held)


def tube(shape: tuple[int, int], base: Path) -> tuple[dict[str, Any], Plate]:
    """Left and right are one, with a held region across the seam and a conductivity that depends on temperature."""
    boundary = {"left": PERIODIC, "right": PERIODIC, "bottom": BOUNDARY["bottom"]}
    boundary["top"] = {"kind": "radiation", "emissivity": 0.7, "ambient": "400 + 100*x"}
    sections = {
        "grid": grid(shape),
        "material": {"conductivity": "(0.5 + x)*sqrt(T/300)", "density": 3.0, "specific_heat": 5.0},
        "region": [
            {"shape": "rectangle", "x": [0.0, 0.15], "y": [0.4, 0.9], "temperature": 280.0},
            {"shape": "rectangle", "x": [0.6, 0.7], "y": [0.6, 1.1], "temperature": "300 + 10*y"},
        ],
        "boundary": boundary,
        "source": [{"power": SOURCES[1]}],
    }
    x, y = centres(shape)
    held = rectangle(x, y, 0.0, 0.15, 0.4, 0.9) | rectangle(x, y, 0.6, 0.7, 0.6, 1.1)

    def k(row: int, column: int, T: float) -> float:
        return float((0.5 + x[row, column]) * math.sqrt(T / 300))

    return sections, plate(boundary, [SOURCES[1]], k, k, np.full(shape, 15.0), held)


def torus(shape: tuple[int, int], base: Path) -> tuple[dict[str, Any], Plate]:
    """No edges at all, only a diffusivity by the cell and a held spot."""
    k = np.random.default_rng(sum(shape)).uniform(0.5, 3.0, shape)
    np.save(base / "k.npy", k)
    boundary = dict.fromkeys(("left", "right", "bottom", "top"), PERIODIC)
    sections = {
        "grid": grid(shape),
        "material": {"diffusivity": {"file": "k.npy"}},
        "region": [{"shape": "circle", "center": [0.0, 0.0], "radius": 0.2, "temperature": 290.0}],
        "boundary": boundary,
    }
    x, y = centres(shape)

    def by_cell(row: int, column: int, T: float) -> float:
        return float(k[row, column])

    return sections, plate(boundary, [], by_cell, by_cell, np.ones(shape), np.hypot(x, y) <= 0.2)


WORLDS = {"patchwork": patchwork, "glowing": glowing, "tube": tube, "torus": torus}
