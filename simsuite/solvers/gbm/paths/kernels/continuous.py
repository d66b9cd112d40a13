"""What a price does between the ends of a time step, for options that are monitored continuously.

Given both ends, the logarithm x of a price is a Brownian bridge, whatever the drift. With x0 and x1 at the ends and v
the variance that the step adds (P. Glasserman, "Monte Carlo Methods in Financial Engineering", Springer 2003, section
6.4),

    P(a level at distances d0, d1 > 0 was reached) = exp(-2 d0 d1 / v),
    lowest or highest x = (x0 + x1 -+ sqrt((x1 - x0)^2 - 2 v log U)) / 2,  U uniform.

Barriers need no random numbers for that: SURVIVAL is the product over all steps of the probability not to have reached
the level, the expectation of "never reached" given the ends of the steps, so a payoff that is weighted with it has the
same mean as one that is void or not, and a smaller variance. A distance is negative beyond the level: then d0 d1 <= 0,
which counts as reached; whether both are beyond does not matter, as the product was 0 before.

For Greeks, prices move by w0 and w1 in natural logarithms before and after a step. Then the factor 1 - q of SURVIVAL
moves by q 2 (d1 w0 + d0 w1) / v, and SLOPE is how the product moves; with all volatilities (1 + eps) times as large, v
moves, too, and all in all w is the logarithm of the level less DRIFT (weights.py). An extreme that was drawn moves by
what lies between the weights, w0 + (w1 - w0) (1 +- s) / 2, s = (x1 - x0) / sqrt((x1 - x0)^2 - 2 v log U), which is
AT_HIGHEST or AT_LOWEST; with the volatilities by its own logarithm less that of DRIFT.

LOWEST and HIGHEST are drawn, each with numbers of its own (`chances`): their joint law is not that of the path, so no
option may use both of an asset. Antithetic twins have U and 1 - U.

Exact in law, for any number of steps, where growth and volatility are constant within each step. Where one changes
amid a step, v is still the integral of sigma^2, but the drift counts as spread out like the variance. A dividend in
proportion to the price is paid at the end of its step: the bridge ends before it, and the price after it counts too.

Kernels take
- bridges[what, asset, step] (one column if volatilities are constant): v, and 2 log2(e) / v, or `_SHARPEST` if less;
- dividend_drops[asset, step] (one column if there are none): by how much the price falls at the end of the step;
- levels[functional], of those that have one; of a SLOPE, its weight at the start.
All of them, like x, in logarithms to base 2.
"""

from __future__ import annotations

import numpy as np

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, Kind
from simsuite.solvers.gbm.statement import Statement

# streams of random numbers from this number on are those of extremes; those of the assets are below
FIRST_STREAM = 1 << 30
_SHARPEST = 1e30  # largest sharpness: a level nearer than 1e-15 of the price cannot be told from it in these numbers


def chances(kind: Kind, asset: int) -> int:
    """The stream of the numbers U for one extreme of an asset."""
    return FIRST_STREAM + 2 * asset + (kind == Kind.HIGHEST)


def shapes(statement: Statement) -> dict[str, tuple[int, ...]]:
    """The shapes of the tables; a single entry stands in for a table that nobody reads."""
    dynamics, n = statement.dynamics, statement.n_assets
    padded = -(-statement.n_steps // statement.block) * statement.block if watched(statement) else 1
    return {
        "bridges": (2, n, padded if dynamics.varying else 1),
        "dividend_drops": (n, padded if any(dynamics.paid) else 1),
    }


def tables(statement: Statement) -> dict[str, np.ndarray]:
    dynamics = statement.dynamics
    made = {name: np.zeros(shape) for name, shape in shapes(statement).items()}
    if not watched(statement):
        return made
    variance, sharpness = made["bridges"]
    step = dynamics.scale() if dynamics.varying else np.linalg.norm(dynamics.mix, axis=1)[:, None]
    variance[:, : step.shape[1]] = step**2
    with np.errstate(divide="ignore", over="ignore"):
        sharpness[:] = np.minimum(2 / LN2 / variance, _SHARPEST)
    for fall, paid in zip(made["dividend_drops"], dynamics.paid):
        for payment in paid:
            fall[payment.step - 1] -= payment.fall / LN2
    return made


def watched(statement: Statement) -> bool:
    """Whether some functional depends on what prices do between steps."""
    return any(functional.kind in CONTINUOUS for functional in statement.payoffs.functionals)
