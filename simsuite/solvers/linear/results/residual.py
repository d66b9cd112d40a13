"""How far a result is from the same state found in another way, relative to that, in float64 on the host.

A state that was stepped is compared with one that a single power of A gives; a state found by powers is compared, in a
few columns, with one that is stepped. The two methods round differently, so their agreement shows that neither is wrong
by much more than rounding; an error that both make is not seen. Where A is sparse and too large for powers, some
columns are stepped by SciPy's products or, in continuous time, found at once by SciPy's action of the exponential.
Where inputs depend on time, all columns are stepped by NumPy's products, with inputs that the host evaluates.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import bmat, csr_array
from scipy.sparse.linalg import expm_multiply

from simsuite.solvers.linear.matrices.embedding import largest
from simsuite.solvers.linear.system import LinearSystem

COLUMNS = 4  # So many columns are stepped.
_STEPS = 200_000  # So many products, however small, take a moment.


def residual(system: LinearSystem, X: np.ndarray, step: int, powers: bool, limit: int) -> float | None:
    """max |X - Y| / max |Y|, where Y is the state after `step` steps found in another way; where Y is stepped, only
    some columns are compared.

    Where max |Y| is below the smallest normal number of X's precision, the difference is taken relative to that number,
    since X is then rounded to multiples of the smallest subnormal number, however small Y becomes. Where Y is 0, the
    difference itself is returned.

    None if it would take more than `limit` multiplications; NaN if Y overflows. powers: whether X was found by powers
    of A.
    """
    n = X.shape[0]
    some = slice(None, None, -(-X.shape[1] // COLUMNS))
    count = min(X.shape[1], COLUMNS)
    stepped, scattered = n * n * step * count, system.multiplications * step * count
    power = n**3 * (math.log2(step + 1) + 1)
    products = 1 if system.series is None else system.series.products
    with np.errstate(all="ignore"):
        if system.moves:
            if system.multiplications * step * X.shape[1] > limit or step * products > _STEPS:
                return None
            columns, Y = slice(None), _walked(system, step)
        elif powers and stepped <= limit and step <= _STEPS:
            columns, Y = some, _stepped(system.dense(), system.start[:, some], step)
        elif not powers and power <= limit:
            columns, Y = slice(None), _by_power(system.dense(), system.start, step)
        elif not powers and system.sparse and scattered <= limit and step <= _STEPS:
            columns, Y = some, _sparse(system, system.start[:, some], step)
        else:
            return None
        scale, error = (largest(Z, system.is_complex) for Z in (Y, X[:, columns] - Y))
    return error / max(scale, float(np.finfo(X.dtype).tiny)) if scale > 0 else error


def _stepped(system: LinearSystem, X: np.ndarray, steps: int) -> np.ndarray:
    A, b = system.A, system.constant_input()[:, None]
    for _ in range(steps):
        X = A @ X + b
    return X


def _walked(system: LinearSystem, steps: int) -> np.ndarray:
    X = system.start
    for u in system.inputs.values(range(steps)).T:
        X = system.following(X, u)
    return X


def _by_power(system: LinearSystem, X: np.ndarray, steps: int) -> np.ndarray:
    """The state after so many steps by a power of the augmented matrix, [[A, b], [0, 1]]^steps [X; 1], for constant
    inputs b.
    """
    A, n = system.A, len(X)
    block = np.eye(n + 1)
    block[:n, :n], block[:n, n] = A, system.constant_input()
    power = np.linalg.matrix_power(block, steps)
    return power[:n, :n] @ X + power[:n, n:]


def _sparse(system: LinearSystem, X: np.ndarray, steps: int) -> np.ndarray:
    if system.series is None:
        return _stepped(system, X, steps)
    h = system.series.dt
    block = csr_array(bmat([[system.A / h, system.constant_input()[:, None] / h], [None, np.zeros((1, 1))]]))
    whole = np.vstack([X, np.ones((1, X.shape[1]))])
    return expm_multiply(block * (system.series.length * steps), whole)[:-1]
