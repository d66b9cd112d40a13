"""The tables that kernels read besides the state: see `paths/stepper.py`, `statistics.py`."""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.gbm.american.exercise_policy import policy_rows
from simsuite.solvers.gbm.market.step_tables import step_term_bytes, step_term_tables
from simsuite.solvers.gbm.paths.kernels import continuous
from simsuite.solvers.gbm.payoffs.exercise_rights import policy_shape
from simsuite.solvers.gbm.payoffs.functionals import due_table, weighted
from simsuite.solvers.gbm.payoffs.weights import weight_table
from simsuite.solvers.gbm.sobol import sobol_tables
from simsuite.solvers.gbm.statement import Statement


def tables(statement: Statement, real: np.dtype) -> dict[str, np.ndarray]:
    """All tables by name. real: type of the tables about prices along a path."""
    dynamics, n_steps, length = statement.dynamics, statement.n_steps, _length(statement)
    centre = dynamics.centre(np.minimum(np.arange(1, length + 1), n_steps))
    scale = np.ones((statement.n_assets, 1))
    if dynamics.varying:
        scale = np.pad(dynamics.scale(), ((0, 0), (0, -n_steps % statement.block)))
    with np.errstate(over="ignore"):  # an infinite price is reported when a path reaches it
        growth = np.vstack([np.exp2(centre), weight_table(statement.payoffs.functionals, dynamics, length)])
        along = {name: a.astype(real) for name, a in (("scale", scale), ("centre", centre), ("growth", growth))}
        between = {name: a.astype(real) for name, a in continuous.tables(statement).items()}
    return {
        **along,
        **between,
        **step_term_tables(dynamics, length, real),
        "mix": sobol_tables.mix(statement).astype(statement.normal),
        "levels": np.array([f.given for f in statement.payoffs.functionals] or [0.0], statement.dtype),
        "due": due_table(statement.payoffs.functionals, n_steps, length),
        "policy_row": policy_rows(statement, length),
        "rules": np.zeros(_rules_shape(statement), real),
        "frames": _frames(statement),
        "shifts": statement.shifts,
        "assets": np.array([statement.payoffs.asset(i) for i in range(len(statement.payoffs.values))], np.int64),
        "products": np.array(statement.payoffs.products, np.int64).reshape(-1, 2),
    }


def table_bytes(statement: Statement) -> int:
    """The bytes of all tables, found without making them."""
    n, length, size = statement.n_assets, _length(statement), statement.dtype.itemsize
    scales = -(-statement.n_steps // statement.block) * statement.block if statement.dynamics.varying else 1
    summed = 2 * len(statement.payoffs.values) + 2 * len(statement.payoffs.products)
    small = n * n * statement.normal.itemsize + 8 * (3 * len(statement.frame_steps) * n + summed)
    between = sum(map(math.prod, continuous.shapes(statement).values())) + max(len(statement.payoffs.functionals), 1)
    rows = 2 * n + len(weighted(statement.payoffs.functionals))
    small += step_term_bytes(statement.dynamics, length, size)
    american = sum(f.right is not None for f in statement.payoffs.functionals)
    policy_row, rules = 4 * (american * length if american else 1), size * math.prod(_rules_shape(statement))
    return (
        length * (4 + rows * size)
        + (scales * n + between) * size
        + small
        + policy_row
        + rules
        + sobol_tables.table_bytes(statement)
    )


def _rules_shape(statement: Statement) -> tuple[int, int]:
    """The shape of the table of rules; a single entry stands in for a table that nobody reads."""
    rows, width = policy_shape(statement.payoffs.functionals)
    return max(rows, 1), max(width, 1)


def _length(statement: Statement) -> int:
    """The number of columns of tables over steps, which reach to the end of a block; a single column stands in for
    tables that nobody reads."""
    dynamics = statement.dynamics
    read = (
        statement.payoffs.functionals or dynamics.varying or any(dynamics.step_terms.paying)
    )  # all rows have one length
    return -(-statement.n_steps // statement.block) * statement.block if read else 1


def _frames(statement: Statement) -> np.ndarray:
    """[frame, what, asset]: centre - log_mean, 1 / spread and centre, see `statistics.py`."""
    steps = np.array(statement.frame_steps)
    centre, spread = statement.dynamics.centre(steps), statement.dynamics.spread(steps)
    with np.errstate(divide="ignore"):
        inverse = np.where(spread > 0, 1 / spread, 0.0)
    found = np.stack([centre - statement.dynamics.log_mean(steps), inverse, centre])
    return np.ascontiguousarray(found.transpose(2, 0, 1))
