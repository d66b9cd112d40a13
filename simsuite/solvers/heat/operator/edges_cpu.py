"""Rows of the edge table on the CPU, and what follows from them at an edge point. See `edges` for the formulas."""

from __future__ import annotations

from simsuite.parallel_for import kernel, larger, lesser, part
from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, RADIATION, TEMPERATURE
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN


@part
def difference(edges, at, ledger, p, c, r, book):
    """The difference between the ghost behind edge point p and its cell, of value c. If `book`, r times that
    difference, a rise in temperature, is added to the ledger."""
    d = edges[at + ledger.size + p] - edges[at + p] * c
    if book:
        ledger[p] += r * d
    return d


@part
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


@part
def _tangent(emissivity, ambient, k, delta, T):
    s = emissivity * STEFAN_BOLTZMANN
    g = 2.0 * k / delta
    W = larger(T, ambient)
    for _ in range(60):
        cube = abs(W) ** 3
        change = (g * (W - T) - s * (ambient**4 - W * cube)) / (g + 4.0 * s * cube)
        W -= change
        if abs(change) <= 1e-15 * abs(W):
            break
    h = 4.0 * s * abs(W) ** 3
    beta = 2.0 * h * delta / (2.0 * k + h * delta)
    return beta, g * (W - T) * delta / k + beta * T


def edge_rows(kinds, data, conductivity, delta, T, radiating, edges, first, n):
    """Computes rows first .. first+n-1 of β, γ from the same rows of the conditions' data; for radiating edges only if
    `radiating`, at the temperatures T."""
    _edge_rows(kinds, data, conductivity, delta, T if radiating else None, edges, first, n)


@kernel
def _edge_rows(kinds, data, conductivity, delta, T, edges, first, n):
    points = kinds.size
    for row in range(first, first + n):
        source = lesser(row, data.shape[0] - 1)
        for p in range(points):
            a, b, k, d = data[source, p], data[source, points + p], conductivity[p], delta[p]
            beta, gamma = 0.0, 0.0
            if kinds[p] == TEMPERATURE:
                beta, gamma = 2.0, 2.0 * a
            elif kinds[p] == FLUX:
                gamma = a * d / k
            elif kinds[p] == CONVECTION:
                beta = 2.0 * a * d / (2.0 * k + a * d)
                gamma = beta * b
            elif T is not None:  # noqa: SIM102
                # Numba removes this branch only if it is not nested in another condition.
                if kinds[p] == RADIATION:
                    beta, gamma = _tangent(a, b, k, d, float(cell_at(T, p)))
            edges[row, p] = beta
            edges[row, points + p] = gamma
