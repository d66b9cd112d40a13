"""How fast the variables of a payoff move with the market: derivatives along a path whose noise z is held fixed.

With S_k the price at date k, y_k its noise and v_k the variance of that (dynamics.py, weights.py),

    spot times (1 + eps):                        d log S_k / d eps = 1
    all volatilities times (1 + eps):            d log S_k / d eps = log 2 (y_k - log 2 v_k) = log S_k - DRIFT_k
    all rates higher by eps, yields fixed:       d log S_k / d eps = t_k
    all log-prices moved by eps times a share:   d log S_k / d eps = v_k / v_T

so that sums over dates need weighted sums besides, and extremes what the weights are at the date where they are
attained. P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 7.2. Variables of other
assets, and those not in `names`, stand still.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from simsuite.expressions.derivative import add, multiply, subtract
from simsuite.expressions.tree import Apply, Name, Node, Number
from simsuite.solvers.gbm.dynamics import LN2, Dynamics
from simsuite.solvers.gbm.functionals import Functional, Functionals, Kind, Quantity, Weight
from simsuite.solvers.gbm.variables import first, kept, last, noise, number
from simsuite.solvers.gbm.weights import shares

Slopes = dict[str, Node]
_AT = {Kind.LEAST: Kind.AT_LEAST, Kind.LARGEST: Kind.AT_LARGEST}
_PRICES = (Kind.SUM, Kind.LEAST, Kind.LARGEST)
KNOWN_KINDS = (*_PRICES, Kind.LOGARITHMS)


@dataclass(frozen=True)
class Tangents:
    """functionals: where those are added that slopes need."""

    functionals: Functionals
    dynamics: Dynamics

    def functional(self, name: str) -> Functional | None:
        i = number(name, "kept")
        return None if i is None else self.functionals.found[i]

    def asset(self, name: str) -> int:
        functional = self.functional(name)
        if functional is not None:
            return functional.asset
        found = [number(name, of) for of in ("last", "noise", "first")]
        return next(a for a in found if a is not None)

    def by_spot(self, asset: int, names: Iterable[str], first_too: bool = True) -> Slopes:
        """first_too: or else only later prices move."""
        found: Slopes = {}
        for name in self._of(asset, names):
            f = self.functional(name)
            if f is not None and f.kind == Kind.LOGARITHMS:
                found[name] = Number(f.dates.count / LN2)
            elif name != noise(asset) and (first_too or name != first(asset)):
                found[name] = Name(name)
        return found

    def by_volatility(self, asset: int, names: Iterable[str]) -> Slopes:
        found: Slopes = {}
        for name in self._of(asset, names):
            f = self.functional(name)
            if f is None:
                if name == last(asset):
                    own = self._variance(asset, np.array([self.dynamics.n_steps]))[0]
                    moved = subtract(multiply(Number(LN2), Name(noise(asset))), Number(own))
                    found[name] = multiply(Name(name), moved)
            elif f.kind == Kind.LOGARITHMS:
                steps = f.dates.steps(self.dynamics.n_steps)
                found[name] = subtract(Name(name), Number(float(self._variance(asset, steps).sum()) / LN2))
            elif f.kind == Kind.SUM:
                noisy = self._kept(replace(f, kind=Kind.NOISY))
                weighted = multiply(Number(self._end_variance(asset)), self.sum_of_shares(f, Quantity.VARIANCE))
                found[name] = subtract(multiply(Number(LN2), noisy), weighted)
            else:
                drift = self._kept(replace(f, kind=_AT[f.kind], weight=Weight(Quantity.DRIFT)))
                found[name] = multiply(Name(name), subtract(Apply("log", (Name(name),)), drift))
        return found

    def by_rate(self, names: Iterable[str]) -> Slopes:
        """Of all assets."""
        end = self.dynamics.dt * self.dynamics.n_steps
        found: Slopes = {}
        for name in names:
            slope = self._along(name, Quantity.TIME)
            if slope is not None:
                found[name] = multiply(Number(end), slope)
        return found

    def along_variance(self, asset: int, names: Iterable[str]) -> Slopes:
        """The log-price at the end moves by 1, earlier ones by their share in the variance."""
        slopes = {name: self._along(name, Quantity.VARIANCE) for name in self._of(asset, names)}
        return {name: slope for name, slope in slopes.items() if slope is not None}

    def sum_of_shares(self, functional: Functional, quantity: Quantity, power: int = 1) -> Node:
        """The sum of prices, each weighted by TIME or VARIANCE to a power."""
        if quantity == Quantity.VARIANCE and self.dynamics.volatility[functional.asset].is_constant:
            quantity = Quantity.TIME
        return self._kept(replace(functional, kind=Kind.WEIGHTED, weight=Weight(quantity, power)))

    def _along(self, name: str, quantity: Quantity) -> Node | None:
        """The slope if log-prices move by TIME or VARIANCE."""
        f, asset = self.functional(name), self.asset(name)
        if f is None:
            return Name(name) if name == last(asset) else None
        if f.kind == Kind.SUM:
            return self.sum_of_shares(f, quantity)
        if f.kind == Kind.LOGARITHMS:
            steps = f.dates.steps(self.dynamics.n_steps)
            return Number(float(shares(quantity, asset, steps, self.dynamics).sum()) / LN2)
        at = self._kept(replace(f, kind=_AT[f.kind], weight=Weight(quantity)))
        return multiply(Name(name), at)

    def _of(self, asset: int, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.asset(name) == asset]

    def _kept(self, functional: Functional) -> Node:
        return Name(kept(self.functionals.number(functional)))

    def _variance(self, asset: int, steps: np.ndarray) -> np.ndarray:
        """Of the natural logarithm."""
        return LN2**2 * self.dynamics.variance(steps)[asset]

    def _end_variance(self, asset: int) -> float:
        return float(self._variance(asset, np.array([self.dynamics.n_steps]))[0])


def total(nodes: Iterable[Node]) -> Node:
    """Their sum."""
    found: Node = Number(0.0)
    for node in nodes:
        found = add(found, node)
    return found
