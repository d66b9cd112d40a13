"""A circuit board with two chips, and its temperatures by a method of lines of its own, with SciPy's integrator."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_ivp

BOARD = """\
solver = "heat"
title = "Circuit board"
units = "degC"
[constants]
chip = "14 mm"
room = 20
h = 12 # W/(m²·K)
copper = 60 # W/(m·K), in the plane
[grid]
nx = 80
ny = 50
lx = "80 mm"
ly = "50 mm"
thickness = "1.6 mm"
[material]
conductivity = 18
density = 1900
specific_heat = 1000
[[region]]
shape = "rectangle"
x = ["10 mm", "45 mm"]
y = ["5 mm", "45 mm"]
conductivity = "copper"
[initial]
temperature = "room"
[surface]
h = "h"
ambient = "room"
[[source]]
name = "cpu"
shape = "rectangle"
x = ["16 mm", "16e-3 + chip"]
y = ["18 mm", "18e-3 + chip"]
watts = 4.5
on = [["1 min"]]
[[source]]
name = "regulator"
shape = "circle"
center = ["60 mm", "25 mm"]
radius = "5 mm"
watts = "1.5 W"
on = [["1 min", "5 min"]]
[time]
end = "10 min"
"""
NX, NY, LX, LY, D = 80, 50, 0.08, 0.05, 1.6e-3
RHO_C = 1900.0 * 1000.0


def solution(times: list[float], h: float = 12.0, room: float = 20.0, copper: float = 60.0) -> list[np.ndarray]:
    """The temperatures of all cells, (ny, nx), at ascending times, at the same grid as the scenario."""
    dx, dy = LX / NX, LY / NY
    x, y = np.meshgrid((np.arange(NX) + 0.5) * dx, (np.arange(NY) + 0.5) * dy)
    k = np.where((x > 0.010) & (x < 0.045) & (y > 0.005) & (y < 0.045), copper, 18.0)
    number = np.arange(NX * NY).reshape(NY, NX)
    rows, columns, values = [], [], []
    for a, b, d in ((np.s_[:, :-1], np.s_[:, 1:], dx), (np.s_[:-1], np.s_[1:], dy)):
        g = (2 * k[a] * k[b] / (k[a] + k[b]) / d**2 / RHO_C).ravel()
        i, j = number[a].ravel(), number[b].ravel()
        rows += [i, j, i, j]
        columns += [j, i, i, j]
        values += [g, g, -g, -g]
    A = sp.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
    A = (A - sp.identity(NX * NY) * (2 * h / (D * RHO_C))).tocsc()
    cpu = (x > 0.016) & (x < 0.030) & (y > 0.018) & (y < 0.032)
    regulator = np.hypot(x - 0.060, y - 0.025) <= 0.005
    heats = [w * cells / (cells.sum() * dx * dy * D * RHO_C) for w, cells in ((4.5, cpu), (1.5, regulator))]
    found, T = [], np.full(NX * NY, room)
    for start, stop in pairwise(sorted({0.0, 60.0, 300.0, *times})):
        q = heats[0] * (start >= 60) + heats[1] * (60 <= start < 300)
        q = q.ravel() + 2 * h * room / (D * RHO_C)
        T = solve_ivp(lambda _, T, q=q: A @ T + q, (start, stop), T, "Radau", jac=A, rtol=1e-9, atol=1e-9).y[:, -1]
        if stop in times:
            found.append(T.reshape(NY, NX))
    return found
