"""Greeks: derivatives of option prices by the market, estimated on the same paths as the prices.

delta, gamma   by the spot of each asset, once and twice
vega           by a common relative change of an asset's volatility at all times, per root mean square of it
rho            by a shift of the rate at all times: growth shifts too unless the scenario gives a drift
theta          how the price changes as time passes, spot fixed, dates of the option coming nearer

Methods, of which `greeks_of` takes for each option and Greek the first that holds:

pathwise           E (derivative of the payoff along the path), if the payoff has no jumps (tangents.py)
mixed              gamma: the first derivative pathwise, the second by a score (scores.py), or for a mean x over dates
                   by parts in the direction D that moves log S_k by v_k / v_T, which leaves an error that does not
                   grow with the number of dates: with d x the derivative by log S(0), w = Y_T / var Y_T,
                       E d(f'(x) d x) = E f'(x) (d d x + G w - D G),   G = (d x)^2 / D x
                   E. Fournie et al., "Applications of Malliavin calculus to Monte Carlo methods in finance", Finance
                   and Stochastics 3 (1999). Also delta and rho of what jumps by the last dividend (last_dividend.py)
likelihood ratio   E (payoff * score), for payoffs with jumps; the score, whose mean is known, is a control variate
homogeneity        where a price is proportional to the spot, plus a constant: gamma is 0
equation           gamma and theta of what is watched at all times, in a constant market, whose prices depend on the end
                   T, the growth g and the volatility s by g T and s^2 T alone: pathwise derivatives by these give
                       -theta = g / T d V / d g + s / (2 T) d V / d s - rate V,
                   and gamma by the Black-Scholes equation. A score would have to be about the first step
none               where none of these is right

Other thetas, too, come from that equation, path by path: what holds for any payoff that looks at no price before the
first step, V_t + (growth) S V_S + (volatility S)^2 V_SS / 2 = rate V, with the spot as an extreme so far held fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from simsuite.expressions.derivative import ZERO, add, directional, divide, is_lipschitz, multiply, subtract
from simsuite.expressions.tree import ExpressionError, IntegerPower, Name, Node, Number, check_size, names_in
from simsuite.scenario.gbm import GbmScenario, Lookback, Option
from simsuite.solvers.gbm.controls import Control
from simsuite.solvers.gbm.dynamics import LN2, Dynamics
from simsuite.solvers.gbm.functionals import CONTINUOUS, Functional, Kind, Quantity, Weight
from simsuite.solvers.gbm.last_dividend import derivative, jumps_in_the_end
from simsuite.solvers.gbm.option_greeks import (
    EQUATION,
    GREEKS,
    HOMOGENEITY,
    MIXED,
    NONE,
    PATHWISE,
    RATIO,
    Greek,
    OptionGreeks,
    no_greeks,
)
from simsuite.solvers.gbm.schemes import Scheme
from simsuite.solvers.gbm.scores import Score
from simsuite.solvers.gbm.tangents import Tangents, total
from simsuite.solvers.gbm.variables import first, kept, noise

Found = tuple[str, dict[int, Greek]]  # how, and by asset
_NOTHING: Found = (NONE, {})


def greeks_of(
    option: Option, tree: Node, control: Control | None, tangents: Tangents, model: GbmScenario
) -> OptionGreeks:
    """tree: of the payoff, with ``first<a>`` for the spot where that counts as one of the prices. control: of the
    price; the same Greeks of what it pays are controls of these."""
    case = _Case(option, tree, tangents, model)
    if not case.known:
        return no_greeks()
    if not tangents.dynamics.lognormal:
        return _by_scaling(case, tangents.dynamics)
    law = None if control is None else control.law
    like = None if control is None or law is None else _Case(option, control.tree, tangents, model)
    methods: dict[str, str] = {}
    found: dict[tuple[str, int], Greek] = {}
    for name in GREEKS:
        methods[name], of = getattr(case, name)()
        try:
            for greek in of.values():
                check_size(greek.tree)
        except ExpressionError:  # of an expression that is about as long as users may write it
            methods[name], of = _NOTHING
        if like is not None and law is not None:
            same, others = getattr(like, name)()
            means = law.greek(name, model, tangents.dynamics) if same == methods[name] else {}
            of = {
                a: Greek(greek.tree, Control(others[a].tree, means[a]) if a in others and a in means else None)
                for a, greek in of.items()
            }
        found |= {(name, asset): greek for asset, greek in of.items()}
    return OptionGreeks(methods, found)


def _by_scaling(case: _Case, dynamics: Dynamics) -> OptionGreeks:
    """What holds for any law of prices that are proportional to the spot, as they are until cash is paid, and, whether
    they jump or not, to the growth until then if the scheme is exact."""
    if any(dynamics.moves.paying) or not case.smooth:
        return no_greeks()
    found = {("delta", a): greek for a, greek in case.delta()[1].items()}
    if dynamics.scheme is Scheme.EXACT:
        found |= {("rho", a): greek for a, greek in case.rho()[1].items()}
    return OptionGreeks(dict.fromkeys(GREEKS, NONE) | {name: PATHWISE for name, _ in found}, found)


class _Case:
    def __init__(self, option: Option, tree: Node, tangents: Tangents, model: GbmScenario) -> None:
        self._option, self._tree, self._tangents, self._model = option, tree, tangents, model
        self._dynamics = tangents.dynamics
        self._names = sorted(names_in(tree))
        functionals = [tangents.functional(name) for name in self._names]
        self.known = all(f is None or tangents.knows(f) for f in functionals)
        self._functionals = [f for f in functionals if f is not None]
        self._assets = tuple(sorted({tangents.asset(name) for name in self._names}))
        signed = {n for n, f in zip(self._names, functionals) if f is not None and f.kind == Kind.LOGARITHMS}
        self.smooth = is_lipschitz(tree, frozenset(self._names) - signed)
        self._with_spot = any(first(a) in self._names for a in self._assets)
        self._end = self._dynamics.n_steps

    # ---- by spot

    def delta(self) -> Found:
        if self._kinks_at_spot:
            return _NOTHING
        if self._jumps_in_the_end:
            return self._by_last_step(0, 1 / self._model.asset[self._assets[0]].spot)
        if self.smooth:
            return PATHWISE, {a: Greek(self._over_spot(a, self._by_spot[a])) for a in self._assets}
        if self._score is None or self._with_spot:
            return _NOTHING
        return RATIO, {a: self._ratio(self._over_spot(a, self._score.of(a)), 0.0, odd=True) for a in self._assets}

    def gamma(self) -> Found:
        if self._kinks_at_spot:
            return _NOTHING
        if self._is_homogeneous:
            return HOMOGENEITY, {}
        if self._watched:
            if self._with_time is None:
                return _NOTHING
            ((a, moved),) = self._by_spot.items()
            growth, volatility = self._dynamics.growth[a].value, self._dynamics.volatility[a].value
            bent = subtract(self._with_time, multiply(Number(growth), moved))
            return EQUATION, {a: Greek(multiply(Number(2 / volatility**2), self._over_spot(a, bent, 2)))}
        if self.smooth:
            bends = {a: self._bend(a) for a in self._assets}
            twice = {a: Greek(self._over_spot(a, bend, 2)) for a, bend in bends.items() if bend is not None}
            return (MIXED, twice) if len(twice) == len(bends) else _NOTHING
        if self._score is None or self._with_spot:
            return _NOTHING
        curved = {a: subtract(self._second(a, a), self._score.of(a)) for a in self._assets}
        return RATIO, {a: self._ratio(self._over_spot(a, c, 2), 0.0) for a, c in curved.items()}

    def _bend(self, a: int) -> Node | None:
        """S^2 times the second derivative by the spot is the mean of this."""
        if self._mean is not None:
            return self._bend_of_mean(*self._mean)
        if self._score is None or (self._with_spot and not isinstance(self._option, Lookback)):
            return None
        moved = self._by_spot[a]
        # The spot itself is no price that the score is about. A lookback's slope is continuous in it.
        still = directional(moved, {first(a): Name(first(a))})
        return subtract(add(multiply(moved, self._score.of(a)), still), moved)

    def _bend_of_mean(self, name: str, mean: Functional) -> Node | None:
        """By parts in the direction in which the end moves with least effort."""
        score = Score.at(self._end, (mean.asset,), self._tangents)
        if score is None:
            return None
        x, w, slope = Name(name), score.of(mean.asset), directional(self._tree, {name: Number(1.0)})
        moved = self._tangents.along_variance(mean.asset, [name])[name]
        if mean.kind == Kind.LOGARITHMS:
            scaled = mean.dates.count / LN2
            return multiply(slope, subtract(multiply(divide(Number(scaled**2), moved), w), Number(scaled)))
        twice = self._tangents.sum_of_shares(mean, Quantity.VARIANCE, 2)
        share = divide(x, moved)
        rest = multiply(x, subtract(multiply(share, w), Number(2.0)))
        return multiply(slope, add(rest, multiply(IntegerPower(share, 2), twice)))

    # ---- by volatility, rate and time

    def vega(self) -> Found:
        end = self._dynamics.dt * self._end
        level = {a: self._model.asset[a].volatility.root_mean_square(end) for a in self._assets}
        if not all(level.values()) or (self._watched and any(self._dynamics.paid[a] for a in self._assets)):
            return _NOTHING  # between steps, slopes before a dividend are not known
        if self.smooth:
            slopes = {a: self._along(self._tangents.by_volatility(a, self._names)) for a in self._assets}
            return PATHWISE, {a: Greek(divide(slope, Number(level[a]))) for a, slope in slopes.items()}
        scores = {a: self._volatility_score(a) for a in self._assets}
        known = {a: divide(score, Number(level[a])) for a, score in scores.items() if score is not None}
        return (RATIO, {a: self._ratio(s, 0.0) for a, s in known.items()}) if len(known) == len(scores) else _NOTHING

    def _volatility_score(self, a: int) -> Node | None:
        y = multiply(Number(LN2), Name(noise(a)))
        if self._first_step == self._end and self._score is not None:
            variance = LN2**2 * float(self._dynamics.variance(np.array([self._end]))[a, 0])
            moved = multiply(subtract(y, Number(variance)), self._score.of(a))
            return subtract(moved, Number(1.0))
        dates = {f.dates for f in self._functionals}
        if len(self._assets) > 1 or len(dates) > 1 or self._score is None:
            return None
        (seen,) = dates
        if seen.evenly is None or np.any(np.diff(self._dynamics.variance(seen.steps(self._end))[a]) <= 0):
            return None
        squares = Functional(Kind.SQUARES, a, seen, weight=Weight(Quantity.PRECISION))
        number = self._tangents.functionals.number(squares)
        return subtract(subtract(Name(kept(number)), Number(float(seen.count))), y)

    def rho(self) -> Found:
        end = self._dynamics.dt * self._end
        paid = add(self._along(self._tangents.by_interest(self._names)), multiply(Number(-end), self._tree))
        if self._model.market.drift is not None or not self._assets:
            return PATHWISE, {0: Greek(paid)}
        if self._jumps_in_the_end:
            return self._by_last_step(1, end, paid)
        if self.smooth:
            return PATHWISE, {0: Greek(add(self._along(self._tangents.by_rate(self._names)), paid))}
        steady = all(self._dynamics.volatility[a].is_constant for a in self._assets)
        score = Score.at(self._end, self._assets, self._tangents)
        if score is None or not (steady or self._first_step == self._end):
            return _NOTHING
        weight = multiply(Number(end), total(map(score.of, self._assets)))
        return RATIO, {0: self._ratio(subtract(weight, Number(end)), -end, odd=True)}

    def theta(self) -> Found:
        rate, growth = self._model.market.rate.at(0.0), [self._dynamics.growth[a].at(0.0) for a in self._assets]
        volatility = np.array([self._dynamics.volatility[a].at(0.0) for a in self._assets])
        covariance = np.outer(volatility, volatility) * self._dynamics.correlation[np.ix_(self._assets, self._assets)]
        drift = np.array(growth) - volatility**2 / 2  # of logarithms
        if self._watched:
            later = self._with_time
            return (
                _NOTHING
                if later is None
                else (EQUATION, {0: Greek(subtract(multiply(Number(rate), self._tree), later))})
            )
        if self.smooth:
            parts = [multiply(Number(rate), self._tree)]
            for i, a in enumerate(self._assets):
                bent = self._bent_along(a, covariance[i])
                if bent is None:
                    return _NOTHING
                parts += [multiply(Number(-float(drift[i])), self._later[a]), multiply(Number(-0.5), bent)]
            return PATHWISE if not self._assets else MIXED, {0: Greek(total(parts))}
        if self._score is None:
            return _NOTHING
        weights = [multiply(Number(-float(d)), self._score.of(a)) for d, a in zip(drift, self._assets)]
        for i, a in enumerate(self._assets):
            seconds = (self._second(a, b) for b in self._assets)
            weights += [multiply(Number(-0.5 * float(c)), second) for c, second in zip(covariance[i], seconds)]
        return RATIO, {0: self._ratio(add(Number(rate), total(weights)), rate)}

    def _bent_along(self, a: int, covariance: np.ndarray) -> Node | None:
        """The sum over assets b of covariance_ab d2 f / d log S_a d log S_b, but for the spot as an extreme so far."""
        if self._mean is not None:
            bend = self._bend_of_mean(*self._mean)
            return None if bend is None else multiply(Number(float(covariance[0])), add(bend, self._later[a]))
        if self._score is None:
            return None
        return multiply(self._later[a], self._score.combined(covariance @ self._score.precision))

    # ---- what they share

    def _along(self, slopes: Mapping[str, Node]) -> Node:
        return directional(self._tree, slopes)

    @cached_property
    def _by_spot(self) -> dict[int, Node]:
        """The derivative of the payoff by the logarithm of each spot."""
        return {a: self._along(self._tangents.by_spot(a, self._names)) for a in self._assets}

    @cached_property
    def _later(self) -> dict[int, Node]:
        """The same for all prices but the spot itself."""
        return {a: self._along(self._tangents.by_spot(a, self._names, first_too=False)) for a in self._assets}

    @cached_property
    def _with_time(self) -> Node | None:
        """How fast the mean of the payoff rises with the end of what is watched at all times."""
        (a,), dynamics = self._assets, self._dynamics
        curves = (dynamics.growth[a], dynamics.volatility[a], self._model.market.rate)
        if dynamics.paid[a] or not all(curve.is_constant for curve in curves) or not curves[1].value:
            return None
        end = dynamics.dt * self._end
        grown = multiply(Number(curves[0].value / end), self._along(self._tangents.by_rate(self._names)))
        spread = multiply(Number(0.5 / end), self._along(self._tangents.by_volatility(a, self._names)))
        return add(grown, spread)

    @cached_property
    def _jumps_in_the_end(self) -> bool:
        return jumps_in_the_end(self._functionals, self._dynamics)

    def _by_last_step(self, power: int, unit: float, more: Node = ZERO) -> Found:
        found = derivative(self._tree, self._names, self._assets[0], self._tangents, power)
        if found is None:
            return _NOTHING
        control = None if self._model.paths.antithetic else Control(found[1], 0.0)  # which is odd, see `_ratio`
        return MIXED, {0 if power else self._assets[0]: Greek(add(multiply(Number(unit), found[0]), more), control)}

    @cached_property
    def _first_step(self) -> int:
        """At whose end it looks at a price first."""
        return min([int(f.dates.steps(self._end)[0]) for f in self._functionals], default=self._end)

    @cached_property
    def _score(self) -> Score | None:
        return Score.at(self._first_step, self._assets, self._tangents)

    @property
    def _watched(self) -> bool:
        """Whether it looks at an asset at all times."""
        return any(f.kind in CONTINUOUS for f in self._functionals)

    @property
    def _mean(self) -> tuple[str, Functional] | None:
        """The only variable, if it is a mean over dates."""
        if len(self._names) != 1 or not self._functionals:
            return None
        (name,), (functional,) = self._names, self._functionals
        return (name, functional) if functional.kind in (Kind.SUM, Kind.LOGARITHMS) else None

    @property
    def _kinks_at_spot(self) -> bool:
        """Whether the price as a function of the spot has a kink just there: where a strike is the spot, which with
        some probability is the extreme over dates."""
        option = self._option
        if not isinstance(option, Lookback) or option.monitoring == "continuous" or option.strike is None:
            return False
        return option.strike == self._model.asset[self._assets[0]].spot

    @property
    def _is_homogeneous(self) -> bool:
        """Whether the price is proportional to the spot, plus a constant."""
        option = self._option
        if not isinstance(option, Lookback):
            return False
        if option.strike is None:
            return True
        spot = self._model.asset[self._assets[0]].spot
        return option.strike <= spot if option.payoff == "call" else option.strike >= spot

    def _second(self, a: int, b: int) -> Node:
        """The score of second order."""
        assert self._score is not None
        precision = float(self._score.precision[self._assets.index(a), self._assets.index(b)])
        return subtract(multiply(self._score.of(a), self._score.of(b)), Number(precision))

    def _ratio(self, weight: Node, mean: float, odd: bool = False) -> Greek:
        """mean: of the weight. odd: whether opposite noise gives it the opposite sign, but for the mean: then it is the
        same for all antithetic pairs, and would control nothing but round-off."""
        useless = odd and self._model.paths.antithetic
        return Greek(multiply(self._tree, weight), None if useless else Control(weight, mean))

    def _over_spot(self, a: int, node: Node, power: int = 1) -> Node:
        return multiply(Number(self._model.asset[a].spot ** -power), node)
