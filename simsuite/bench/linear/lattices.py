"""Steps a second with sparse matrices, beside SciPy's products, or on a GPU those of cuSPARSE, called in a loop.

The system is a random walk on a square lattice, with five numbers a row. A step has to read A and the states, and to
write the states.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from simsuite.bench.findings import Row
from simsuite.bench.linear.steps import measured
from simsuite.bench.machine import Machine
from simsuite.bench.timing import Patience
from simsuite.core import Backend
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.sparse import sparse_bytes
from simsuite.solvers.table import ROWS


def lattice_rows(
    backend: Backend,
    machine: Machine,
    patience: Patience,
    lattices: Sequence[tuple[int, int]],
    precisions: Sequence[str],
) -> Iterator[Row]:
    """A row for each lattice, (sites of a side, states), and precision, as it is measured."""
    for side, m in lattices:
        for precision in precisions:
            problem = _problem(side, m, precision)
            row = measured(backend, patience, problem, _library_loop)
            if "steps_per_second" in row:
                size = np.dtype(precision).itemsize
                moved = sparse_bytes(problem.system.A, size) + 2 * side * side * m * size
                row["of_copy"] = moved * row["steps_per_second"] / machine.copy
            yield {"components": side * side, "states": m, "precision": precision} | row


def _problem(side: int, m: int, precision: str) -> LinearProblem:
    scenario = {
        "solver": "linear",
        "run": {"precision": precision},
        "system": {
            "kind": "discrete",
            "matrix": {"generator": "lattice_walk", "nx": side, "ny": side, "move": 0.2, "format": "csr"},
        },
        "initial": {"state": {"random": "normal", "batch": m}},
        "time": {"steps": 10**6, "method": "step"},
        "output": {"frames": 2},
    }
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario), Path())


def _library_loop(backend: Backend, system: LinearSystem, precision: str) -> Callable[[int], None] | None:
    """A function that takes ROWS steps at a time with the library's products: SciPy's, or CuPy's, whose interface is
    the same; None where there is no library.
    """
    X = backend.array(system.start.astype(precision))
    if isinstance(X, np.ndarray):
        A = system.A.astype(precision)
    else:
        try:
            A = importlib.import_module("cupyx.scipy.sparse").csr_matrix(system.A.astype(precision))
        except ImportError:
            return None

    def work(times: int) -> None:
        Y = X
        with backend.arithmetic():
            for _ in range(times * ROWS):
                Y = A @ Y

    return work
