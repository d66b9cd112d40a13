"""Options that pay what an expression in functionals of the path says."""

from __future__ import annotations

import math

from simsuite.expressions.tree import Node, substitute
from simsuite.scenario.gbm import Formula
from simsuite.scenario.gbm.functionals import read_variable
from simsuite.solvers.gbm.payoffs.functionals import Dates, Kind
from simsuite.solvers.gbm.payoffs.reader import PayoffReader
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Formula, reader: PayoffReader) -> Node:
    expression = reader.model.payoff(option)
    return substitute(
        expression.tree, {variable: _functional(variable, reader) for variable in sorted(expression.names)}
    )


def _functional(variable: str, reader: PayoffReader) -> Node:
    """A functional of the path, as `parse_payoff` names it."""
    functional, name, times = read_variable(variable)
    asset, step = reader.names.index(name), reader.model.time.nearest_step
    if functional == "last":
        return reader.last(asset)
    if functional == "at":
        return reader.at(asset, step(times[0]))
    dates, with_spot = Dates.all(reader.n), True
    if times:
        begin, end = map(step, times)
        dates, with_spot = Dates(listed=tuple(range(max(begin, 1), end + 1))), begin == 0
    if functional in ("mean", "geomean"):
        return reader.mean(asset, dates, functional == "mean")
    return reader.extreme(Kind.LEAST if functional == "min" else Kind.LARGEST, asset, dates, with_spot)


RECORD = StyleRecord[Formula](payoff=_payoff, least=-math.inf)
