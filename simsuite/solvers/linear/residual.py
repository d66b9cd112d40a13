"""How far a result is from the same state found in the other way, in float64 on the host.

A state that was stepped is compared with one power of A, a state found by powers with one that is stepped, a few
columns of it. So two methods agree that round in different ways; what both of them lose is not seen.
"""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.linear.system import LinearSystem

COLUMNS = 4  # that are stepped
_STEPS = 200_000  # products that take a moment, however small


def residual(system: LinearSystem, X: np.ndarray, step: int, powers: bool, limit: int) -> float | None:
    """max |X - Y| / max |Y|, Y the same state after `step` steps; of some columns for a state found by powers.

    None if the inputs depend on time or it would take more than `limit` multiplications; NaN if Y overflows.
    """
    if system.moves:
        return None
    n = len(system.A)
    columns = slice(None, None, -(-X.shape[1] // COLUMNS)) if powers else slice(None)
    cost = n * n * step * COLUMNS if powers else n**3 * (math.log2(step + 1) + 1)
    if cost > limit or (powers and step > _STEPS):
        return None
    b, start = system.constant_input()[:, None], system.start[:, columns]
    with np.errstate(all="ignore"):
        Y = _stepped(system.A, b, start, step) if powers else _by_power(system.A, b, start, step)
        scale, error = float(np.max(np.abs(Y))), float(np.max(np.abs(X[:, columns] - Y)))
    return error / scale if scale > 0 else error


def _stepped(A: np.ndarray, b: np.ndarray, X: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        X = A @ X + b
    return X


def _by_power(A: np.ndarray, b: np.ndarray, X: np.ndarray, steps: int) -> np.ndarray:
    """[[A, b], [0, 1]]^steps [X; 1]."""
    n = len(A)
    block = np.eye(n + 1)
    block[:n, :n], block[:n, n:] = A, b
    power = np.linalg.matrix_power(block, steps)
    return power[:n, :n] @ X + power[:n, n:]
