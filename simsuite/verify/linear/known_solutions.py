"""Checks of runs whose solutions are known, by every method, in both precisions, and of the errors that runs report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.solvers.linear.results.residual import COLUMNS
from simsuite.verify.checks import Check, at_most, near, not_checked
from simsuite.verify.linear.cases import CLOSED, INPUT, JORDAN
from simsuite.verify.linear.runs import LARGEST, Case, Note, Outcome, kernels, label, methods, run

KEPT, RESIDUAL = "conserved", "residual"
TOLD = (CLOSED, JORDAN, INPUT)  # The kinds of runs that take so many steps that their residual is meaningful.


def state_checks(backend: Backend, cases: Sequence[Case], note: Note) -> Iterator[Check]:
    """Checks of the largest distance of the state from the exact one at any frame, as a share of its largest norm.

    `step` must solve all cases; other methods may refuse to, and `note` is told why.
    """
    for case in cases:
        for precision in case.precisions:
            for method in methods():
                for kernel in kernels(backend, case.sparse):
                    name = label(case.name, precision, method, kernel)
                    try:
                        found = run(case.scenario(precision=precision, method=method, kernel=kernel), backend)
                    except ScenarioError as refusal:
                        if method == "step":
                            yield Check(name, case.kind, math.nan, "a solution", False)
                        else:
                            note(not_checked(name, refusal))
                        continue
                    limit = min(case.limit(precision, found.norm, method), LARGEST[precision])
                    yield at_most(name, case.kind, distance(case, found), limit, steps=case.steps)
                    if case.kept is not None:
                        yield _kept(name, case, case.kept, found, limit)
                    if "residual" in found.results and case.kind in TOLD:
                        yield _residual(name, case, found)


def distance(case: Case, found: Outcome) -> float:
    """The largest distance of all frames from the exact states, in the Frobenius norm."""
    errors = [float(np.linalg.norm(X - case.state(k))) for k, X in found.states.items()]
    return max(errors) / case.scale


def _kept(name: str, case: Case, kept: np.ndarray, found: Outcome, limit: float) -> Check:
    """A check of the largest change of a conserved quantity, relative to its size; limit: the limit for changes of the
    state.
    """

    def measure(X: np.ndarray) -> np.ndarray:
        values: np.ndarray = kept @ X if kept.ndim == 1 else np.sum((X.conj() * (kept @ X)).real, axis=0)
        return values

    start = measure(case.start)
    size = float(np.linalg.norm(start))
    change = max(float(np.linalg.norm(measure(X) - start)) for X in found.states.values()) / size
    steepest = float(np.linalg.norm(kept, 2)) * (1.0 if kept.ndim == 1 else 2 * case.scale)
    return at_most(name, KEPT, change, limit * case.scale * steepest / size)


def _residual(name: str, case: Case, found: Outcome) -> Check:
    """A check that the error which a run reports is its error, up to the error of repeated squaring in float64. For
    runs that do not step, only some columns are compared.
    """
    X = case.state(case.steps)
    columns = slice(None, None, -(-X.shape[1] // COLUMNS) if found.results["method"] != "step" else 1)
    scale = float(np.max(np.abs(X[:, columns])))
    error = float(np.max(np.abs((found.last - X)[:, columns])))
    limit = min(case.limit("float64", found.norm), LARGEST["float64"]) * case.scale
    if scale > 0:
        error, limit = error / scale, limit / scale
    return near(name, RESIDUAL, found.results["residual"], error, limit)
