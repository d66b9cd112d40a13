"""A random matrix with a known spectrum."""

from __future__ import annotations

import math

import numpy as np


def random_stable(size: int, radius: float, seed: int, continuous: bool) -> np.ndarray:
    """The matrix H D H, where D is block-diagonal, with a shrinking rotation in each block, and H is the reflection I -
    2 v v'/(v'v) for a vector v of normal numbers.

    Exact: A is normal. Its eigenvalues are r_j exp(+-i a_j), with r_j evenly spaced from `radius` down to radius/pairs
    and a_j uniform in (0, pi), and `radius` itself if the size is odd. In continuous time -1 is added to all of them,
    so every state decays at least like exp(-(1 - radius) t).
    """
    rng = np.random.Generator(np.random.Philox(seed))
    pairs = size // 2
    r = radius * (1.0 - np.arange(pairs) / max(pairs, 1))
    angle = math.pi * rng.random(pairs)
    v = rng.standard_normal(size)
    D = np.zeros((size, size))
    i = 2 * np.arange(pairs)
    D[i, i] = D[i + 1, i + 1] = r * np.cos(angle)
    D[i + 1, i] = r * np.sin(angle)
    D[i, i + 1] = -D[i + 1, i]
    if size % 2:
        D[-1, -1] = radius
    if continuous:
        D[np.arange(size), np.arange(size)] -= 1.0
    w = 2.0 * v / np.sum(v * v)
    D -= w[:, None] * np.sum(v[:, None] * D, axis=0)
    D -= np.sum(D * v, axis=1)[:, None] * w
    return D
