"""Options that pay what an expression in functionals of the path says."""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.expressions.tree import Node, substitute
from simsuite.scenario.gbm import Formula
from simsuite.solvers.gbm.payoffs.functionals import Dates, Kind
from simsuite.solvers.gbm.payoffs.reader import PayoffReader
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Formula, reader: PayoffReader) -> Node:
    expression, every = reader.model.payoff(option), Dates.all(reader.n)
    made: dict[str, Callable[[int], Node]] = {
        "last": reader.last,
        "mean": lambda a: reader.mean(a, every, True),
        "geomean": lambda a: reader.mean(a, every, False),
        "min": lambda a: reader.extreme(Kind.LEAST, a, every),
        "max": lambda a: reader.extreme(Kind.LARGEST, a, every),
    }
    trees = {}
    for variable in sorted(expression.names):
        functional, _, name = variable.rstrip(")").partition("(")
        trees[variable] = made[functional](reader.names.index(name))
    return substitute(expression.tree, trees)


RECORD = StyleRecord[Formula](payoff=_payoff, least=-math.inf)
