"""The state that a stable system tends to under constant inputs."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lapack, lu_factor, lu_solve


def steady_state(A: np.ndarray, b: np.ndarray, continuous: bool) -> tuple[np.ndarray, float]:
    """(x, error): x (n,) with x = A x + b, or A x + b = 0 in continuous time; error: a bound on its rounding errors,
    relative to the largest component, from the condition of the equations.

    A (n, n); b (n,): B u. Raises ValueError if the equations are singular up to rounding.
    """
    M = -A if continuous else np.eye(len(A)) - A
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factors = lu_factor(M)
    gecon = lapack.zgecon if np.iscomplexobj(M) else lapack.dgecon
    reciprocal, _ = gecon(factors[0], np.linalg.norm(M, 1))
    error = float(np.finfo(np.float64).eps / reciprocal) if reciprocal > 0 else np.inf
    if error > 1e-2:
        raise ValueError("there is no steady state that rounding would leave as it is")
    return lu_solve(factors, b, check_finite=False) + 0.0, error  # 0 for -0
