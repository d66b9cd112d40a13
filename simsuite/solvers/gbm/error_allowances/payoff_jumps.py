"""The jumps of payoffs: where an expression in what is kept of a path jumps, and by how much.

What a payoff makes of one price alone, the last one, is a function of one number, the noise y of its logarithm
(dynamics.py). Such a function is computed on a fine grid. An interval over which it changes far more than over both of
its neighbours is halved again and again, always keeping the half with the larger change. At a jump the change stays; at
a slope, however steep, it vanishes. Changes that rounding can make are ignored: what is left of huge prices that cancel
each other, as in the rho of a call far out, changes at random.

For barriers on dates the size is the root mean square of what is gained or lost by touching the level on a date, over
the prices at the end that can follow; the largest over the dates counts. Other payoffs of several numbers either have
no jump, which their operations show, or one of unknown size.

At the highest and the lowest prices, barriers have been reached: calls pay there what they pay without a barrier, or
nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simsuite.expressions.derivative import is_lipschitz
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.magnitude import magnitudes
from simsuite.expressions.tree import Node, names_in
from simsuite.scenario.gbm import Barrier, Option
from simsuite.solvers.gbm.closed_forms.quadrature import gauss_normal
from simsuite.solvers.gbm.error_allowances.constant_payoffs import is_constant
from simsuite.solvers.gbm.error_allowances.strata import scatter
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.payoffs.functionals import Kind
from simsuite.solvers.gbm.payoffs.option_greeks import RATIO
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.statement import Statement, once
from simsuite.solvers.gbm.style_record import style_of

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoffs.payoffs import Mean

# half the width of the grid in deviations of y, beyond which its law cannot be told from 0; number of cells
_REACH, _CELLS = 38.0, 1 << 14
_OUTSTANDING = 2.0  # a change may be a jump if it is larger than the changes over both neighbours by this factor
_HALVINGS = 48
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # relative to what is added up: smaller changes may be rounding
_STEADY = 0.25  # the least share of a cell's change that is left of a jump after halving
_NODES = 64
_MOST_DATES = 32
# on a single date, the last, these are functions of these variables
_AT_END = {Kind.SUM: last, Kind.LEAST: last, Kind.LARGEST: last, Kind.LOGARITHMS: noise}

Curve = Callable[[np.ndarray], np.ndarray]
Values = Callable[[np.ndarray], dict[str, np.ndarray]]


@dataclass(frozen=True)
class PayoffJump:
    """The jumps of an expression that is averaged over paths, undiscounted. size: that of its largest jump, 0 if it is
    continuous, NaN if it jumps by an unknown amount. random: whether it can differ from path to path. price: if it is a
    payoff times a weight without jumps, the mean of that payoff. curve: its value as a function of y of `asset`, if it
    depends on nothing else. far: its value where y is far out. least, most: bounds of its mean. weighted: the mean of a
    payoff times the probability that a path meets a barrier between its steps, if it is one, or a Greek of it."""

    size: float
    random: bool = True
    price: Mean | None = None
    asset: int = 0
    curve: Curve | None = None
    far: Curve | None = None
    least: float = -math.inf
    most: float = math.inf
    weighted: Mean | None = None


_CERTAIN = PayoffJump(0.0, random=False)


@once
def payoff_jumps_of(statement: Statement) -> dict[int, PayoffJump]:
    """The jumps of every price, Greek and probability of exercise, by the number of the value (payoffs.py). Greeks of a
    price that is not random are not random either."""
    payoffs, found = statement.payoffs, {}
    for o, (option, tree) in enumerate(zip(statement.scenario.option, payoffs.trees)):
        price, greeks = payoffs.prices[o], payoffs.greeks[o]
        found[price.value] = of_price = _of_price(statement, option, tree)
        if isinstance(option, Barrier) and option.watched_continuously and option.knock == "in":
            found[price.value] = of_price = replace(of_price, weighted=price)
        for key, mean in payoffs.greek_means[o].items():
            weighted = price if greeks.methods[key[0]] == RATIO else None
            leap = _leap(statement, greeks.found[key].tree) if of_price.random else _CERTAIN
            found[mean.value] = replace(leap, price=weighted, weighted=of_price.weighted)
    for o, mean in payoffs.exercises.items():
        exercised = PayoffJump(1.0, least=0.0, most=1.0)
        found[mean.value] = exercised if found[payoffs.prices[o].value].random else _CERTAIN
    return found


def _of_price(statement: Statement, option: Option, tree: Node) -> PayoffJump:
    found = _leap(statement, tree)
    size = found.size
    if isinstance(option, Barrier) and _never_pays(option):
        return _CERTAIN
    if isinstance(option, Barrier) and not option.watched_continuously and found.curve is None:
        size = _at_barrier(statement, option)
    style = style_of(option)
    far = _call_far_out(statement, option) if isinstance(option, Barrier) and found.curve is None else found.far
    asset = _option_asset(statement, option) if isinstance(option, Barrier) else found.asset
    return replace(found, size=size, asset=asset, far=far, least=style.least, most=style.most(option))


def _call_far_out(statement: Statement, option: Barrier) -> Curve | None:
    """What a call with a barrier pays at high prices, if it is alive there; None if it is not."""
    asset = _option_asset(statement, option)
    if option.payoff == "put" or (option.direction == "up") == (option.knock == "out"):
        return None
    spot, growth = statement.scenario.asset[asset].spot, statement.end_growth[asset]
    return lambda y: np.maximum(spot * growth * np.exp2(y) - option.strike, 0.0)


def _leap(statement: Statement, tree: Node) -> PayoffJump:
    names = names_in(tree)
    assets = {_asset(statement, name) for name in names}
    if not any(statement.dynamics.is_noisy(a) for a in assets) or is_constant(statement, tree):
        return _CERTAIN
    functionals = statement.payoffs.functionals
    signed = {noise(a) for a in range(statement.n_assets)}
    signed |= {kept(i) for i, f in enumerate(functionals) if f.kind == Kind.LOGARITHMS}
    continuous = is_lipschitz(tree, names - signed)
    values = _values(statement, tree) if len(assets) == 1 else None
    if values is None:
        return PayoffJump(0.0 if continuous else math.nan)
    (asset,), curve = assets, _curve(tree, values)
    size = 0.0 if continuous else _largest_jump(curve, _spread(statement, asset), _sizes(tree, values))
    return PayoffJump(size, asset=asset, curve=curve, far=curve)


def _values(statement: Statement, tree: Node) -> Values | None:
    """The variables of an expression as a function of y at the end; None if the expression depends on more of the path
    than the price at the end."""
    stands_for = {}
    for name in names_in(tree):
        i = number(name, "kept")
        if i is not None:
            f = statement.payoffs.functionals[i]
            if f.kind not in _AT_END or f.dates.steps(statement.n_steps).tolist() != [statement.n_steps]:
                return None
            stands_for[name] = _AT_END[f.kind](f.asset)
    growth = statement.end_growth

    def values_at(y: np.ndarray) -> dict[str, np.ndarray]:
        values = {noise(a): y for a in range(statement.n_assets)}
        with np.errstate(all="ignore"):
            values |= {last(a): np.exp2(y) * growth[a] for a in range(statement.n_assets)}
        return values | {name: values[other] for name, other in stands_for.items()}

    return values_at


def _curve(tree: Node, values: Values) -> Curve:
    def curve(y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(tree, values(y)), y.shape)

    return curve


def _sizes(tree: Node, values: Values) -> Curve:
    """The size of the numbers that an expression adds up, as a function of y."""
    return lambda y: np.broadcast_to(magnitudes([tree], values(y))[0], y.shape)


def _largest_jump(curve: Curve, spread: float, sizes: Curve) -> float:
    y = spread * np.linspace(-_REACH, _REACH, _CELLS + 1)
    with np.errstate(all="ignore"):
        change = np.abs(np.diff(curve(y)))
    change = np.where(np.isfinite(change), change, 0.0)
    beside = np.zeros_like(change)
    beside[1:] += change[:-1]
    beside[:-1] += change[1:]
    size = sizes(y)
    rounded = _ROUNDING * np.maximum(size[1:], size[:-1])
    cells = np.flatnonzero((change > _OUTSTANDING * beside) & (change > rounded))
    if not len(cells):
        return 0.0
    low, high = y[cells], y[cells + 1]
    at_low, at_high = curve(low), curve(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        at_middle = curve(middle)
        lower = np.abs(at_middle - at_low) >= np.abs(at_high - at_middle)
        low, high = np.where(lower, low, middle), np.where(lower, middle, high)
        at_low, at_high = np.where(lower, at_low, at_middle), np.where(lower, at_middle, at_high)
    left = np.abs(at_high - at_low)
    return float(np.max(left, where=left > _STEADY * change[cells], initial=0.0))


def elsewhere(leap: PayoffJump, statement: Statement, usual: float) -> float:
    """An estimate of how far other paths are from `usual`, the value on all paths that were made: see
    `root_mean_square_off`. If the value is not a known function of y, it is the size of the jump, NaN if that is not
    known."""
    if leap.curve is None:
        return leap.size if leap.size > 0 else math.nan
    return root_mean_square_off(leap.curve, _spread(statement, leap.asset), usual)


def root_mean_square_off(curve: Curve, spread: float, usual: float) -> float:
    """The root mean square of `curve` less `usual`, over the part of the law of y where the two differ. y is normal
    with the deviation `spread`. 0 if they do not differ, NaN if the result overflows."""
    z = np.linspace(-_REACH, _REACH, _CELLS + 1)
    off = curve(spread * z) - usual
    away = np.isfinite(off) & (np.abs(off) > 1e-12 * abs(usual))
    if not away.any():  # it could be random, but is not
        return 0.0
    logarithm = -(z[away] ** 2) / 2
    weight = np.exp(logarithm - logarithm.max())
    with np.errstate(over="ignore"):
        found = math.sqrt(float(weight @ off[away] ** 2 / weight.sum()))
    return found if math.isfinite(found) else math.nan


def _never_pays(option: Barrier) -> bool:
    """Whether the option is void wherever it would pay, the end being one of its dates."""
    if option.knock == "in" or option.rebate:
        return False
    if option.direction == "down":
        return option.payoff == "put" and option.strike <= option.level
    return option.payoff == "call" and option.strike >= option.level


def scatter_far_out(leap: PayoffJump, statement: Statement, points: int) -> float:
    """The part of the variance of a mean over so many points that comes from the first and the last of them in order of
    y. 0 where the payoff is not known there, NaN where it overflows."""
    if leap.far is None or not statement.dynamics.lognormal:
        return 0.0
    return scatter(leap.far, _spread(statement, leap.asset), points)


def _at_barrier(statement: Statement, option: Barrier) -> float:
    dynamics, n = statement.dynamics, statement.n_steps
    asset = _option_asset(statement, option)
    dates = np.unique(np.linspace(1, n, min(option.dates or n, _MOST_DATES)).astype(np.int64))
    ends = np.append(dates, n)
    growth, variance = LN2 * dynamics.log_mean(ends)[asset], LN2**2 * dynamics.variance(ends)[asset]
    z, weights = gauss_normal(_NODES)
    found = []
    for g, v in zip(growth[-1] - growth[:-1], np.maximum(variance[-1] - variance[:-1], 0.0)):
        price = option.level * np.exp(g - v / 2 + math.sqrt(v) * z)
        side = 1.0 if option.payoff == "call" else -1.0
        gained = np.maximum(side * (price - option.strike), 0.0) - option.rebate
        found.append(math.sqrt(float(weights @ gained**2)))
    return max(found)


def _option_asset(statement: Statement, option: Barrier) -> int:
    return 0 if option.asset is None else statement.scenario.asset_names.index(option.asset)


def _asset(statement: Statement, name: str) -> int:
    i = number(name, "kept")
    if i is not None:
        return statement.payoffs.functionals[i].asset
    return next(a for a in (number(name, "last"), number(name, "noise")) if a is not None)


def _spread(statement: Statement, asset: int) -> float:
    return float(statement.dynamics.spread(np.array([statement.n_steps]))[asset, 0])
