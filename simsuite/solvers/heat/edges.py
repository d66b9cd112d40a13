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
from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.solvers.table import FunctionTable

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
