"""Runs of systems whose solutions are known, by every method, in both precisions, and what they say of themselves."""

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
TOLD = (CLOSED, JORDAN, INPUT)  # kinds of runs that take so many steps that their residual says something


def state_checks(backend: Backend, cases: Sequence[Case], note: Note) -> Iterator[Check]:
    """At every frame: the largest distance of the state from the exact one, as a part of its largest norm.

    `step` must solve all of them; other methods may refuse to, and `note` is told why.
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
    """Of all frames, in the Frobenius norm."""
    errors = [float(np.linalg.norm(X - case.state(k))) for k, X in found.states.items()]
    return max(errors) / case.scale


def _kept(name: str, case: Case, kept: np.ndarray, found: Outcome, limit: float) -> Check:
    """The largest change of what stays as it is, relative to its size; limit: of changes of the state."""

    def measure(X: np.ndarray) -> np.ndarray:
        values: np.ndarray = kept @ X if kept.ndim == 1 else np.sum((X.conj() * (kept @ X)).real, axis=0)
        return values

    start = measure(case.start)
    size = float(np.linalg.norm(start))
    change = max(float(np.linalg.norm(measure(X) - start)) for X in found.states.values()) / size
    steepest = float(np.linalg.norm(kept, 2)) * (1.0 if kept.ndim == 1 else 2 * case.scale)
    return at_most(name, KEPT, change, limit * case.scale * steepest / size)


def _residual(name: str, case: Case, found: Outcome) -> Check:
    """What a run says of its error must be its error, but for what repeated squaring in float64 may be off. Runs that
    do not step look at some columns only."""
    X = case.state(case.steps)
    columns = slice(None, None, -(-X.shape[1] // COLUMNS) if found.results["method"] != "step" else 1)
    scale = float(np.max(np.abs(X[:, columns])))
    error = float(np.max(np.abs((found.last - X)[:, columns])))
    limit = min(case.limit("float64", found.norm), LARGEST["float64"]) * case.scale
    if scale > 0:
        error, limit = error / scale, limit / scale
    return near(name, RESIDUAL, found.results["residual"], error, limit)
