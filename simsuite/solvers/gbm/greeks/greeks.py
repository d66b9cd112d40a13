"""Greeks: derivatives of option prices by the market, estimated on the same paths as the prices.

delta, gamma   by the spot of each asset, once and twice
vega           by a common relative change of an asset's volatility at all times, per root mean square of it
rho            by a shift of the rate at all times: growth shifts too unless the scenario gives a drift
theta          how the price changes as time passes, spot fixed, dates of the option coming nearer

Methods, of which `greeks_of` takes for each option and Greek the first that holds:

pathwise           E (derivative of the payoff along the path), if the payoff has no jumps (pathwise.py)
mixed              gamma: the first derivative pathwise, the second by a score (likelihood_ratio.py), or for a mean x
                   over dates by parts in the direction D that moves log S_k by v_k / v_T, which leaves an error that
                   does not grow with the number of dates: with d x the derivative by log S(0), w = Y_T / var Y_T,
                       E d(f'(x) d x) = E f'(x) (d d x + G w - D G),   G = (d x)^2 / D x
                   E. Fournie et al., "Applications of Malliavin calculus to Monte Carlo methods in finance", Finance
                   and Stochastics 3 (1999). Also delta and rho of what jumps by the last dividend (last_dividend.py)
likelihood ratio   E (payoff * score), for payoffs with jumps; the score, whose mean is known, is a control variate
homogeneity        where a price is proportional to the spot, plus a constant: gamma is 0. Where a payoff on last prices
                   is homogeneous, f(c S) = c^d f(S): a shift of the rate by e makes it grow by exp(d e T), and
                   discounts it by exp(-e T), so that rho is (d - 1) T times the price, 0 for an exchange of assets
equation           gamma and theta of what is watched at all times, in a constant market, whose prices depend on the end
                   T, the growth g and the volatility s by g T and s^2 T alone: pathwise derivatives by these give
                       -theta = g / T d V / d g + s / (2 T) d V / d s - rate V,
                   and gamma by the Black-Scholes equation. A score would have to be about the first step
none               where none of these is right; the reason is said (`NotEstimated`)

Other thetas, too, come from that equation, path by path: what holds for any payoff that looks at no price before the
first step, V_t + (growth) S V_S + (volatility S)^2 V_SS / 2 = rate V, with the spot as an extreme so far held fixed.
"""

from __future__ import annotations

import numpy as np

from simsuite.expressions.derivative import ZERO, add, directional, divide, multiply, subtract
from simsuite.expressions.tree import ExpressionError, IntegerPower, Name, Node, Number, check_size
from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm.greeks.greek_case import AT_ALL_TIMES, JUMPING, GreekCase
from simsuite.solvers.gbm.greeks.last_dividend import derivative
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives, total
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind, Quantity, Weight
from simsuite.solvers.gbm.payoffs.option_greeks import (
    EQUATION,
    GREEKS,
    HOMOGENEITY,
    MIXED,
    NONE,
    PATHWISE,
    RATIO,
    Greek,
    NotEstimated,
    OptionGreeks,
    no_greeks,
)
from simsuite.solvers.gbm.payoffs.variables import first, kept, noise
from simsuite.solvers.gbm.style_record import style_of

Found = tuple[str, dict[int, Greek]]  # the method, and the Greek by asset


def greeks_of(
    option: Option, tree: Node, control: Control | None, pathwise: PathwiseDerivatives, model: GbmScenario
) -> OptionGreeks:
    """The Greeks of an option.

    tree: its payoff, with ``first<a>`` for the spot where that counts as one of the prices. control: the control
    variate of its price; the Greeks of what that pays are control variates of the option's Greeks.
    """
    case = _Case(option, tree, pathwise, model)
    if case.obstacle is not None:
        return no_greeks(case.obstacle)
    law = None if control is None else control.law
    like = None if control is None or law is None else _Case(option, control.tree, pathwise, model)
    methods: dict[str, str] = {}
    reasons: dict[str, str] = {}
    found: dict[tuple[str, int], Greek] = {}
    for name in GREEKS:
        try:
            methods[name], of = case.find(name)
        except NotEstimated as none:
            methods[name], reasons[name] = NONE, none.reason
            continue
        if like is not None and law is not None:
            others = like.found_by(name, methods[name])
            means = law.greek(name, model, pathwise.dynamics) if others else {}
            of = {
                a: Greek(greek.tree, Control(others[a].tree, means[a]) if a in others and a in means else None)
                for a, greek in of.items()
            }
        found |= {(name, asset): greek for asset, greek in of.items()}
    return OptionGreeks(methods, found, reasons)


class _Case(GreekCase):
    """Has one function for each Greek, which finds it by the first method that holds, or raises NotEstimated if none
    does."""

    def find(self, name: str) -> Found:
        """The Greek of this name, and how it was found. If prices are not lognormal, but proportional to the spot,
        whatever their law, only delta is found; and rho, too, if the scheme is exact, as prices are then also
        proportional to their growth. Raises NotEstimated."""
        if not self._lognormal:
            told = ("delta", "rho") if self._dynamics.scheme is Scheme.EXACT else ("delta",)
            if name not in told:
                raise NotEstimated(f"the law of the prices is not lognormal ({self.unlike})")
        found: Found = getattr(self, name)()
        try:
            for greek in found[1].values():
                check_size(greek.tree)
        except ExpressionError:  # the expression would be longer than users may write one
            raise NotEstimated("the payoff is too long an expression") from None
        return found

    def found_by(self, name: str, method: str) -> dict[int, Greek]:
        """The Greek of this name by asset, if it is found by this method; otherwise nothing."""
        try:
            how, found = self.find(name)
        except NotEstimated:
            return {}
        return found if how == method else {}

    # ---- by spot

    def delta(self) -> Found:
        self._require_slope(beside_spot=True)
        if self._jumps_in_the_end:
            return self._by_last_step(0, 1 / self._model.asset[self._assets[0]].spot)
        if self.smooth:
            return PATHWISE, {a: Greek(self._over_spot(a, self._by_spot[a])) for a in self._assets}
        self._require_later_prices()
        return RATIO, {a: self._ratio(self._over_spot(a, self._score.of(a)), 0.0, odd=True) for a in self._assets}

    def gamma(self) -> Found:
        self._require_slope(beside_spot=True)
        if self._is_homogeneous:
            return HOMOGENEITY, {}
        if self._watched:
            later, ((a, moved),) = self._with_time, self._by_spot.items()
            growth, volatility = self._dynamics.growth[a].value, self._dynamics.volatility[a].value
            bent = subtract(later, multiply(Number(growth), moved))
            return EQUATION, {a: Greek(multiply(Number(2 / volatility**2), self._over_spot(a, bent, 2)))}
        if self.smooth:
            return MIXED, {a: Greek(self._over_spot(a, self._second_by_parts(a), 2)) for a in self._assets}
        self._require_later_prices()
        curved = {a: subtract(self._second(a, a), self._score.of(a)) for a in self._assets}
        return RATIO, {a: self._ratio(self._over_spot(a, c, 2), 0.0) for a, c in curved.items()}

    def _require_later_prices(self) -> None:
        if self._with_spot:
            raise NotEstimated(f"{JUMPING}, and an extreme price may be the spot itself")

    def _second_by_parts(self, a: int) -> Node:
        """An expression whose mean is S^2 times the second derivative by the spot."""
        if self._mean is not None:
            return self._second_of_mean_by_parts(*self._mean)
        if self._with_spot and not style_of(self._option).smooth_at_spot:
            raise NotEstimated("an extreme price may be the spot itself")
        moved = self._by_spot[a]
        # The score is not about the spot itself, which is no later price. A lookback's slope is continuous in the spot.
        still = directional(moved, {first(a): Name(first(a))})
        return subtract(add(multiply(moved, self._score.of(a)), still), moved)

    def _second_of_mean_by_parts(self, name: str, mean: Functional) -> Node:
        """The same as `_second_by_parts` for a mean over dates: integration by parts in the direction D of the module's
        docstring, in which the end moves with least effort."""
        score = self._score_at(self._end, (mean.asset,))
        x, w, slope = Name(name), score.of(mean.asset), directional(self._tree, {name: Number(1.0)})
        moved = self._pathwise.along_variance(mean.asset, [name])[name]
        if mean.kind == Kind.LOGARITHMS:
            scaled = mean.dates.count / LN2
            return multiply(slope, subtract(multiply(divide(Number(scaled**2), moved), w), Number(scaled)))
        twice = self._pathwise.sum_of_shares(mean, Quantity.VARIANCE, 2)
        share = divide(x, moved)
        rest = multiply(x, subtract(multiply(share, w), Number(2.0)))
        return multiply(slope, add(rest, multiply(IntegerPower(share, 2), twice)))

    def _by_last_step(self, power: int, unit: float, more: Node = ZERO) -> Found:
        found = derivative(self._tree, self._names, self._assets[0], self._pathwise, power)
        if found is None:
            raise NotEstimated("the last step has no volatility")
        control = None if self._model.paths.antithetic else Control(found[1], 0.0)  # the score is odd, see `_ratio`
        return MIXED, {0 if power else self._assets[0]: Greek(add(multiply(Number(unit), found[0]), more), control)}

    # ---- by volatility, rate and time

    def vega(self) -> Found:
        end = self._dynamics.dt * self._end
        level = {a: self._model.asset[a].volatility.root_mean_square(end) for a in self._assets}
        self._require_volatility()
        if self._watched and any(self._dynamics.paid[a] for a in self._assets):
            # between steps the slopes before the dividend are not known
            raise NotEstimated(f"a dividend is paid {AT_ALL_TIMES}")
        if self.smooth:
            slopes = {a: self._along(self._pathwise.by_volatility(a, self._names)) for a in self._assets}
            return PATHWISE, {a: Greek(divide(slope, Number(level[a]))) for a, slope in slopes.items()}
        scores = {a: divide(self._volatility_score(a), Number(level[a])) for a in self._assets}
        return RATIO, {a: self._ratio(score, 0.0) for a, score in scores.items()}

    def _volatility_score(self, a: int) -> Node:
        y = multiply(Number(LN2), Name(noise(a)))
        if self._first_step == self._end:
            variance = LN2**2 * float(self._dynamics.variance(np.array([self._end]))[a, 0])
            moved = multiply(subtract(y, Number(variance)), self._score.of(a))
            return subtract(moved, Number(1.0))
        dates = {f.dates for f in self._functionals}
        if len(self._assets) > 1:
            raise NotEstimated(f"{JUMPING}, and looks at several assets on several dates")
        if len(dates) > 1:
            raise NotEstimated(f"{JUMPING}, and looks at prices on dates of several kinds")
        (seen,) = dates
        if seen.evenly is None:
            raise NotEstimated(f"{JUMPING}, and its dates are a list")
        if np.any(np.diff(self._dynamics.variance(seen.steps(self._end))[a], prepend=0.0) <= 0):
            raise NotEstimated(f"{JUMPING}, and there is no volatility between some of its dates")
        squares = Functional(Kind.SQUARES, a, seen, weight=Weight(Quantity.PRECISION))
        number = self._pathwise.functionals.number(squares)
        return subtract(subtract(Name(kept(number)), Number(float(seen.count))), y)

    def rho(self) -> Found:
        end, degree = self._dynamics.dt * self._end, self._degree
        if self._model.market.drift is None and degree is not None:
            return HOMOGENEITY, {} if degree == 1 else {0: Greek(multiply(Number((degree - 1) * end), self._tree))}
        if self._model.market.drift is None:
            self._require_slope(beside_spot=False)
        paid = add(self._along(self._pathwise.by_interest(self._names)), multiply(Number(-end), self._tree))
        if self._model.market.drift is not None or not self._assets:
            return PATHWISE, {0: Greek(paid)}
        if self._jumps_in_the_end:
            return self._by_last_step(1, end, paid)
        if self.smooth:
            return PATHWISE, {0: Greek(add(self._along(self._pathwise.by_rate(self._names)), paid))}
        steady = all(self._dynamics.volatility[a].is_constant for a in self._assets)
        if not (steady or self._first_step == self._end):
            raise NotEstimated(f"{JUMPING}, and looks at prices on several dates while a volatility changes")
        score = self._score_at(self._end, self._assets)
        weight = multiply(Number(end), total(map(score.of, self._assets)))
        return RATIO, {0: self._ratio(subtract(weight, Number(end)), -end, odd=True)}

    def theta(self) -> Found:
        self._require_slope(beside_spot=False)
        rate, growth = self._model.market.rate.at(0.0), [self._dynamics.growth[a].at(0.0) for a in self._assets]
        volatility = np.array([self._dynamics.volatility[a].at(0.0) for a in self._assets])
        covariance = np.outer(volatility, volatility) * self._dynamics.correlation[np.ix_(self._assets, self._assets)]
        drift = np.array(growth) - volatility**2 / 2  # drift of the logarithms
        if self._watched:
            return EQUATION, {0: Greek(subtract(multiply(Number(rate), self._tree), self._with_time))}
        if self.smooth:
            parts = [multiply(Number(rate), self._tree)]
            for i, a in enumerate(self._assets):
                bent = self._bent_along(a, covariance[i])
                parts += [multiply(Number(-float(drift[i])), self._later[a]), multiply(Number(-0.5), bent)]
            return PATHWISE if not self._assets else MIXED, {0: Greek(total(parts))}
        weights = [multiply(Number(-float(d)), self._score.of(a)) for d, a in zip(drift, self._assets)]
        for i, a in enumerate(self._assets):
            seconds = (self._second(a, b) for b in self._assets)
            weights += [multiply(Number(-0.5 * float(c)), second) for c, second in zip(covariance[i], seconds)]
        return RATIO, {0: self._ratio(add(Number(rate), total(weights)), rate)}

    def _bent_along(self, a: int, covariance: np.ndarray) -> Node:
        """The sum over assets b of covariance_ab d2 f / d log S_a d log S_b. A spot that is the extreme price so far is
        held fixed."""
        if self._mean is not None:
            bend = self._second_of_mean_by_parts(*self._mean)
            return multiply(Number(float(covariance[0])), add(bend, self._later[a]))
        return multiply(self._later[a], self._score.combined(covariance @ self._score.precision))
