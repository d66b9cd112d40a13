"""How fast the variables of a payoff move with the market: derivatives along a path whose noise z is held fixed.

With S_k the price at date k, y_k its noise and v_k the variance of that (dynamics.py, weights.py),

    spot times (1 + eps):                        d log S_k / d eps = 1
    all volatilities times (1 + eps):            d log S_k / d eps = log 2 (y_k - log 2 v_k) = log S_k - DRIFT_k
    all rates higher by eps, yields fixed:       d log S_k / d eps = t_k
    all log-prices moved by eps times a share:   d log S_k / d eps = v_k / v_T

so that sums over dates need weighted sums besides, and extremes what the weights are at the date where they are
attained. P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 7.2. Variables of other
assets, and those not in `names`, stand still.

When American options are exercised stands still, too: with the best rule nothing is gained or lost by moving the date
(V. Piterbarg, "Risk sensitivities of Bermuda swaptions", 2004), and with one that was learnt from paths
(exercise_policy.py) little, which is the bias of such Greeks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from simsuite.expressions.derivative import add, divide, multiply, subtract
from simsuite.expressions.tree import Apply, Name, Node, Number
from simsuite.scenario.gbm import Schedule
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Functional, Functionals, Kind, Quantity, Weight
from simsuite.solvers.gbm.payoffs.variables import first, kept, last, noise, number
from simsuite.solvers.gbm.payoffs.weights import shares

Slopes = dict[str, Node]
_AT = {Kind.LEAST: Kind.AT_LEAST, Kind.LARGEST: Kind.AT_LARGEST}
_AT |= {Kind.LOWEST: Kind.AT_LOWEST, Kind.HIGHEST: Kind.AT_HIGHEST}
_ALIKE = Weight(Quantity.TIME, 0)  # moves all log-prices by 1
_KNOWN = (*_AT, Kind.SUM, Kind.LOGARITHMS, Kind.SURVIVAL)


@dataclass(frozen=True)
class PathwiseDerivatives:
    """Pathwise slopes of variables. functionals: the list to which the functionals that slopes need are added. rate:
    the interest rate."""

    functionals: Functionals
    dynamics: Dynamics
    rate: Schedule

    def knows(self, functional: Functional) -> bool:
        """Whether the slopes of this functional are known."""
        return functional.kind in _KNOWN or (functional.kind == Kind.EXERCISED and self.rate.is_constant)

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
        """Slopes as an asset's log-prices move by 1. first_too: whether the spot itself moves as well, and not only
        later prices."""
        found: Slopes = {}
        for name in self._of(asset, names):
            f = self.functional(name)
            if f is not None and f.kind == Kind.LOGARITHMS:
                found[name] = Number(f.dates.count / LN2)
            elif f is not None and f.kind == Kind.SURVIVAL:
                found[name] = self._kept(replace(f, kind=Kind.SLOPE, weight=_ALIKE))
            elif f is not None and f.kind == Kind.EXERCISED:
                found[name] = self._price_at_exercise(name, f)
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
            elif f.kind == Kind.SURVIVAL:
                apart = Weight(Quantity.DRIFT, less=LN2 * f.level)
                found[name] = multiply(Number(-1.0), self._kept(replace(f, kind=Kind.SLOPE, weight=apart)))
            elif f.kind == Kind.EXERCISED:
                price = self._price_at_exercise(name, f)
                own = Apply("log", (divide(Apply("abs", (price,)), self._interest_after(f)),))
                found[name] = multiply(price, subtract(own, self._at_exercise(f, Quantity.DRIFT)))
            else:
                drift = self._kept(replace(f, kind=_AT[f.kind], weight=Weight(Quantity.DRIFT)))
                found[name] = multiply(Name(name), subtract(Apply("log", (Name(name),)), drift))
        return found

    def by_rate(self, names: Iterable[str]) -> Slopes:
        """Slopes by a shift of the growth of all assets."""
        end = self.dynamics.dt * self.dynamics.n_steps
        found: Slopes = {}
        for name in names:
            slope = self._along(name, Quantity.TIME)
            if slope is not None:
                found[name] = multiply(Number(end), slope)
        return found

    def by_interest(self, names: Iterable[str]) -> Slopes:
        """Slopes by the rate at which cash from exercise bears interest until the end, while the growth of prices
        stays."""
        end, found = self.dynamics.dt * self.dynamics.n_steps, Slopes()
        for name in names:
            f = self.functional(name)
            if f is not None and f.kind == Kind.EXERCISED:
                rest = subtract(Number(1.0), self._at_exercise(f, Quantity.TIME))
                found[name] = multiply(Number(end), multiply(Name(name), rest))
        return found

    def before_end(self, names: Iterable[str], power: int) -> Slopes:
        """Slopes of what is watched at all times, as all log-prices but the last move by a power of TIME."""
        found: Slopes = {}
        for name in names:
            f = self.functional(name)
            if f is not None and f.kind == Kind.SURVIVAL:
                found[name] = self._kept(replace(f, kind=Kind.SLOPE, weight=Weight(Quantity.BEFORE_END, power)))
        return found

    def along_variance(self, asset: int, names: Iterable[str]) -> Slopes:
        """Slopes as an asset's log-price at the end moves by 1, and earlier ones by their share in the variance."""
        slopes = {name: self._along(name, Quantity.VARIANCE) for name in self._of(asset, names)}
        return {name: slope for name, slope in slopes.items() if slope is not None}

    def sum_of_shares(self, functional: Functional, quantity: Quantity, power: int = 1) -> Node:
        """The sum of prices, each weighted by TIME or VARIANCE to a power."""
        if quantity == Quantity.VARIANCE and self.dynamics.volatility[functional.asset].is_constant:
            quantity = Quantity.TIME
        return self._kept(replace(functional, kind=Kind.WEIGHTED, weight=Weight(quantity, power)))

    def _along(self, name: str, quantity: Quantity) -> Node | None:
        """The slope of a variable as log-prices move by TIME or VARIANCE; None if it does not move."""
        f, asset = self.functional(name), self.asset(name)
        if f is None:
            return Name(name) if name == last(asset) else None
        if f.kind == Kind.SUM:
            return self.sum_of_shares(f, quantity)
        if f.kind == Kind.LOGARITHMS:
            steps = f.dates.steps(self.dynamics.n_steps)
            return Number(float(shares(quantity, asset, steps, self.dynamics).sum()) / LN2)
        if f.kind == Kind.SURVIVAL:
            return self._kept(replace(f, kind=Kind.SLOPE, weight=Weight(quantity)))
        if f.kind == Kind.EXERCISED:
            return multiply(self._price_at_exercise(name, f), self._at_exercise(f, quantity))
        at = self._kept(replace(f, kind=_AT[f.kind], weight=Weight(quantity)))
        return multiply(Name(name), at)

    def _at_exercise(self, f: Functional, quantity: Quantity) -> Node:
        return self._kept(Functional(Kind.AT_EXERCISED, f.asset, f.dates, weight=Weight(quantity), exercised=f))

    def _interest_after(self, f: Functional) -> Node:
        """The factor by which money grows from the date of exercise to the end."""
        whole = self.rate.value * self.dynamics.dt * self.dynamics.n_steps
        rest = subtract(Number(1.0), self._at_exercise(f, Quantity.TIME))
        return Apply("exp", (multiply(Number(whole), rest),)) if whole else Number(1.0)

    def _price_at_exercise(self, name: str, f: Functional) -> Node:
        """What exercise brought without the strike, in money of the end: the price at exercise, negative for a put."""
        assert f.right is not None
        strike = f.right.strike if f.right.call else -f.right.strike
        return add(Name(name), multiply(Number(strike), self._interest_after(f)))

    def _of(self, asset: int, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.asset(name) == asset]

    def _kept(self, functional: Functional) -> Node:
        return Name(kept(self.functionals.number(functional)))

    def _variance(self, asset: int, steps: np.ndarray) -> np.ndarray:
        """The variance of the natural logarithm of the price after these steps."""
        return LN2**2 * self.dynamics.variance(steps)[asset]

    def _end_variance(self, asset: int) -> float:
        return float(self._variance(asset, np.array([self.dynamics.n_steps]))[0])


def total(nodes: Iterable[Node]) -> Node:
    """The sum of the nodes."""
    found: Node = Number(0.0)
    for node in nodes:
        found = add(found, node)
    return found
