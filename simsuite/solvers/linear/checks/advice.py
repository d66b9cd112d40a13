"""Warnings about what is probably not meant in a linear scenario, although it can be run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from simsuite.scenario.linear import MatrixFile, System
from simsuite.solvers.linear.analysis.chain import NEAR, SUMS, rounded_columns, sums_of
from simsuite.solvers.linear.checks.jumping_inputs import late_warnings, ramp_warnings
from simsuite.solvers.linear.checks.recorded_inputs import recorded_warnings
from simsuite.solvers.linear.checks.rounded_inputs import rounding_warnings
from simsuite.solvers.linear.inputs.input_values import Inputs
from simsuite.solvers.linear.inputs.recorded import written
from simsuite.solvers.linear.state_space import StateSpace


def warnings_of(system: System, stated: StateSpace, inputs: Inputs, steps: int) -> Sequence[str]:
    """The warnings about a scenario, one sentence each. stated: the system with its matrices read; steps: how many the
    run has.
    """
    if inputs.recorded:
        return (*_of_chains(system, stated), *recorded_warnings(inputs, steps))
    given = written(inputs.given)
    rounded = rounding_warnings(given, inputs.dt, steps + inputs.ahead)
    jumping: Iterable[str] = ()
    if inputs.ahead:
        jumping = ramp_warnings(given, inputs.dt, steps)
    elif stated.continuous:
        jumping = late_warnings(given, inputs.dt, steps, rounded)
    return (*_of_chains(system, stated), *rounded.values(), *jumping)


def _of_chains(system: System, stated: StateSpace) -> Sequence[str]:
    given = system.matrix
    if not isinstance(given, (list, MatrixFile)) or np.iscomplexobj(stated.A):
        return ()
    sums = sums_of(stated.A, stated.continuous)
    if sums.get("columns", np.inf) <= NEAR:
        return _of_columns(stated, sums["columns"])
    return (_of_rows(system.transpose, stated.continuous, sums["rows"]),) if sums.get("rows", np.inf) <= NEAR else ()


def _of_rows(transposed: bool, continuous: bool, off: float) -> str:
    """The warning about a Markov chain whose rows, rather than columns, sum to 1 (0). transposed: whether the scenario
    has the matrix turned already. off: how far the sums are off."""
    turned = "false" if transposed else "true"
    total, rule, wanted = (0, "dX/dt = A X", "dp/dt = A^T p") if continuous else (1, "X <- A X", "p <- A^T p")
    sums = f"sum to {total}"
    if off > SUMS:
        sums += f" (only up to {_share(off, continuous)}: {_normalise('row', continuous)})"
    found = f"the rows of `matrix` {sums}, its columns do not, as in a Markov chain with A[i, j] from i to j"
    use = f"{rule} then carries expectations; for probabilities, {wanted}, add transpose = {turned} to [system]"
    return f"{found}: {use}"


def _of_columns(stated: StateSpace, off: float) -> Sequence[str]:
    """The warning about a Markov chain whose columns do not sum exactly, as its entries were rounded to few digits."""
    if off <= SUMS or not rounded_columns(stated.A, stated.continuous):
        return ()
    total = 0 if stated.continuous else 1
    share = _share(off, stated.continuous)
    found = f"the columns of `matrix` sum to {total} only up to {share}, as in a Markov chain with rounded entries"
    return (f"{found}, so that the sum of all probabilities drifts: {_normalise('column', stated.continuous)}",)


def _share(off: float, continuous: bool) -> str:
    """In words, how far sums are off. off: as `sums_of` gives it."""
    return f"{off:.2g}" + (" of what leaves a state" if continuous else "")


def _normalise(line: str, continuous: bool) -> str:
    if continuous:
        return f"make each entry of the diagonal minus the sum of the others in its {line}"
    return f"divide each {line} by its sum"
