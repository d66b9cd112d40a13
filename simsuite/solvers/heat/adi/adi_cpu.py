"""Kernels of the ADI step on the CPU: strips of rows in parallel. See `adi`."""

from __future__ import annotations

import numpy as np

from simsuite.parallel_for import kernel, larger, lesser, parallel_for, part
from simsuite.solvers.heat.arguments import Plate
from simsuite.solvers.heat.operator.edges_cpu import cell_at
from simsuite.solvers.heat.operator.operator_cpu import flux_sums

TILE = 32
THREADS = 1


def tiles_of(ny: int, nx: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch that takes a field in tiles; a CPU kernel covers any extent by itself."""
    return (nx, ny), (1, 1)


@part
def _change(edges, points, before, after, half, T, p):
    """The mean of β at edge point p over the step, and the change of γ - βT over the step at a fixed T."""
    moved = edges[after + points + p] - edges[before + points + p]
    d = moved - (edges[after + p] - edges[before + p]) * cell_at(T, p)
    return half * (edges[before + p] + edges[after + p]), d


@part
def _corner(edges, points, before, after, half, T, p, inwards):
    """The mean of β and the change of γ - βT, as `_change` gives them, extrapolated to the corner beside point p: by a
    parabola through p and the next two points, or by a line through two points, as far as these have the same kind of
    condition."""
    nx = T.shape[1]
    beta, d = _change(edges, points, before, after, half, T, p)
    if nx > 1:
        beta_1, d_1 = _change(edges, points, before, after, half, T, p + inwards)
        if beta_1 == beta:
            slope = d - d_1
            d += half * slope
            if nx > 2:
                beta_2, d_2 = _change(edges, points, before, after, half, T, p + 2 * inwards)
                if beta_2 == beta:
                    d += (half + half * half) * half * (slope - (d_1 - d_2))
    return beta, d


@part
def _bent(edges, before, after, half, T, gy, c, wrap_y, far, j):
    """c·(A_y e + b_y) along the left or right edge, where e is the change of the edge's outer temperatures. It is 0
    beside a part of the edge that has no such temperatures.

    At the ends of an edge of given temperature, b_y comes from the values at the corner. Where e is the temperature of
    surroundings, b_y is not known for it, and the value of the next point is near enough."""
    ny, nx = T.shape
    points = 2 * (ny + nx)
    x = far * (nx - 1)
    zero, two = half - half, half + half + half + half
    beta, d = _change(edges, points, before, after, half, T, far * ny + j)
    if beta < two and not wrap_y:
        if ny < 3:
            return zero
        j = lesser(larger(j, 1), ny - 2)
        beta, d = _change(edges, points, before, after, half, T, far * ny + j)
        if not beta > zero:
            return zero
    total = zero
    e = d / beta
    for side in range(2):
        i = j - 1 + 2 * side
        if 0 <= i < ny or wrap_y:
            i = (i if i >= 0 else ny - 1) if i < ny else 0
            beta, d = _change(edges, points, before, after, half, T, far * ny + i)
            if not beta > zero:
                return zero
            total += gy[j + side, x] * (d / beta - e)
        else:
            p = 2 * ny + side * nx + x
            beta, d = _corner(edges, points, before, after, half, T, p, 1 - 2 * far)
            total += gy[j + side, x] * (d - beta * e)
    return c[j, x] * total


@kernel
def edge_data(T, gy, c, edges, before, after, half, a, start, change, wrap_y):
    """Computes the scratch rows of the edge table: row `start` for T, and row `change` for V and ΔT."""
    ny, nx = T.shape
    points = 2 * (ny + nx)
    for p in range(points):
        beta, d = _change(edges, points, before, after, half, T, p)
        edges[start + p] = beta
        edges[start + points + p] = half * (edges[before + points + p] + edges[after + points + p] - d)
        edges[change + p] = beta
        if p < 2 * ny and beta > half - half:
            far = 0 if p < ny else 1
            d -= a * (beta * _bent(edges, before, after, half, T, gy, c, wrap_y, far, p - far * ny))
        edges[change + points + p] = d


@parallel_for
def _right_side(first_strip, last_strip, T, plate, at, dt, out):
    gx, gy, c, q, heated = plate.gx, plate.gy, plate.c, plate.q, plate.heated
    ny, nx = T.shape
    for strip in range(first_strip, last_strip):
        for begin in range(0, nx, TILE):
            for y in range(strip * TILE, lesser(ny, (strip + 1) * TILE)):
                inner = 0 < y < ny - 1
                for x in range(begin, lesser(nx, begin + TILE)):
                    if inner and 0 < x < nx - 1:
                        v = T[y, x]
                        along_x = gx[y, x] * (T[y, x - 1] - v) + gx[y, x + 1] * (T[y, x + 1] - v)
                        total = along_x + (gy[y, x] * (T[y - 1, x] - v) + gy[y + 1, x] * (T[y + 1, x] - v))
                    else:
                        along_x, along_y = flux_sums(T, plate, at, x, y)
                        total = along_x + along_y
                    if heated:
                        total += q[y, x]
                    out[x, y] = dt * (c[y, x] * total)


@kernel
def right_side(T, plate, at, dt, out):
    _right_side((T.shape[0] + TILE - 1) // TILE, (T, Plate(*plate), at, dt, out))


@parallel_for
def _transpose(first_strip, last_strip, field, out):
    ny, nx = field.shape
    for strip in range(first_strip, last_strip):
        for begin in range(0, nx, TILE):
            for y in range(strip * TILE, min(ny, (strip + 1) * TILE)):  # using `lesser` here takes a tenth longer
                for x in range(begin, min(nx, begin + TILE)):
                    out[x, y] = field[y, x]


@kernel
def transpose(field, out):
    _transpose((field.shape[0] + TILE - 1) // TILE, (field, out))


@parallel_for
def _ahead(begin, end, T, change, part, out):
    for y in range(begin, end):
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] + part * change[y, x]


@kernel
def ahead(T, change, part, out):
    _ahead(T.shape[0], (T, change, part, out))


@parallel_for
def _largest_rows(begin, end, T, change, before, rows):
    for y in range(begin, end):
        moved, size, most = abs(change[y, 0] - before[y, 0]), abs(change[y, 0]), abs(T[y, 0])
        for x in range(1, T.shape[1]):
            # np.maximum gives NaN where one of its arguments is NaN
            moved = np.maximum(moved, abs(change[y, x] - before[y, x]))
            size = np.maximum(size, abs(change[y, x]))
            most = np.maximum(most, abs(T[y, x]))
        rows[0, y], rows[1, y], rows[2, y] = moved, size, most


@kernel
def largest_rows(T, change, before, rows):
    _largest_rows(T.shape[0], (T, change, before, rows))


@kernel
def largest(rows, least, out):
    size = larger(np.max(rows[1]), least * np.max(rows[2]))
    moved = np.max(rows[0])
    if not moved <= out[0] * size:
        out[0] = moved / size
