"""Edges of the rectangle as affine ghosts.

A cell at an edge sees a ghost cell outside, half a cell behind the edge, whose value is affine in its own: the
difference ghost - T = γ - β·T gives the flux k·(γ - β·T)/Δ into the cell, second-order accurate at the edge itself.
With conductivity k and cell width Δ across the edge:

    temperature g               β = 2                  γ = 2 g
    flux q into the domain      β = 0                  γ = q Δ / k
    convection h, ambient a     β = 2hΔ / (2k + hΔ)    γ = β a
    insulated                   β = 0                  γ = 0
    periodic                    no ghost: the cell at the opposite edge

(Ghost-cell form of the finite-volume boundary flux; e.g. Versteeg & Malalasekera, An Introduction to Computational
Fluid Dynamics, 2nd ed., 2007, section 4.) β is at most 2, so no edge tightens the stability bound of the interior.

Edge points are numbered left (upwards), right (upwards), bottom (rightwards), top (rightwards).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend, Clock
from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.solvers.table import FunctionTable

_LOOKS = 11  # times, first and last included, at which h is looked at before a run

combine = Expression.combine
ZERO = Expression.constant(0.0)


def coefficients(edge: Any, k: float, delta: float) -> tuple[Expression, Expression]:
    """(β, γ) of an edge as expressions in x, y, t."""
    if edge.kind == "temperature":
        return Expression.constant(2.0), combine("*", 2.0, edge.value)
    if edge.kind == "flux":
        return ZERO, combine("*", edge.value, delta / k)
    if edge.kind == "convection":
        h = combine("*", edge.h, delta)
        beta = combine("/", combine("*", 2.0, h), combine("+", 2.0 * k, h))
        return beta, combine("*", beta, edge.ambient)
    return ZERO, ZERO


def edge_points(scenario: HeatScenario, edge: str) -> tuple[np.ndarray, np.ndarray]:
    """x and y (m) of the middle of every cell face at one edge."""
    g = scenario.grid
    along_y = (np.arange(g.ny) + 0.5) * (g.ly / g.ny)
    along_x = (np.arange(g.nx) + 0.5) * (g.lx / g.nx)
    if edge == "left":
        return np.zeros(g.ny), along_y
    if edge == "right":
        return np.full(g.ny, g.lx), along_y
    return along_x, np.full(g.nx, 0.0 if edge == "bottom" else g.ly)


def negative_h(scenario: HeatScenario) -> list[Mistake]:
    """Where a heat transfer coefficient is negative, which no step is stable with: β < 0 feeds a difference back.

    Each edge's h is looked at in the middle of every cell face, at 11 times from the start to the end of the run.
    """
    t = scenario.time.end * (np.arange(_LOOKS) / (_LOOKS - 1))
    found = []
    for edge in EDGES:
        condition = getattr(scenario.boundary, edge)
        if condition.kind != "convection":
            continue
        x, y = edge_points(scenario, edge)
        h = np.broadcast_to(condition.h(x=x, y=y, t=t[:, None]), (_LOOKS, len(x)))
        if np.any(h < 0):
            k, j = np.argwhere(h < 0)[0]
            place = f"x = {x[j]:g} m, y = {y[j]:g} m, t = {t[k]:g} s"
            found.append(Mistake(("boundary", edge, "h"), f"must not be negative, but is {h[k, j]:g} at {place}"))
    return found


def edge_table(scenario: HeatScenario, backend: Backend, clock: Clock, dtype: Any) -> FunctionTable:
    """Rows of β at all edge points, then γ at all edge points: 4(nx + ny) numbers."""
    g, k = scenario.grid, scenario.material.k
    betas, gammas = [], []
    for edge in EDGES:
        delta = g.lx / g.nx if edge in ("left", "right") else g.ly / g.ny
        beta, gamma = coefficients(getattr(scenario.boundary, edge), k, delta)
        points = edge_points(scenario, edge)
        betas.append((beta, *points))
        gammas.append((gamma, *points))
    return FunctionTable(backend, clock, dtype, betas + gammas)
