"""The share of the highest and the lowest Sobol points in the mean of a payoff that depends on more than one price, and
in its Greeks.

Prices far out are those of points that hardly any sample has, see `allowances.py`. For a payoff of one price alone,
what such points bring is known from the law of the price (`strata.py`). Averages, extremes and baskets depend on many
numbers, but along a straight line through the space of all normal numbers they depend on one, z, which is normal: if
the noise y of asset a after step s is z deviations out, the others are most likely at

    y_b(k) = z Cov(y_b(k), y_a(s)) / deviation of y_a(s),

a path whose payoff, and whose control, can be computed. The variance over points that are anywhere in the first or the
last stratum along such a line is what a sample cannot tell. Lines go through the end, three earlier dates, and the
common direction of all assets; the one with the most scatter counts. Payoffs also scatter across a line, which is left
out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simsuite.expressions.sharing import evaluate_each
from simsuite.expressions.tree import names_in
from simsuite.solvers.gbm.error_allowances.strata import outer_strata
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, EXTREMES, Functional, Kind, weighted
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.payoffs.weights import weight_table
from simsuite.solvers.gbm.statement import Statement, once

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoffs.payoffs import Mean

_MOST_ASSETS = 4  # number of assets with lines of their own: those with the largest volatility
_DATES = 4  # number of dates with a line each, the last of which is the end
# slope of the noise after a date, relative to that before it, on lines where part of the gain is lost again
_FALL = -0.5
_ROUNDING = 1e-12  # relative to a variance: what rounding leaves where a control is the payoff itself
_BEGUN = {Kind.LEAST: np.inf, Kind.LARGEST: -np.inf}
# these do not follow from a path, or not without the learnt policy
_UNFIT = CONTINUOUS | {Kind.EXERCISED, Kind.AT_EXERCISED}


@dataclass(frozen=True)
class Scatter:
    """What the extreme points contribute to means over so many points, for each line: the variances of a value and of
    its control, and their covariance. They are NaN where they overflow."""

    own: np.ndarray
    control: np.ndarray
    both: np.ndarray

    def variance(self, coefficient: float) -> float:
        """The variance of the value less `coefficient` times its control, along the line where that is largest."""
        with np.errstate(invalid="ignore"):
            found = self.own - 2 * coefficient * self.both + coefficient**2 * self.control
            found = np.where(found < _ROUNDING * self.own, 0.0, found)
        return float(np.max(found)) if found.size else 0.0


class ExtremePoints:
    """The scatter by extreme points, for a problem whose prices follow the lognormal law."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._points, self._known = 0, dict[int, Scatter]()

    def scatter(self, mean: Mean, points: int) -> Scatter | None:
        """The scatter of a mean over so many points; None where it is not known, or where prices do not scatter."""
        if points != self._points:
            self._points, self._known = points, _scatters(self._statement, points)
        return self._known.get(mean.value)


@once
def extreme_points_of(statement: Statement) -> ExtremePoints:
    return ExtremePoints(statement)


def _scatters(statement: Statement, points: int) -> dict[int, Scatter]:
    """The scatter of each mean, by the number of its value."""
    payoffs, (z, weight), slopes = statement.payoffs, outer_strata(points), _slopes(statement)
    variables = _along(statement, slopes, z.ravel())
    fit = [v for v in range(len(payoffs.values)) if _is_fit(statement, v)]
    off = {}
    with np.errstate(all="ignore"):
        for v, curve in zip(fit, evaluate_each([payoffs.values[v] for v in fit], variables)):
            values = np.broadcast_to(curve, (len(slopes), z.size)).reshape(len(slopes), *z.shape)
            off[v] = values - (values * weight).sum(axis=2, keepdims=True)

        def product(one: int, other: int) -> np.ndarray:
            return (off[one] * off[other] * weight).sum(axis=(1, 2)) / points**2

        found = {}
        for mean in payoffs.means:
            own, control = mean.value, mean.control
            if own in off and control is None:
                found[own] = Scatter(product(own, own), np.zeros(len(slopes)), np.zeros(len(slopes)))
            elif own in off and control in off:
                found[own] = Scatter(product(own, own), product(control, control), product(own, control))
    return found


def _is_fit(statement: Statement, value: int) -> bool:
    functionals = statement.payoffs.functionals
    numbers = (number(name, "kept") for name in names_in(statement.payoffs.values[value]))
    return not any(functionals[i].kind in _UNFIT for i in numbers if i is not None)


def _slopes(statement: Statement) -> np.ndarray:
    """[line, asset, step]: the noise for each deviation that a path is out along the line."""
    dynamics, n = statement.dynamics, statement.n_steps
    scale, correlation = dynamics.scale(), dynamics.correlation
    spread = np.sqrt(np.sum(scale**2, axis=1))
    leading = [a for a in np.argsort(-spread, kind="stable")[:_MOST_ASSETS] if spread[a] > 0]
    steps = sorted({-(-n * i // _DATES) for i in range(1, _DATES + 1)})
    aims = [(np.eye(len(spread))[a], step, after) for a in leading for step in steps for after in (0.0, _FALL)]
    if len(leading) > 1:
        aims.append((np.linalg.eigh(spread[:, None] * correlation * spread)[1][:, -1], n, 0.0))
    found = []
    for share, step, after in aims:
        if step == n and after:
            continue
        moved = share[:, None] * scale * np.where(np.arange(n) < step, 1.0, after)
        along = correlation @ moved
        found.append(np.cumsum(scale * along, axis=1) / np.sqrt(np.sum(moved * along)))
    return np.array(found).reshape(len(found), len(spread), n)


def _along(statement: Statement, slopes: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
    """The variables of expressions on paths that are z deviations out along each line: [line, z]."""
    dynamics, functionals = statement.dynamics, statement.payoffs.functionals
    growth = statement.end_growth
    values: dict[str, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for a in range(statement.n_assets):
            y = slopes[:, a, -1, None] * z
            values |= {noise(a): y, last(a): np.exp2(y) * growth[a]}
        for i, found in enumerate(_taken(functionals, dynamics, slopes, z)):
            values[kept(i)] = np.exp2(found) if functionals[i].kind in EXTREMES else found
    return values


def _taken(
    functionals: tuple[Functional, ...], dynamics: Dynamics, slopes: np.ndarray, z: np.ndarray
) -> list[np.ndarray]:
    """What functionals keep of such paths, computed as in the kernels (functionals_cpu.py)."""
    n, rows = dynamics.n_steps, weighted(functionals)
    table, centre = weight_table(functionals, dynamics, dynamics.n_steps), dynamics.centre()
    due = [set() if f.kind in _UNFIT else set(f.dates.steps(n).tolist()) for f in functionals]
    found = [np.full((len(slopes), len(z)), _BEGUN.get(f.kind, 0.0)) for f in functionals]
    for step in sorted(set().union(*due)):
        at: dict[int, np.ndarray] = {}
        for i, f in enumerate(functionals):
            if step not in due[i]:
                continue
            y = at.setdefault(f.asset, slopes[:, f.asset, step - 1, None] * z)
            weight = 0.0 if f.weight is None else table[rows.index((f.asset, f.weight, f.dates)), step - 1]
            partner = None if f.partner is None else found[functionals.index(f.partner)]
            found[i] = _kept(f.kind, found[i], y, float(centre[f.asset, step - 1]), weight, partner)
    return found


def _kept(
    kind: Kind, so_far: np.ndarray, y: np.ndarray, centre: float, weight: float, partner: np.ndarray | None
) -> np.ndarray:
    """What a functional has kept after one more date."""
    if kind == Kind.LOGARITHMS:
        return so_far + y
    if kind == Kind.LEAST:
        return np.minimum(so_far, y + centre)
    if kind == Kind.LARGEST:
        return np.maximum(so_far, y + centre)
    if kind in (Kind.AT_LEAST, Kind.AT_LARGEST):
        return np.where(partner == y + centre, weight, so_far)
    if kind == Kind.SQUARES:
        return so_far + weight * (y - partner) ** 2
    if kind == Kind.LATEST:
        return y
    price = np.exp2(y + centre)
    factor = {Kind.SUM: 1.0, Kind.WEIGHTED: weight, Kind.NOISY: y}[kind]
    return so_far + factor * price
