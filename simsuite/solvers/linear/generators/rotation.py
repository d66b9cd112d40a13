"""Rotation of the plane."""

from __future__ import annotations

import math

import numpy as np


def rotation(angle: float, continuous: bool) -> np.ndarray:
    """The matrix that rotates the plane by an angle a step, or a second.

    Exact: after k steps, or the time t, the state has turned by angle k, or angle t.

    angle: in rad a step, or rad/s. The eigenvalues are exp(+-i angle), or +-i angle.
    """
    if continuous:
        return np.array([[0.0, -angle], [angle, 0.0]])
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
