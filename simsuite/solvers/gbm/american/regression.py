"""Least squares for rules of exercise (exercise_policy.py), by arithmetic on whole arrays: used on the CPU and by
Numba's engine.

QR:     A = Q R by CholeskyQR2: R_1 is the Cholesky factor of A^T A, R_2 that of Q_1^T Q_1 with Q_1 = A R_1^-1, and
        c = R_1^-1 R_2^-1 R_2^-T Q_1^T y. Tall matrices enter only through sums of products.
Error:  Q is orthogonal to round-off as long as the condition of A is below about 1e7 (Y. Yamamoto, Y. Nakatsukasa,
        Y. Yanagisawa and T. Fukaya, Electronic Transactions on Numerical Analysis 44, 2015). For Chebyshev polynomials
        over the paths in the money the condition is 10 to 1000. Where the paths leave columns linearly dependent (all
        prices are equal, say), the later columns are left out, which lowers the degree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.gbm.american.exercise_policy import FEWEST
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS, Holder
from simsuite.solvers.gbm.payoffs.functionals import Right

# a column counts as a combination of those before it if its pivot is less than this share of its square
SMALLEST_PIVOT = 1e-12


def learn(backend: Backend, holders: Sequence[Holder], steps: np.ndarray, noise: Any, policy: np.ndarray) -> np.ndarray:
    """The policy with the learnt rules. noise[date, asset, path]: the noise after each of `steps`, of the paths to
    learn from."""
    policy = policy.copy()
    with backend.arithmetic(), np.errstate(all="ignore"):
        for holder in holders:
            worth: Any = None
            dates = np.searchsorted(steps, holder.steps)
            for row, date in reversed(list(zip(policy[holder.rows], dates))):
                price = np.exp2(noise[date, holder.asset].astype(np.float64))
                value = row[0] * price + row[1]
                if worth is None:
                    worth = np.maximum(value, 0.0)
                    continue
                inside = value > 0
                worth[inside] = _date(row, holder.right, price[inside], value[inside], worth[inside])
    return policy


def _date(row: np.ndarray, right: Right, price: Any, value: Any, later: Any) -> Any:
    """Completes the rule of a date (`row`), given the paths in the money: their price, the exercise value, and what
    waiting brings (`later`). Returns what each path brings if it follows the rule."""
    x = 1.0 / price if right.call else price
    row[2 : TERMS + 1 + right.degree] = _rule(x, later - value, right.degree, right.call)
    return np.where(judgement(row, x, right.degree) > 0, later, value)


def judgement(row: np.ndarray, x: Any, degree: int) -> Any:
    """The polynomial p of a rule at x, by C. Clenshaw's recurrence (Mathematics of Computation 9, 1955)."""
    u = np.minimum(np.maximum(row[2] * x + row[3], -1.0), 1.0)
    c = row[TERMS:]
    p, later = c[degree] + 0.0 * u, 0.0 * u
    for k in range(degree - 1, 0, -1):
        p, later = c[k] + 2.0 * u * p - later, p
    return c[0] + u * p - later


def _rule(x: Any, gain: Any, degree: int, weighed: bool) -> list[float]:
    """The numbers a, b and c_0 .. c_d of a rule (exercise_policy.py), fitted to `gain` at x."""
    hold = [0.0, 0.0, 1.0] + degree * [0.0]
    if x.size < FEWEST * (degree + 1):
        return hold
    low, high = float(x.min()), float(x.max())
    a, b = (2.0 / (high - low), -(high + low) / (high - low)) if high > low else (0.0, 0.0)
    columns, target = _columns(a * x + b, degree), gain
    if weighed:
        columns, target = [x * column for column in columns], x * gain
    first = inverse_factor(_products(columns))
    columns = [_combined(columns, first[:, j]) for j in range(len(first)) if first[j, j]]
    if not columns:
        return hold
    second = inverse_factor(_products(columns))
    projected = np.array([float((q * target).sum()) for q in columns])
    rank = len(columns)
    return [a, b, *(first[:, :rank] @ (second @ (second.T @ projected)))]


def _columns(u: Any, degree: int) -> list[Any]:
    found = [0.0 * u + 1.0, u]
    while len(found) <= degree:
        found.append(2.0 * u * found[-1] - found[-2])
    return found


def _products(columns: Sequence[Any]) -> np.ndarray:
    """The sums of products of all pairs of columns, added up in an order that depends on the number of paths alone; a
    matrix product from a library does not promise that."""
    found = np.zeros((len(columns), len(columns)))
    for i, one in enumerate(columns):
        for j, other in enumerate(columns[: i + 1]):
            found[i, j] = found[j, i] = float((one * other).sum())
    return found


def _combined(columns: Sequence[Any], weights: np.ndarray) -> Any:
    found = weights[0] * columns[0]
    for column, weight in zip(columns[1:], weights[1:]):
        found = found + weight * column if weight else found
    return found


def inverse_factor(products: np.ndarray) -> np.ndarray:
    """The inverse of the upper Cholesky factor; its columns are 0 from the first one on that is a combination of those
    before it."""
    n = len(products)
    R, inverse = np.zeros((n, n)), np.zeros((n, n))
    for j in range(n):
        for i in range(j):
            R[i, j] = (products[i, j] - R[:i, i] @ R[:i, j]) / R[i, i]
        pivot = products[j, j] - R[:j, j] @ R[:j, j]
        if not pivot > SMALLEST_PIVOT * products[j, j]:
            break
        R[j, j] = math.sqrt(pivot)
        inverse[j, j] = 1 / R[j, j]
        inverse[:j, j] = -(inverse[:j, :j] @ R[:j, j]) / R[j, j]
    return inverse
