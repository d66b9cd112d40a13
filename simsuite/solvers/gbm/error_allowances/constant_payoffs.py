"""Whether a payoff is the same on all paths, whatever they are: by interval arithmetic over all that a path can be.

The price of such a payoff is exact: that of an option that cannot pay, like a put with a strike of 40 on an average of
at least 50, and that of an option that is sure of what it pays. That no path paid anything else does not prove it. The
terms of the option do, if the payoff has equal bounds over all prices from 0 to LARGEST, beyond which a run counts a
price as overflown. The bounds take variables to be independent of each other, so that they do not see what follows from
two of them together.
"""

from __future__ import annotations

import numpy as np

from simsuite.expressions.intervals import Bounds, bounds_within
from simsuite.expressions.tree import Node, names_in
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind
from simsuite.solvers.gbm.payoffs.variables import number
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import LARGEST


def _between(low: float, high: float) -> Bounds:
    return np.asarray(low), np.asarray(high)


_POSITIVE, _ANY = _between(0.0, LARGEST), _between(-LARGEST, LARGEST)
_ROUNDED = 1e-9  # tolerance, relative to a price without noise: far more than its rounding
_PRICES = {
    Kind.LEAST: _POSITIVE,
    Kind.LARGEST: _POSITIVE,
    Kind.LOWEST: _between(0.0, 1.0),  # these are over all times, the start among them
    Kind.HIGHEST: _between(1.0, LARGEST),
    Kind.SURVIVAL: _between(0.0, 1.0),
}


def is_constant(statement: Statement, tree: Node) -> bool:
    """Whether a payoff, or an expression whose mean is a Greek, is one number on all paths. False if that cannot be
    shown."""
    low, high = bounds_within(tree, {name: _range(statement, name) for name in names_in(tree)})
    return bool(low == high)


def _range(statement: Statement, name: str) -> Bounds:
    asset, i = number(name, "last"), number(name, "kept")
    if asset is not None:
        return _last(statement, asset)
    return _ANY if i is None else _kept(statement, statement.payoffs.functionals[i])


def _last(statement: Statement, asset: int) -> Bounds:
    dynamics = statement.dynamics
    if dynamics.is_noisy(asset) or dynamics.step_terms.paying[asset]:
        return _POSITIVE
    price = float(statement.end_growth[asset])
    return _between(price * (1 - _ROUNDED), price * (1 + _ROUNDED))


def _kept(statement: Statement, functional: Functional) -> Bounds:
    kind, count = functional.kind, functional.dates.count
    if kind == Kind.SUM:
        return _between(0.0, count * LARGEST)
    if kind == Kind.LOGARITHMS:
        return _between(-LARGEST, _largest_noise(statement, functional))
    if kind == Kind.EXERCISED and functional.right is not None and not functional.right.call:
        return _between(-LARGEST, LARGEST if functional.right.strike else 0.0)
    return _PRICES.get(kind, _ANY)


def _largest_noise(statement: Statement, functional: Functional) -> float:
    """The sum over all dates of the noise at which the price is LARGEST."""
    centre = statement.dynamics.centre(functional.dates.steps(statement.n_steps))[functional.asset]
    return float(np.sum(np.log2(LARGEST) - centre))
