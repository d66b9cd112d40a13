"""What the states, inputs and outputs of a linear system are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.core import Variable
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.state_space import StateSpace


@dataclass(frozen=True)
class Parts:
    """The names of inputs and of what is observed, the outputs or else the states: those of the scenario, or a letter
    with a number from 0. given: whether the scenario names what is observed.
    """

    input: Sequence[str]
    observed: Sequence[str]
    given: bool

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The names as a variable of the result file, if the scenario has them."""
        if not self.given:
            return ()
        attrs = {"long_name": "name of the component"}
        return (Variable("component_name", ("component",), str, attrs, np.array(self.observed)),)


def parts_of(model: LinearScenario, stated: StateSpace) -> Parts:
    """The names of the parts of a system."""
    names, n = model.names, stated.A.shape[0]
    inputs = None if names is None else names.input
    width = 0 if stated.B is None else stated.B.shape[1]
    letter, rows = ("x", n) if stated.C is None else ("y", len(stated.C))
    observed = None if names is None else (names.state if stated.C is None else names.output)
    given = observed is not None
    if observed is None:
        observed = [f"{letter}{k}" for k in range(rows)] if rows <= 1 << 16 else []
    return Parts(inputs or [f"u{k}" for k in range(width)], observed, given)
