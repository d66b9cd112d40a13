"""Rows of the edge table on a GPU: one thread for each edge point and row, float64. See `edges` for the formulas."""

from __future__ import annotations

from numba import cuda, float64

from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, RADIATION, TEMPERATURE
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN


@cuda.jit(device=True)
def cell_at(T, p):
    """The temperature of the cell at edge point p."""
    ny, nx = T.shape
    if p < ny:
        return T[p, 0]
    if p < 2 * ny:
        return T[p - ny, nx - 1]
    if p < 2 * ny + nx:
        return T[0, p - 2 * ny]
    return T[ny - 1, p - 2 * ny - nx]


@cuda.jit(device=True)
def _tangent(emissivity, ambient, k, delta, T):
    s = emissivity * STEFAN_BOLTZMANN
    g = 2.0 * k / delta
    W = T if ambient < T else ambient
    for _ in range(60):
        cube = abs(W) * W * W
        change = (g * (W - T) - s * (ambient * ambient * ambient * ambient - W * cube)) / (g + 4.0 * s * cube)
        W -= change
        if abs(change) <= 1e-15 * abs(W):
            break
    h = 4.0 * s * abs(W) * W * W
    beta = 2.0 * h * delta / (2.0 * k + h * delta)
    return beta, g * (W - T) * delta / k + beta * T


@cuda.jit(cache=True)
def edge_rows(kinds, data, conductivity, delta, T, radiating, edges, first, n):
    """Computes rows first .. first+n-1 of β, γ from the same rows of the conditions' data; for radiating edges only if
    `radiating`, at the temperatures T."""
    points = kinds.size
    p, row = cuda.grid(2)
    if p < points and row < n:
        row += first
        source = min(row, data.shape[0] - 1)
        a, b, k, d = data[source, p], data[source, points + p], conductivity[p], delta[p]
        beta, gamma = 0.0, 0.0
        if kinds[p] == TEMPERATURE:
            beta, gamma = 2.0, 2.0 * a
        elif kinds[p] == FLUX:
            gamma = a * d / k
        elif kinds[p] == CONVECTION:
            beta = 2.0 * a * d / (2.0 * k + a * d)
            gamma = beta * b
        elif radiating and kinds[p] == RADIATION:
            beta, gamma = _tangent(a, b, k, d, float64(cell_at(T, p)))
        edges[row, p] = beta
        edges[row, points + p] = gamma
