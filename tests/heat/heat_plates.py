"""An independent heat equation on a grid, face by face from the definitions, in plain Python: for the solver's tests.

A face conducts through half a cell on each side, which are thermal resistances in series; an edge has a wall, whose
temperature follows from what its condition says; a held cell has the temperature of its own surface.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

SIGMA = 5.670374419e-8
EDGES = ("left", "right", "bottom", "top")
Conductivity = Callable[[int, int, float], float]  # of cell y, x at a temperature


@dataclass(frozen=True)
class Plate:
    """lengths: (lx, ly). kx, ky: functions of a cell and its temperature; rho_c, held: (ny, nx).

    edges: of each edge a function (distance along it, t) -> a condition with its values as numbers, or None if that
    direction is periodic. sources: functions of x, y, t, T.
    """

    lengths: tuple[float, float]
    kx: Conductivity
    ky: Conductivity
    rho_c: np.ndarray
    held: np.ndarray
    edges: dict[str, Callable[[float, float], dict[str, Any]] | None]
    sources: Sequence[Callable[[float, float, float, float], float]] = ()

    @property
    def deltas(self) -> tuple[float, float]:
        ny, nx = self.held.shape
        return self.lengths[0] / nx, self.lengths[1] / ny


@dataclass
class Flows:
    """dT/dt of all cells, K/s, and the powers that come in, W per metre of depth."""

    rate: np.ndarray
    edges: dict[str, float]
    sources: list[float]
    held: float

    def flat(self) -> np.ndarray:
        """The rates, then the powers: edges, sources, held cells."""
        return np.concatenate([self.rate.ravel(), [self.edges[e] for e in EDGES], self.sources, [self.held]])


def between(k: Conductivity, a: tuple, b: tuple, Ta: float, Tb: float, held: np.ndarray, delta: float) -> float:
    """Heat flux from cell a to its neighbour b, W/m²."""
    mean = 0.5 * (Ta + Tb)
    resistance = 0.0
    for cell in (a, b):
        if not held[cell]:
            conductivity = k(*cell, mean)
            if conductivity == 0.0:
                return 0.0
            resistance += 0.5 * delta / conductivity
    return 0.0 if resistance == 0.0 else (Ta - Tb) / resistance


def through_wall(spec: dict[str, Any], T: float, k: Callable[[float], float], delta: float) -> float:
    """Heat flux into a cell at temperature T whose wall is half a cell away, W/m². k: as a function of temperature."""
    if spec["kind"] == "flux":
        return spec["value"]
    if spec["kind"] == "temperature":
        return k(0.5 * (T + spec["value"])) * (spec["value"] - T) / (0.5 * delta)
    half = 0.5 * delta / k(T)
    if spec["kind"] == "convection":
        return 0.0 if spec["h"] == 0.0 else (spec["ambient"] - T) / (half + 1.0 / spec["h"])
    if spec["kind"] == "radiation":
        s, a = spec["emissivity"] * SIGMA, spec["ambient"]
        low, high = min(T, a) - 1e-6, max(T, a) + 1e-6
        wall = brentq(lambda W: s * (a**4 - W**4) - (W - T) / half, low, high, xtol=1e-300, rtol=1e-15)
        return (wall - T) / half
    return 0.0


def flows(plate: Plate, T: np.ndarray, t: float) -> Flows:
    """What the temperatures T, (ny, nx), lead to at time t."""
    ny, nx = T.shape
    dx, dy = plate.deltas
    heat = np.zeros((ny, nx))  # W per metre of depth, into each cell
    edges = dict.fromkeys(EDGES, 0.0)

    def exchange(k: Conductivity, a: tuple, b: tuple, delta: float, area: float) -> None:
        q = between(k, a, b, float(T[a]), float(T[b]), plate.held, delta) * area
        heat[a] -= q
        heat[b] += q

    for y in range(ny):
        for x in range(nx):
            if x + 1 < nx or plate.edges["left"] is None:
                exchange(plate.kx, (y, x), (y, (x + 1) % nx), dx, dy)
            if y + 1 < ny or plate.edges["bottom"] is None:
                exchange(plate.ky, (y, x), ((y + 1) % ny, x), dy, dx)
    for edge in EDGES:
        condition, vertical = plate.edges[edge], edge in ("left", "right")
        if condition is not None:
            k, delta, area = (plate.kx, dx, dy) if vertical else (plate.ky, dy, dx)
            for i in range(ny if vertical else nx):
                far = -1 if edge in ("right", "top") else 0
                cell = (i, far % nx) if vertical else (far % ny, i)
                if not plate.held[cell]:
                    spec = condition((i + 0.5) * area, t)
                    q = through_wall(spec, float(T[cell]), functools.partial(k, *cell), delta) * area
                    heat[cell] += q
                    edges[edge] += q
    powers = []
    for source in plate.sources:
        total = 0.0
        for y, x in np.argwhere(~plate.held):
            q = source((x + 0.5) * dx, (y + 0.5) * dy, t, float(T[y, x])) * dx * dy
            heat[y, x] += q
            total += q
        powers.append(total)
    given_off = -float(heat[plate.held].sum())
    rate = np.where(plate.held, 0.0, heat / (plate.rho_c * dx * dy))
    return Flows(rate, edges, powers, given_off)


def system(plate: Plate) -> Callable[[float, np.ndarray], np.ndarray]:
    """d/dt of the temperatures, then the energies of edges, sources and held cells, then the time itself."""
    ny, nx = plate.held.shape

    def derivative(_: float, state: np.ndarray) -> np.ndarray:
        at = flows(plate, state[: ny * nx].reshape(ny, nx), float(state[-1]))
        return np.append(at.flat(), 1.0)

    return derivative


def begin(plate: Plate, T0: np.ndarray, t: float = 0.0) -> np.ndarray:
    """The state of `system` that a run starts with."""
    return np.concatenate([T0.ravel(), np.zeros(len(EDGES) + len(plate.sources) + 1), [t]])


def euler(derivative: Callable, state: np.ndarray, dt: float) -> np.ndarray:
    return state + dt * derivative(0.0, state)


def rkl2(derivative: Callable, state: np.ndarray, dt: float, s: int) -> np.ndarray:
    """A step of s stages, as in the paper: Meyer, Balsara & Aslam, J. Comput. Phys. 257:594 (2014), eqs. 15-17."""
    b = [1 / 3, 1 / 3, 1 / 3] + [(j * j + j - 2) / (2 * j * (j + 1)) for j in range(3, s + 1)]
    w = 4 / (s * s + s - 2)
    first = derivative(0.0, state)
    before, now = state, state + b[1] * w * dt * first
    for j in range(2, s + 1):
        mu, nu = (2 * j - 1) / j * b[j] / b[j - 1], -(j - 1) / j * b[j] / b[j - 2]
        new = mu * now + nu * before + (1 - mu - nu) * state
        new = new + mu * w * dt * derivative(0.0, now) - (1 - b[j - 1]) * mu * w * dt * first
        before, now = now, new
    return now
