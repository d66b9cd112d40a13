"""Euler steps of a heat problem, implemented a second time, against which the solver's kernels are checked.

    T' = T + dt/(ρc)·(sum over the four faces of conductance·(temperature behind it - T), and inflow)

on cells of width 1, with the face's series resistance of two half cells, or of half a cell and the edge itself. It
shares nothing with the solver, whose edges are ghost cells, and is always in float64.
"""

from __future__ import annotations

from numba import njit, prange


@njit(parallel=True, cache=True)
def conductances(k, resistance, gx, gy):
    """Write the conductances of all faces to gx (ny, nx + 1) and gy (ny + 1, nx); resistance: of the left, right,
    bottom and top edge.
    """
    ny, nx = k.shape
    for y in prange(ny):
        for x in range(nx):
            half = 0.5 / k[y, x]
            gx[y, x] = 1.0 / (half + (0.5 / k[y, x - 1] if x > 0 else resistance[0]))
            gy[y, x] = 1.0 / (half + (0.5 / k[y - 1, x] if y > 0 else resistance[2]))
            if x == nx - 1:
                gx[y, nx] = 1.0 / (half + resistance[1])
            if y == ny - 1:
                gy[ny, x] = 1.0 / (half + resistance[3])


@njit(parallel=True, cache=True)
def euler(T, out, gx, gy, rho_c, dt, ambient, inflow, along_x, along_y):
    """Take a step; ambient, inflow: the temperature behind the left, right, bottom and top edge, and the heat that
    comes in there. along_x, along_y: the factors of a source.
    """
    ny, nx = T.shape
    for y in prange(ny):
        for x in range(nx):
            here = T[y, x]
            heat = along_x[x] * along_y[y]
            heat += gx[y, x] * ((T[y, x - 1] if x > 0 else ambient[0]) - here)
            heat += gx[y, x + 1] * ((T[y, x + 1] if x < nx - 1 else ambient[1]) - here)
            heat += gy[y, x] * ((T[y - 1, x] if y > 0 else ambient[2]) - here)
            heat += gy[y + 1, x] * ((T[y + 1, x] if y < ny - 1 else ambient[3]) - here)
            if x == 0:
                heat += inflow[0]
            if x == nx - 1:
                heat += inflow[1]
            if y == 0:
                heat += inflow[2]
            if y == ny - 1:
                heat += inflow[3]
            out[y, x] = here + dt / rho_c[y, x] * heat
