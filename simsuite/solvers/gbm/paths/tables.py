"""What the kernels read besides the state: see `paths/stepper.py`, `statistics.py`."""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.gbm.american.exercise_policy import turns
from simsuite.solvers.gbm.market.step_tables import move_bytes, move_tables
from simsuite.solvers.gbm.paths.kernels import continuous
from simsuite.solvers.gbm.payoffs.exercise_rights import policy_shape
from simsuite.solvers.gbm.payoffs.functionals import due_table, weighted
from simsuite.solvers.gbm.payoffs.weights import weight_table
from simsuite.solvers.gbm.sobol import sobol_tables
from simsuite.solvers.gbm.statement import Statement


def tables(problem: Statement, real: np.dtype) -> dict[str, np.ndarray]:
    """real: type of those about prices along a path."""
    dynamics, n_steps, length = problem.dynamics, problem.n_steps, _length(problem)
    centre = dynamics.centre(np.minimum(np.arange(1, length + 1), n_steps))
    scale = np.ones((problem.n_assets, 1))
    if dynamics.varying:
        scale = np.pad(dynamics.scale(), ((0, 0), (0, -n_steps % problem.block)))
    with np.errstate(over="ignore"):  # an infinite price is reported when a path reaches it
        growth = np.vstack([np.exp2(centre), weight_table(problem.payoffs.functionals, dynamics, length)])
        along = {name: a.astype(real) for name, a in (("scale", scale), ("centre", centre), ("growth", growth))}
        between = {name: a.astype(real) for name, a in continuous.tables(problem).items()}
    return {
        **along,
        **between,
        **move_tables(dynamics, length, real),
        "mix": sobol_tables.mix(problem).astype(problem.normal),
        "levels": np.array([f.given for f in problem.payoffs.functionals] or [0.0], problem.dtype),
        "due": due_table(problem.payoffs.functionals, n_steps, length),
        "turn": turns(problem, length),
        "rules": np.zeros(_rules_shape(problem), real),
        "frames": _frames(problem),
        "shifts": problem.shifts,
        "assets": np.array([problem.payoffs.asset(i) for i in range(len(problem.payoffs.values))], np.int64),
        "products": np.array(problem.payoffs.products, np.int64).reshape(-1, 2),
    }


def table_bytes(problem: Statement) -> int:
    """Of them all, without making them."""
    n, length, size = problem.n_assets, _length(problem), problem.dtype.itemsize
    scales = -(-problem.n_steps // problem.block) * problem.block if problem.dynamics.varying else 1
    summed = 2 * len(problem.payoffs.values) + 2 * len(problem.payoffs.products)
    small = n * n * problem.normal.itemsize + 8 * (3 * len(problem.frame_steps) * n + summed)
    between = sum(map(math.prod, continuous.shapes(problem).values())) + max(len(problem.payoffs.functionals), 1)
    rows = 2 * n + len(weighted(problem.payoffs.functionals))
    small += move_bytes(problem.dynamics, length, size)
    american = sum(f.right is not None for f in problem.payoffs.functionals)
    turn, rules = 4 * (american * length if american else 1), size * math.prod(_rules_shape(problem))
    return (
        length * (4 + rows * size)
        + (scales * n + between) * size
        + small
        + turn
        + rules
        + sobol_tables.table_bytes(problem)
    )


def _rules_shape(problem: Statement) -> tuple[int, int]:
    """A single entry stands in for what nobody reads."""
    rows, width = policy_shape(problem.payoffs.functionals)
    return max(rows, 1), max(width, 1)


def _length(problem: Statement) -> int:
    """Of tables over steps, which reach to the end of a block; a single entry stands in for what nobody reads."""
    dynamics = problem.dynamics
    read = problem.payoffs.functionals or dynamics.varying or any(dynamics.moves.paying)  # all rows have one length
    return -(-problem.n_steps // problem.block) * problem.block if read else 1


def _frames(problem: Statement) -> np.ndarray:
    """[frame, what, asset]."""
    steps = np.array(problem.frame_steps)
    centre, spread = problem.dynamics.centre(steps), problem.dynamics.spread(steps)
    with np.errstate(divide="ignore"):
        inverse = np.where(spread > 0, 1 / spread, 0.0)
    found = np.stack([centre - problem.dynamics.log_mean(steps), inverse, centre])
    return np.ascontiguousarray(found.transpose(2, 0, 1))
