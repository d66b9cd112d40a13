"""Conductivities that depend on temperature on a GPU: one thread for each cell, float64. This file is a template, see
`expression_placeholders` and `operator`."""

from __future__ import annotations

from numba import cuda, float64

from simsuite.solvers.expression_placeholders import along_x, along_y
from simsuite.solvers.heat.arguments import Law, LawEdges, Plate
from simsuite.solvers.heat.grid.edges import FLUX, TEMPERATURE
from simsuite.solvers.heat.operator.sources_cuda import whole_row

fx, fy = cuda.jit(device=True)(along_x), cuda.jit(device=True)(along_y)


@cuda.jit(device=True)
def _between(a, b, held_a, held_b):
    if held_a:
        return 0.0 if held_b else 2.0 * b
    if held_b:
        return 2.0 * a
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


@cuda.jit(device=True)
def _wall(T, p, edges, row):
    """The temperature at which the conductivity beside edge point p is evaluated. At an edge of fixed temperature, it
    is the mean of that and the cell's temperature."""
    return 0.5 * (T + edges.data[row, p]) if edges.kinds[p] == TEMPERATURE else T


@cuda.jit(device=True)
def _at_edge(value, p, edges):
    edges.k[p] = value if value > 0.0 else 1.0
    return edges.k[p] if value > 0.0 or edges.kinds[p] == FLUX else 0.0


@cuda.jit(cache=True)
def conduct(T, plate, law, edges, k):
    """Conductances of faces divided by Δ², from the expressions of a law at the mean temperatures of faces, and at the
    time of row k of the edges' data."""
    plate, law, edges = Plate(*plate), Law(*law), LawEdges(*edges)
    kx, ky, which, numbers_x, numbers_y = law.kx, law.ky, law.which, law.numbers_x, law.numbers_y
    gx, gy, c, wrap_x, wrap_y, dx, dy = plate.gx, plate.gy, plate.c, plate.wrap_x, plate.wrap_y, law.dx, law.dy
    x, y = cuda.grid(2)
    row = min(k, edges.data.shape[0] - 1)
    ny, nx = T.shape
    if x < nx and y < ny:
        px, py = (x + 0.5) * dx, (whole_row(y, law.first, law.rows) + 0.5) * dy
        t, w = float64(T[y, x]), float64(which[y, x])
        held = not c[y, x] > 0
        if x < nx - 1 or wrap_x:
            e = x + 1 if x < nx - 1 else 0
            m = 0.5 * (t + float64(T[y, e]))
            a = fx(px, py, m, kx[y, x], w, numbers_x)
            b = fx((e + 0.5) * dx, py, m, kx[y, e], float64(which[y, e]), numbers_x)
            g = _between(a, b, held, not c[y, e] > 0) / (dx * dx)
            gx[y, x + 1] = g
            if x == nx - 1:
                gx[y, 0] = g
        if y < ny - 1 or wrap_y:
            n = y + 1 if y < ny - 1 else 0
            m = 0.5 * (t + float64(T[n, x]))
            a = fy(px, py, m, ky[y, x], w, numbers_y)
            b = fy(px, (whole_row(n, law.first, law.rows) + 0.5) * dy, m, ky[n, x], float64(which[n, x]), numbers_y)
            g = _between(a, b, held, not c[n, x] > 0) / (dy * dy)
            gy[y + 1, x] = g
            if y == ny - 1:
                gy[0, x] = g
        if not wrap_x and not held:
            for side in range(2):
                if x == side * (nx - 1):
                    p = side * ny + y
                    value = fx(px, py, _wall(t, p, edges, row), kx[y, x], w, numbers_x)
                    gx[y, side * nx] = _at_edge(value, p, edges) / (dx * dx)
        if not wrap_y and not held:
            for side in range(2):
                if y == side * (ny - 1):
                    p = 2 * ny + side * nx + x
                    value = fy(px, py, _wall(t, p, edges, row), ky[y, x], w, numbers_y)
                    gy[side * ny, x] = _at_edge(value, p, edges) / (dy * dy)
