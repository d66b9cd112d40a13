"""An independent explicit step: NumPy on an array padded with ghost cells, straight from the definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Value = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def ghost(kind: str, inside: np.ndarray, k: float, delta: float, **v: Any) -> np.ndarray:
    """The value half a cell outside, from the boundary condition at the face between it and `inside`."""
    if kind == "temperature":  # (ghost + inside)/2 = value
        return 2 * v["value"] - inside
    if kind == "flux":  # k (ghost - inside)/delta = value
        return inside + v["value"] * delta / k
    if kind == "convection":  # k (ghost - inside)/delta = h (ambient - (ghost + inside)/2)
        h, ambient = v["h"], v["ambient"]
        return (inside * (k / delta - h / 2) + h * ambient) / (k / delta + h / 2)
    return inside


def step(
    T: np.ndarray,
    edges: Mapping[str, Mapping[str, Any]],
    lengths: tuple[float, float],
    k: float,
    rho_c: float,
    t: float,
    dt: float,
) -> np.ndarray:
    """One forward Euler step. edges: kind and values (numbers or functions of x, y, t) of left, right, bottom, top."""
    ny, nx = T.shape
    lx, ly = lengths
    dx, dy = lx / nx, ly / ny
    x, y = (np.arange(nx) + 0.5) * dx, (np.arange(ny) + 0.5) * dy
    padded = np.zeros((ny + 2, nx + 2))
    padded[1:-1, 1:-1] = T
    at = {"left": (0 * y, y), "right": (0 * y + lx, y), "bottom": (x, 0 * x), "top": (x, 0 * x + ly)}
    outer = {"left": np.s_[1:-1, 0], "right": np.s_[1:-1, -1], "bottom": np.s_[0, 1:-1], "top": np.s_[-1, 1:-1]}
    inner = {"left": T[:, 0], "right": T[:, -1], "bottom": T[0], "top": T[-1]}
    opposite = {"left": "right", "right": "left", "bottom": "top", "top": "bottom"}
    for edge, spec in edges.items():
        kind = spec["kind"]
        values = {name: v(*at[edge], t) if callable(v) else v for name, v in spec.items() if name != "kind"}
        delta = dx if edge in ("left", "right") else dy
        inside = inner[opposite[edge]] if kind == "periodic" else inner[edge]
        padded[outer[edge]] = inside if kind == "periodic" else ghost(kind, inner[edge], k, delta, **values)
    flux_x = k * np.diff(padded[1:-1], axis=1) / dx
    flux_y = k * np.diff(padded[:, 1:-1], axis=0) / dy
    return T + dt / rho_c * (np.diff(flux_x, axis=1) / dx + np.diff(flux_y, axis=0) / dy)
