"""What is estimated from paths: means of payoffs and of the expressions that give Greeks, with their control
variates."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from simsuite.expressions.sharing import evaluate_each, shared
from simsuite.expressions.tree import Node, names_in
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind, weighted
from simsuite.solvers.gbm.payoffs.option_greeks import OptionGreeks
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.payoffs.weights import weight_table


@dataclass(frozen=True)
class Mean:
    """A mean to be estimated. value, control: numbers of what is averaged and of its control among `Payoffs.values`;
    begin: its first row in `Payoffs.products`.

    products: the value and its square; if it has a control, also the control and its square, and the product of both.
    """

    value: int
    control: int | None
    control_mean: float
    begin: int

    @property
    def products(self) -> list[tuple[int, int]]:
        own, control = self.value, self.control
        found = [(own, -1), (own, own)]
        return found if control is None else [*found, (control, -1), (control, control), (own, control)]

    @property
    def rows(self) -> slice:
        """The rows of this mean in `Payoffs.products`."""
        return slice(self.begin, self.begin + len(self.products))


@dataclass(frozen=True)
class Payoffs:
    """The payoffs of all options, undiscounted and in units of price, with the functionals and the Greeks that they
    need."""

    trees: tuple[Node, ...]
    controls: tuple[Control | None, ...]
    functionals: tuple[Functional, ...]
    greeks: tuple[OptionGreeks, ...]
    exercise_indicators: tuple[Node | None, ...]

    @cached_property
    def values(self) -> tuple[Node, ...]:
        """The expressions that are computed for each path: all payoffs, then what all controls pay, then what Greeks
        need, then whether options were exercised that could be. Equal parts are one object."""
        controls = [control.tree for control in self.controls if control is not None]
        greeks = [greek for greeks in self.greeks for greek in greeks.found.values()]
        parts = [(greek.tree, greek.control) for greek in greeks]
        more = [tree for own, control in parts for tree in (own, control.tree if control else None) if tree is not None]
        return shared([*self.trees, *controls, *more, *(tree for tree in self.exercise_indicators if tree is not None)])

    def expected(self, dynamics: Dynamics) -> np.ndarray:
        """[value]: it on the path of expected prices; not finite where floating point cannot tell."""
        with np.errstate(all="ignore"):
            path = expected_path(self.functionals, dynamics)
            return np.array([float(value) for value in evaluate_each(self.values, path)])

    @cached_property
    def prices(self) -> tuple[Mean, ...]:
        """The mean that gives the price of each option."""
        return tuple(price for price, _ in self._means)

    @cached_property
    def greek_means(self) -> tuple[dict[tuple[str, int], Mean], ...]:
        """The means that give the Greeks of each option, by name and asset."""
        return tuple(greeks for _, greeks in self._means)

    @cached_property
    def _means(self) -> list[tuple[Mean, dict[tuple[str, int], Mean]]]:
        controls = count(len(self.trees))
        further = count(len(self.trees) + sum(control is not None for control in self.controls))
        begin, found = 0, []

        def mean(value: int, control: Control | None, numbers: count[int]) -> Mean:
            nonlocal begin
            number, known = (None, 0.0) if control is None else (next(numbers), control.mean)
            made = Mean(value, number, known, begin)
            begin = made.rows.stop
            return made

        for o, (control, greeks) in enumerate(zip(self.controls, self.greeks)):
            price = mean(o, control, controls)
            found.append((price, {key: mean(next(further), g.control, further) for key, g in greeks.found.items()}))
        return found

    @cached_property
    def exercises(self) -> dict[int, Mean]:
        """The mean that gives the probability of exercise, for each option that can be exercised."""
        options = [o for o, tree in enumerate(self.exercise_indicators) if tree is not None]
        value, begin = (
            len(self.values) - len(options),
            max((m.rows.stop for of in self._means for m in _all(of)), default=0),
        )
        return {o: Mean(value + i, None, 0.0, begin + 2 * i) for i, o in enumerate(options)}

    @cached_property
    def products(self) -> tuple[tuple[int, int], ...]:
        """The products that are added up, those of `means` in order: a value, by its number (and -1), or the product of
        two values."""
        return tuple(pair for mean in self.means for pair in mean.products)

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """All means: that of the first option's price and those of its Greeks, then the same for the next option; at
        the end the probabilities of exercise."""
        return (*(mean for of in self._means for mean in _all(of)), *self.exercises.values())

    def rows(self, option: int) -> slice:
        """The rows of `products` for an option's price."""
        return self.prices[option].rows

    def asset(self, value: int) -> int:
        """The first asset that a value depends on, to be named in messages; 0 if it depends on none."""
        names = names_in(self.values[value])
        ends = {a for name in names for a in (number(name, "last"), number(name, "noise")) if a is not None}
        return min(ends | {f.asset for i, f in enumerate(self.functionals) if kept(i) in names}, default=0)


def _all(means: tuple[Mean, dict[tuple[str, int], Mean]]) -> tuple[Mean, ...]:
    price, greeks = means
    return (price, *greeks.values())


def expected_path(functionals: tuple[Functional, ...], dynamics: Dynamics) -> dict[str, np.ndarray]:
    """The variables on the path of expected prices, without noise: payoffs of other paths are not far from its
    payoffs."""
    n_steps = dynamics.n_steps
    values: dict[str, np.ndarray] = {}
    end = np.exp2(dynamics.log_mean(np.array([n_steps]))[:, 0])
    for a, price in enumerate(end):
        values |= {last(a): np.asarray(price), noise(a): np.zeros(())}
    weights = iter(weight_table(functionals, dynamics, n_steps))
    rows = {key: next(weights) for key in weighted(functionals)}
    for i, f in enumerate(functionals):
        steps = f.dates.steps(n_steps)
        prices = np.exp2(dynamics.log_mean(steps)[f.asset])
        row = rows[f.asset, f.weight, f.dates][steps - 1] if f.weight is not None else np.zeros(len(steps))
        found = {
            Kind.SUM: prices.sum,
            Kind.LEAST: prices.min,
            Kind.LARGEST: prices.max,
            Kind.LOWEST: lambda lowest=prices.min(): min(lowest, 1.0),
            Kind.HIGHEST: lambda highest=prices.max(): max(highest, 1.0),
            Kind.SURVIVAL: lambda: 1.0,
            Kind.WEIGHTED: functools.partial(np.dot, prices, row),
            Kind.AT_LEAST: lambda at=row[prices.argmin()]: at,
            Kind.AT_LARGEST: lambda at=row[prices.argmax()]: at,
            Kind.AT_LOWEST: lambda at=row[prices.argmin()]: at,
            Kind.AT_HIGHEST: lambda at=row[prices.argmax()]: at,
            Kind.SQUARES: lambda count=len(steps): float(count),
        }
        values[kept(i)] = np.asarray(found.get(f.kind, lambda: 0.0)(), np.float64)
    return values
