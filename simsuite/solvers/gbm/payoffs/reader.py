"""Builds payoffs as expressions in what is kept of a path, from parts that styles of options put together.

Variables are named in variables.py. Prices are in units of the asset's spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from simsuite.expressions.tree import Apply, Name, Node, Number
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Functionals, Kind, Right
from simsuite.solvers.gbm.payoffs.variables import first, kept, last

Tree = Node | float


def _node(value: Tree) -> Node:
    return Number(float(value)) if isinstance(value, (int, float)) else value


def _op(name: str) -> Callable[..., Node]:
    return lambda *args: Apply(name, tuple(map(_node, args)))


add, subtract, times, exp, log = _op("+"), _op("-"), _op("*"), _op("exp"), _op("log")
least, largest, where, greater, at_least = _op("min"), _op("max"), _op("where"), _op(">"), _op(">=")


def vanilla(payoff: str, price: Node, strike: float) -> Node:
    """max(price - strike, 0) for a call, max(strike - price, 0) for a put."""
    sides = (price, strike) if payoff == "call" else (strike, price)
    return largest(subtract(*sides), 0.0)


class PayoffReader:
    """Makes the parts of payoffs on the assets of a scenario, and collects the functionals of paths that they need.
    references: the prices of all assets of which performances are multiples, by default the spots."""

    def __init__(self, model: GbmScenario, dynamics: Dynamics, references: Sequence[float] = ()) -> None:
        self.model, self.dynamics = model, dynamics
        self.names = model.asset_names
        self.n = dynamics.n_steps
        self._references = references or tuple(asset.spot for asset in model.asset)
        self.functionals = Functionals(self.n)

    def asset(self, name: str | None) -> int:
        """The number of an asset; 0, the first, where a scenario names none."""
        return 0 if name is None else self.names.index(name)

    def spot(self, asset: int) -> float:
        return self.model.asset[asset].spot

    def last(self, asset: int) -> Node:
        """The price of an asset at the end."""
        return times(self.spot(asset), Name(last(asset)))

    def at(self, asset: int, step: int) -> Node:
        """The price of an asset after so many steps."""
        if step == self.n:
            return self.last(asset)
        return times(self.spot(asset), self.kept(Kind.SUM, asset, Dates(listed=(step,))))

    def performance(self, asset: int, step: int) -> Node:
        """The price of an asset after so many steps as a multiple of its reference, the spot at which its contract
        was made."""
        price = Name(last(asset)) if step == self.n else self.kept(Kind.SUM, asset, Dates(listed=(step,)))
        return self._performance(asset, price)

    def lowest_performance(self, asset: int, dates: Dates) -> Node:
        """The least price on dates as a multiple of the reference."""
        return self._performance(asset, self.kept(Kind.LEAST, asset, dates))

    def _performance(self, asset: int, price: Node) -> Node:
        ratio = self.spot(asset) / self._references[asset]
        return price if ratio == 1 else times(ratio, price)

    def kept(self, kind: Kind, asset: int, dates: Dates, level: float = 0.0, right: Right | None = None) -> Node:
        """The value of a functional of the path."""
        return Name(kept(self.functionals.number(Functional(kind, asset, dates, level, right=right))))

    def dates(self, count: int | None) -> Dates:
        """So many dates, or every step if no count is given."""
        return Dates(count or self.n)

    def mean(self, asset: int, dates: Dates, arithmetic: bool, past: Sequence[float] = ()) -> Node:
        """The mean of the prices on dates and of past prices."""
        weight, spot = 1.0 / (dates.count + len(past)), self.spot(asset)
        if arithmetic:
            mean = times(weight * spot, self.kept(Kind.SUM, asset, dates))
            return add(mean, weight * math.fsum(past)) if past else mean
        centre = self.dynamics.centre(dates.steps(self.n))[asset] * LN2
        known = math.fsum(map(math.log, past)) + float(centre.sum()) + dates.count * math.log(spot)
        noise = times(weight * LN2, self.kept(Kind.LOGARITHMS, asset, dates))
        return exp(add(noise, weight * known))

    def extreme(self, kind: Kind, asset: int, dates: Dates, with_spot: bool = True) -> Node:
        """The least or the largest price on dates. with_spot: whether the spot is one of the prices."""
        price = self.kept(kind, asset, dates)
        if with_spot:
            price = (least if kind == Kind.LEAST else largest)(price, Name(first(asset)))
        return times(self.spot(asset), price)
