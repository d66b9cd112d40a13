"""What options pay, as expressions in what is kept of a path.

Variables are named in variables.py. Prices are in units of the asset's spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.errors import Mistake, ScenarioError
from simsuite.expressions.tree import Apply, Name, Node, Number, names_in, substitute
from simsuite.scenario.gbm import (
    American,
    Asian,
    Barrier,
    Basket,
    Digital,
    European,
    Exchange,
    Formula,
    GbmScenario,
    Lookback,
    Option,
    Spread,
)
from simsuite.solvers.gbm.greeks.greeks import greeks_of
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.control_variates import Control, GeometricBasket, law_of_asian, law_of_basket, wanted
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Functionals, Kind, Right
from simsuite.solvers.gbm.payoffs.option_greeks import Greek, OptionGreeks, no_greeks
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.payoffs.variables import first, kept, last, number
from simsuite.solvers.gbm.results.text_lines import NOT_ASKED

Tree = Node | float
_ONLY_PRICES = "multilevel Monte Carlo estimates prices only"


def _node(value: Tree) -> Node:
    return Number(float(value)) if isinstance(value, (int, float)) else value


def _op(name: str) -> Callable[..., Node]:
    return lambda *args: Apply(name, tuple(map(_node, args)))


_add, _subtract, _times, _exp, _log = _op("+"), _op("-"), _op("*"), _op("exp"), _op("log")
_least, _largest, _where, _greater = _op("min"), _op("max"), _op("where"), _op(">")


class _Reader:
    """Turns options into trees, and collects the functionals."""

    def __init__(self, model: GbmScenario, dynamics: Dynamics) -> None:
        self._model, self._dynamics = model, dynamics
        self._names = model.asset_names
        self._n = dynamics.n_steps
        self.functionals = Functionals(self._n)

    def tree(self, option: Option) -> Node:
        if isinstance(option, European):
            return self._vanilla(option.payoff, self._last(self._asset(option.asset)), option.strike)
        if isinstance(option, Digital):
            price = self._last(self._asset(option.asset))
            sides = (price, option.strike) if option.payoff == "call" else (option.strike, price)
            return _times(option.cash, _greater(*sides))
        if isinstance(option, Asian):
            return self._vanilla(option.payoff, self._average(option), option.strike)
        if isinstance(option, Barrier):
            return self._barrier(option)
        if isinstance(option, Lookback):
            return self._lookback(option)
        if isinstance(option, Basket):
            return self._vanilla(option.payoff, self._combined(option), option.strike)
        if isinstance(option, (Exchange, Spread)):
            difference = _subtract(*(self._last(self._names.index(name)) for name in option.assets))
            if isinstance(option, Exchange):
                return self._vanilla("call", difference, 0.0)
            return self._vanilla(option.payoff, difference, option.strike)
        if isinstance(option, American):
            return _times(self._spot(self._asset(option.asset)), _largest(self._exercised(option), 0.0))
        if isinstance(option, Formula):
            return self._formula(option)
        raise NotImplementedError(option.style)

    def _asset(self, name: str | None) -> int:
        return 0 if name is None else self._names.index(name)

    def _spot(self, asset: int) -> float:
        return self._model.asset[asset].spot

    def _last(self, asset: int) -> Node:
        return _times(self._spot(asset), Name(last(asset)))

    def _kept(self, kind: Kind, asset: int, dates: Dates, level: float = 0.0) -> Node:
        return Name(kept(self.functionals.number(Functional(kind, asset, dates, level))))

    @staticmethod
    def _vanilla(payoff: str, price: Node, strike: float) -> Node:
        sides = (price, strike) if payoff == "call" else (strike, price)
        return _largest(_subtract(*sides), 0.0)

    def _fixings(self, option: Asian) -> Dates:
        if isinstance(option.fixings, list):
            return Dates(listed=tuple(map(self._model.time.nearest_step, option.fixings)))
        return Dates(option.fixings or self._n)

    def _average(self, option: Asian) -> Node:
        arithmetic, past = option.average == "arithmetic", tuple(option.past_fixings)
        return self._mean(self._asset(option.asset), self._fixings(option), arithmetic, past)

    def _mean(self, asset: int, dates: Dates, arithmetic: bool, past: tuple[float, ...] = ()) -> Node:
        weight, spot = 1.0 / (dates.count + len(past)), self._spot(asset)
        if arithmetic:
            mean = _times(weight * spot, self._kept(Kind.SUM, asset, dates))
            return _add(mean, weight * math.fsum(past)) if past else mean
        centre = self._dynamics.centre(dates.steps(self._n))[asset] * LN2
        known = math.fsum(map(math.log, past)) + float(centre.sum()) + dates.count * math.log(spot)
        noise = _times(weight * LN2, self._kept(Kind.LOGARITHMS, asset, dates))
        return _exp(_add(noise, weight * known))

    def _extreme(self, kind: Kind, asset: int, dates: Dates, with_spot: bool = True) -> Node:
        price = self._kept(kind, asset, dates)
        if with_spot:
            price = (_least if kind == Kind.LEAST else _largest)(price, Name(first(asset)))
        return _times(self._spot(asset), price)

    def control(self, option: Option) -> Control | None:
        """For an option, if its standard error is to be lowered and there is one."""
        if not wanted(option) or not self._dynamics.step_terms.lognormal_of(self._averaged(option)):
            return None  # of other laws the means are not known
        if isinstance(option, Asian):
            asset, dates = self._asset(option.asset), self._fixings(option)
            mean = self._mean(asset, dates, False, tuple(option.past_fixings))
            tree = self._vanilla(option.payoff, mean, option.strike)
            law = law_of_asian(option, asset, dates, self._model, self._dynamics)
            return Control(tree, law.mean, law)
        assert isinstance(option, Basket)
        geometric = GeometricBasket.like(option, self._model, self._dynamics)
        if geometric is None:
            return None
        logarithm: Tree = math.log(geometric.factor)
        for a, power in enumerate(geometric.powers):
            logarithm = _add(logarithm, _times(float(power), _log(self._last(a)))) if power else logarithm
        tree = self._vanilla(option.payoff, _exp(logarithm), option.strike)
        law = law_of_basket(option, geometric, self._model, self._dynamics)
        return Control(tree, law.mean, law)

    def _averaged(self, option: Option) -> list[int]:
        """The assets whose prices an option takes the mean of."""
        if isinstance(option, Basket):
            return [a for a, weight in enumerate(option.weights_of(len(self._names))) if weight]
        return [self._asset(option.asset)] if isinstance(option, Asian) else []

    def exercise_indicator(self, option: Option) -> Node | None:
        """1 on paths where an option that could be exercised was, 0 elsewhere."""
        return _greater(self._exercised(option), 0.0) if isinstance(option, American) else None

    def _exercised(self, option: American) -> Node:
        asset = self._asset(option.asset)
        right = Right(option.payoff == "call", option.strike / self._spot(asset), option.degree)
        wanted = Functional(Kind.EXERCISED, asset, Dates(option.exercise or self._n), right=right)
        return Name(kept(self.functionals.number(wanted)))

    def _dates(self, option: Barrier | Lookback) -> Dates:
        return Dates(option.dates or self._n)

    def _barrier(self, option: Barrier) -> Node:
        asset, down = self._asset(option.asset), option.direction == "down"
        if option.monitoring == "continuous":
            return self._barrier_at_all_times(option, asset)
        price = self._extreme(Kind.LEAST if down else Kind.LARGEST, asset, self._dates(option), with_spot=False)
        alive = _greater(price, option.level) if down else _greater(option.level, price)
        pays = self._vanilla(option.payoff, self._last(asset), option.strike)
        return _where(alive, *((pays, option.rebate) if option.knock == "out" else (option.rebate, pays)))

    def _barrier_at_all_times(self, option: Barrier, asset: int) -> Node:
        """What is to be expected of it, given the path at the time steps (continuous.py)."""
        level = math.log2(option.level / self._spot(asset))
        survival = self._kept(Kind.SURVIVAL, asset, Dates.all(self._n), level)
        reached = _subtract(1.0, survival)
        pays = self._vanilla(option.payoff, self._last(asset), option.strike)
        pays_if, void_if = (survival, reached) if option.knock == "out" else (reached, survival)
        return _add(_times(pays_if, pays), _times(void_if, option.rebate)) if option.rebate else _times(pays_if, pays)

    def _lookback(self, option: Lookback) -> Node:
        asset, call, floating = self._asset(option.asset), option.payoff == "call", option.strike is None
        kind = Kind.LARGEST if call != floating else Kind.LEAST
        if option.monitoring == "continuous":
            kind = Kind.HIGHEST if kind == Kind.LARGEST else Kind.LOWEST
            extreme = self._extreme(kind, asset, Dates.all(self._n), with_spot=False)  # which it counts anyway
        else:
            extreme = self._extreme(kind, asset, self._dates(option))
        if option.strike is not None:
            return self._vanilla(option.payoff, extreme, option.strike)
        end = self._last(asset)
        return _largest(_subtract(end, extreme) if call else _subtract(extreme, end), 0.0)

    def _combined(self, option: Basket) -> Node:
        weights = option.weights_of(len(self._names))
        parts = [_times(w, self._last(a)) for a, w in enumerate(weights)]
        total = parts[0]
        for part in parts[1:]:
            total = {"sum": _add, "max": _largest, "min": _least}[option.combine](total, part)
        return total

    def _formula(self, option: Formula) -> Node:
        expression, every = self._model.payoff(option), Dates.all(self._n)
        made: dict[str, Callable[[int], Node]] = {
            "last": self._last,
            "mean": lambda a: self._mean(a, every, True),
            "geomean": lambda a: self._mean(a, every, False),
            "min": lambda a: self._extreme(Kind.LEAST, a, every),
            "max": lambda a: self._extreme(Kind.LARGEST, a, every),
        }
        trees = {}
        for variable in sorted(expression.names):
            functional, _, name = variable.rstrip(")").partition("(")
            trees[variable] = made[functional](self._names.index(name))
        return substitute(expression.tree, trees)


def read_payoffs(model: GbmScenario, dynamics: Dynamics) -> Payoffs:
    """All options of a scenario. Raises ScenarioError where their exact prices are too large for floating point."""
    reader = _Reader(model, dynamics)
    trees = tuple(map(reader.tree, model.option))
    try:
        controls = tuple(map(reader.control, model.option))
    except OverflowError:
        message = "mean prices at the end are beyond 1.8e308, the largest floating-point number"
        raise ScenarioError(
            [Mistake(("time", "end"), message, "take a shorter time, or lower rates and volatilities")]
        ) from None
    exercise_indicators = tuple(map(reader.exercise_indicator, model.option))
    pathwise = PathwiseDerivatives(reader.functionals, dynamics, model.market.rate)
    unasked = no_greeks(_ONLY_PRICES if model.paths.multilevel else NOT_ASKED)
    greeks = [
        greeks_of(option, tree, control, pathwise, model) if option.greeks else unasked
        for option, tree, control in zip(model.option, trees, controls)
    ]
    return Payoffs(
        tuple(map(_at_spot, trees)),
        controls,
        tuple(reader.functionals.found),
        tuple(_with_trees(_at_spot, of) for of in greeks),
        exercise_indicators,
    )


def _at_spot(tree: Node) -> Node:
    spots = {name: Number(1.0) for name in names_in(tree) if number(name, "first") is not None}
    return substitute(tree, spots) if spots else tree


def _with_trees(change: Callable[[Node], Node], greeks: OptionGreeks) -> OptionGreeks:
    """The same with all trees changed."""
    found = {}
    for key, greek in greeks.found.items():
        control = greek.control
        changed = None if control is None else Control(change(control.tree), control.mean)
        found[key] = Greek(change(greek.tree), changed)
    return OptionGreeks(greeks.methods, found, greeks.reasons)
