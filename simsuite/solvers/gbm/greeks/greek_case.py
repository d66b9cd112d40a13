"""An option whose Greeks are wanted: the variables of its payoff, the slopes of the payoff by the spot, the score that
goes with it, and the reasons, in words, why it may have no Greeks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from simsuite.expressions.derivative import add, directional, is_lipschitz, multiply, subtract
from simsuite.expressions.homogeneous import degree
from simsuite.expressions.tree import Node, Number, names_in
from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm.greeks.kinks import KNOWN, kinks_at_spot
from simsuite.solvers.gbm.greeks.last_dividend import jumps_in_the_end
from simsuite.solvers.gbm.greeks.likelihood_ratio import Score
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, Functional, Kind
from simsuite.solvers.gbm.payoffs.option_greeks import Greek, NotEstimated
from simsuite.solvers.gbm.payoffs.variables import first, last
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS
from simsuite.solvers.gbm.style_record import style_of

JUMPING = "the payoff jumps"
AT_ALL_TIMES = "while the price is watched at all times"
_STILL = 8.0  # units in the last place of a price: smaller noise counts as none


class GreekCase:
    """An option whose Greeks are wanted. tree: its payoff as an expression, see `greeks_of`."""

    def __init__(self, option: Option, tree: Node, pathwise: PathwiseDerivatives, model: GbmScenario) -> None:
        self._option, self._tree, self._pathwise, self._model = option, tree, pathwise, model
        self._dynamics = pathwise.dynamics
        self._names = sorted(names_in(tree))
        functionals = [pathwise.functional(name) for name in self._names]
        self._known = all(f is None or pathwise.knows(f) for f in functionals)
        self._functionals = [f for f in functionals if f is not None]
        self._assets = tuple(sorted({pathwise.asset(name) for name in self._names}))
        signed = {n for n, f in zip(self._names, functionals) if f is not None and f.kind == Kind.LOGARITHMS}
        self.smooth = is_lipschitz(tree, frozenset(self._names) - signed)
        self._with_spot = any(first(a) in self._names for a in self._assets)
        self._lognormal = self._dynamics.step_terms.lognormal_of(self._assets)
        self._end = self._dynamics.n_steps

    # ---- why there may be no Greeks

    @property
    def obstacle(self) -> str | None:
        """The reason why the option has no Greeks at all; None if there is none."""
        if not self._known:
            assert self._option.exercised_early
            return "an American option's are estimated only where the rate is constant"
        if any(self._dynamics.step_terms.paying[a] for a in self._assets):
            return "a dividend is paid in cash"
        if not self._lognormal and not self.smooth:
            return f"{JUMPING}, and the law of the prices is not lognormal ({self.unlike})"
        return None

    @property
    def unlike(self) -> str:
        """What makes the law of the prices differ from the lognormal one, in words."""
        scheme = self._dynamics.scheme
        if scheme is not Scheme.EXACT:
            return f'scheme = "{scheme.name.lower()}"'
        names = [repr(self._model.asset_names[a]) for a in self._assets if self._dynamics.step_terms.jumping[a]]
        return f"{', '.join(names)} {'jumps' if len(names) == 1 else 'jump'}"

    def require_bumps(self, name: str) -> None:
        """Raises NotEstimated if a Greek cannot be found by bumping: where the price has no derivative, or where the
        paths of a bumped market are not those that the derivative is about."""
        if self._option.exercised_early:
            raise NotEstimated("in a bumped market another rule of exercise would be learnt")
        if not self.smooth or name in ("gamma", "vega"):
            self._require_diffusion()
        if name == "theta" and any(self._dynamics.step_terms.jumping[a] for a in self._assets):
            raise NotEstimated("a first step with jumps cannot be made shorter")
        if name != "vega":
            self._require_slope(beside_spot=name in ("delta", "gamma"))

    def _require_diffusion(self) -> None:
        """Raises NotEstimated if the price of some asset has no noise, or none but that of jumps: with some probability
        there is no jump, and the option's price bends or jumps at a single spot, which may lie within the bump."""
        for a in self._assets:
            if a in self._still or not any(self._dynamics.volatility[a].values):
                raise NotEstimated(self._without_volatility(a))

    def _require_volatility(self) -> None:
        """Raises NotEstimated if the price of some asset has no noise."""
        for a in self._assets:
            if a in self._still:
                raise NotEstimated(self._without_volatility(a))

    def _without_volatility(self, asset: int) -> str:
        name = repr(self._model.asset_names[asset])
        if any(self._dynamics.volatility[asset].values):
            return f"the volatility of {name} is lost in rounding"
        return f"{name} has no volatility"

    @cached_property
    def _still(self) -> dict[int, float]:
        """The assets whose prices have no noise that could be told from rounding, with the relative error that rounding
        leaves in a price. Prices that jump are left out: they are not lognormal, and treated elsewhere."""
        unit = _STILL * float(np.finfo(PRECISIONS[self._model.run.precision][1]).eps)
        variance = LN2**2 * self._dynamics.variance(np.array([self._end]))[:, 0]
        return {a: unit for a in self._assets if variance[a] <= unit**2 and self._dynamics.jumps[a] is None}

    def _require_slope(self, beside_spot: bool) -> None:
        """Raises NotEstimated if the price, as a function of the spot, has a kink just at the spot. beside_spot:
        whether the spot itself may be the extreme price over the dates, and then moves with the other prices."""
        if not self.smooth or not (self._still or (beside_spot and self._with_spot)):
            return
        if any(f.kind not in KNOWN for f in self._functionals):
            return
        for a in self._assets:
            slope = self._by_spot[a]
            if kinks_at_spot(slope, a, self._names, self._pathwise, self._still, beside_spot):
                name = repr(self._model.asset_names[a])
                why = f", as {self._without_volatility(a)}" if a in self._still else ""
                raise NotEstimated(
                    f"the price has a kink just at the spot of {name}{why}: its slopes to both sides differ"
                )

    # ---- what Greeks are made of

    def _along(self, slopes: Mapping[str, Node]) -> Node:
        return directional(self._tree, slopes)

    @cached_property
    def _by_spot(self) -> dict[int, Node]:
        """The derivative of the payoff by the logarithm of each spot."""
        return {a: self._along(self._pathwise.by_spot(a, self._names)) for a in self._assets}

    @cached_property
    def _later(self) -> dict[int, Node]:
        """The derivative of the payoff by the logarithms of all prices of an asset but the spot itself."""
        return {a: self._along(self._pathwise.by_spot(a, self._names, first_too=False)) for a in self._assets}

    @cached_property
    def _with_time(self) -> Node:
        """The derivative, by the end, of the mean of a payoff that is watched at all times."""
        (a,), dynamics = self._assets, self._dynamics
        curves = (dynamics.growth[a], dynamics.volatility[a], self._model.market.rate)
        if dynamics.paid[a]:
            raise NotEstimated(f"a dividend is paid {AT_ALL_TIMES}")
        if not all(curve.is_constant for curve in curves):
            raise NotEstimated(f"a rate, a yield or the volatility changes {AT_ALL_TIMES}")
        self._require_volatility()
        end = dynamics.dt * self._end
        grown = multiply(Number(curves[0].value / end), self._along(self._pathwise.by_rate(self._names)))
        spread = multiply(Number(0.5 / end), self._along(self._pathwise.by_volatility(a, self._names)))
        return add(grown, spread)

    @cached_property
    def _jumps_in_the_end(self) -> bool:
        return jumps_in_the_end(self._functionals, self._dynamics)

    @cached_property
    def _first_step(self) -> int:
        """The first time step at whose end the option looks at a price."""
        return min([int(f.dates.steps(self._end)[0]) for f in self._functionals], default=self._end)

    @cached_property
    def _score(self) -> Score:
        return self._score_at(self._first_step, self._assets)

    def _score_at(self, step: int, assets: Sequence[int]) -> Score:
        """The score of these assets at a step. Raises NotEstimated where there is none."""
        self._require_volatility()
        found = Score.at(step, tuple(assets), self._pathwise)
        if found is None and len(assets) > 1:
            raise NotEstimated("up to the first date its prices move as one, or not at all")
        if found is None:
            raise NotEstimated("there is no volatility up to the first date at which it looks at the price")
        return found

    @property
    def _watched(self) -> bool:
        """Whether the option looks at an asset at all times."""
        return any(f.kind in CONTINUOUS for f in self._functionals)

    @property
    def _mean(self) -> tuple[str, Functional] | None:
        """The payoff's only variable with its functional, if it is a mean over dates; None otherwise."""
        if len(self._names) != 1 or not self._functionals:
            return None
        (name,), (functional,) = self._names, self._functionals
        return (name, functional) if functional.kind in (Kind.SUM, Kind.LOGARITHMS) else None

    @property
    def _is_homogeneous(self) -> bool:
        """Whether the price is proportional to the spot, plus a constant."""
        if not self._assets:
            return False
        return style_of(self._option).is_homogeneous(self._option, self._model.asset[self._assets[0]].spot)

    @property
    def _degree(self) -> float | None:
        """The degree of a payoff that is homogeneous in the prices at the end and depends on nothing else; None for
        other payoffs."""
        found = degree(self._tree, [last(a) for a in self._assets]) if self._assets else None
        return found if found is not None and math.isfinite(found) else None

    def _second(self, a: int, b: int) -> Node:
        """The score of second order, w_a w_b - C^-1_ab (likelihood_ratio.py)."""
        precision = float(self._score.precision[self._assets.index(a), self._assets.index(b)])
        return subtract(multiply(self._score.of(a), self._score.of(b)), Number(precision))

    def _ratio(self, weight: Node, mean: float, odd: bool = False) -> Greek:
        """The Greek that is the mean of payoff times weight, with the weight as control variate. mean: the known mean
        of the weight. odd: whether the weight, less its mean, changes sign with the noise; then its mean over any
        antithetic pair is the same, so that it cannot serve as a control."""
        useless = odd and self._model.paths.antithetic
        return Greek(multiply(self._tree, weight), None if useless else Control(weight, mean))

    def _over_spot(self, a: int, node: Node, power: int = 1) -> Node:
        return multiply(Number(self._model.asset[a].spot ** -power), node)
