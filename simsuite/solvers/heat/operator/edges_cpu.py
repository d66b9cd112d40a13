"""Rows of the edge table on the CPU, and what they say at an edge point. See `edges` for the formulas."""

from __future__ import annotations

from simsuite.parallel_for import kernel, larger, lesser, part
from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, RADIATION, TEMPERATURE
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN


@part
def difference(edges, at, ledger, p, c, r, book):
    """Difference of the ghost behind edge point p to its cell, c, booked in the ledger as the rise r times that."""
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
    """Rows first .. first+n-1 of β, γ from those of the conditions' data; of radiating edges only where `radiating`,
    at the temperatures T."""
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
                # Numba drops this only where it stands under nothing else.
                if kinds[p] == RADIATION:
                    beta, gamma = _tangent(a, b, k, d, float(cell_at(T, p)))
            edges[row, p] = beta
            edges[row, points + p] = gamma
