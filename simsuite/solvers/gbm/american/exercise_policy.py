"""American options: when to exercise, a rule that is learnt from paths of their own (least-squares Monte Carlo).

Options can be exercised once, on dates t_1 < .. < t_m = T. In money of time T and units of the spot, exercise on date i
brings v_i = (+-)(S_i - K) e^{integral of r from t_i to T}, and waiting brings W_i, which the rule for later dates makes
of a path. The rule for date i is the least-squares polynomial p_i of degree d for what is gained by waiting, over the
paths with v_i > 0 of a sample,

    W_i - v_i = p_i(x_i) + noise,   x = S / K of a put, K / S of a call,   exercise if v_i > 0 and p_i(x_i) <= 0,

found from the last date to the first (F. Longstaff and E. Schwartz, Review of Financial Studies 14, 2001). Calls are
puts with price and strike exchanged (R. McDonald and M. Schroder, J. Computational Finance 1, 1998), so their squares
are weighed by x^2, as the change of the measure wants: a polynomial in a price without bound fits far worse.

Prices come from other paths than the rule, so whatever the rule, they are below the value of the best one but for their
sampling error. With degree 3 and 10^6 paths the rule loses 2e-4 to 8e-4 of the option's value where volatility is
between 0.2 and 0.6; that vanishes as both grow (E. Clement, D. Lamberton and P. Protter, Finance and Stochastics 6,
2002).

The rules are part of the state, `policy`: a row for each date, of the dates of one option after another, holds
A, B, a, b, c_0 .. c_d, 0 ..: v = A 2^y + B, y being the noise (dynamics.py), and p = sum of c_k T_k(u) in Chebyshev
polynomials, u = a 2^y + b of a put, a 2^-y + b of a call, kept within [-1, 1]: the prices that were seen. On the last
date p = 0. The regression stands in `regression.py`, arithmetic on whole arrays, and in `regression.cu`, for GPUs.
"""

from __future__ import annotations

import numpy as np

from simsuite.solvers.gbm.payoffs.exercise_rights import policy_shape
from simsuite.solvers.gbm.statement import Statement

FIRST_PATH = 1 << 62  # number of the first path that rules are learnt from; a run's own paths have smaller numbers
FEWEST = 8  # with fewer paths in the money for each coefficient nothing is learnt, and the option is held
# columns of float64 that learning needs besides those of a least-squares problem and their orthonormal ones
_COLUMNS = 6


def untrained_policy(statement: Statement) -> np.ndarray:
    """The array `policy` of the state before anything is learnt: it holds the exercise values (A and B of each row)
    alone."""
    policy = np.zeros(policy_shape(statement.payoffs.functionals))
    rate = statement.scenario.market.rate
    for holder in statement.holders:
        right, steps, end = holder.right, holder.steps, statement.time(holder.until)
        accrued = np.exp([rate.integral(statement.time(int(step)), end) for step in steps])
        sign = 1.0 if right.call else -1.0
        with np.errstate(over="ignore"):
            policy[holder.rows, 0] = sign * accrued * np.exp2(statement.dynamics.centre(steps)[holder.asset])
        policy[holder.rows, 1] = -sign * accrued * right.strike
    return policy


def policy_rows(statement: Statement, length: int) -> np.ndarray:
    """[American option, step]: the row of the policy for the end of the step, where the option can be exercised."""
    found = np.zeros((max(len(statement.holders), 1), length if statement.holders else 1), np.int32)
    for turn, holder in zip(found, statement.holders):
        turn[holder.steps - 1] = np.arange(holder.rows.start, holder.rows.stop)
    return found


def learning_paths(statement: Statement) -> int:
    """The number of paths that exercise is learnt from: a whole number of pairs if paths are antithetic."""
    count = statement.scenario.paths.regression_paths
    return count - count % (1 + statement.antithetic)


def learning_bytes(statement: Statement) -> int:
    """The bytes that learning takes at most, and frees when it is done."""
    american = [f for f in statement.payoffs.functionals if f.right is not None]
    if not american:
        return 0
    dates = min(sum(dates.count for dates in {f.dates for f in american}), statement.n_steps)
    looked_at = (dates + 1) * statement.n_assets + len(statement.payoffs.functionals)
    degree = max(f.right.degree for f in american if f.right is not None)
    return learning_paths(statement) * (looked_at * statement.dtype.itemsize + 8 * (2 * (degree + 1) + _COLUMNS))
