"""Options that end before the run does, each with its own maturity, on the same paths.

Options that end together make a part. It is stated as the scenario that ends with them, so that whatever is known of
options that end with their run (payoffs, controls, Greeks, parts of errors) holds for them. Its sums over paths are
rows of those of the run. For how parts are read, and what the run keeps of paths for them, see read_parts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simsuite.core import Snapshot
from simsuite.expressions.sharing import shared
from simsuite.expressions.tree import Node
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.payoffs import Mean, Payoffs
from simsuite.solvers.gbm.statement import Statement, once


@dataclass(frozen=True)
class Part:
    """Options that end together. statement: the run that ends with them. options: their numbers in the whole run. rows:
    those of `Payoffs.products` that are theirs."""

    statement: Statement
    options: tuple[int, ...]
    rows: slice

    def seen(self, observed: Snapshot) -> Snapshot:
        """An observation of the whole run as one of this part."""
        if "options" not in observed.arrays:
            return observed
        return replace(observed, arrays={**observed.arrays, "options": observed.arrays["options"][:, self.rows]})


@dataclass(frozen=True)
class PartsPayoffs(Payoffs):
    """The payoffs of several parts together. mapped: the values of each part, in what the whole run keeps."""

    parts: tuple[Part, ...] = ()
    mapped: tuple[tuple[Node, ...], ...] = ()

    @cached_property
    def values(self) -> tuple[Node, ...]:
        return shared(tree for trees in self.mapped for tree in trees)

    def expected(self, dynamics: Dynamics) -> np.ndarray:
        each = (part.statement for part in self.parts)
        return np.concatenate([part.payoffs.expected(part.dynamics) for part in each])

    @cached_property
    def prices(self) -> tuple[Mean, ...]:
        return self._in_order(lambda payoffs, o: payoffs.prices[o])

    @cached_property
    def greek_means(self) -> tuple[dict[tuple[str, int], Mean], ...]:
        found: dict[int, dict[tuple[str, int], Mean]] = {}
        for part, moved in self._moved():
            for i, o in enumerate(part.options):
                found[o] = {key: moved(mean) for key, mean in part.statement.payoffs.greek_means[i].items()}
        return tuple(found[o] for o in range(len(found)))

    @cached_property
    def exercises(self) -> dict[int, Mean]:
        return {
            part.options[i]: moved(mean)
            for part, moved in self._moved()
            for i, mean in part.statement.payoffs.exercises.items()
        }

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        return tuple(moved(mean) for part, moved in self._moved() for mean in part.statement.payoffs.means)

    def _in_order(self, take: Callable[[Payoffs, int], Mean]) -> tuple[Mean, ...]:
        found = {
            o: moved(take(part.statement.payoffs, i))
            for part, moved in self._moved()
            for i, o in enumerate(part.options)
        }
        return tuple(found[o] for o in range(len(found)))

    def _moved(self) -> list[tuple[Part, Callable[[Mean], Mean]]]:
        """The parts, each with a function that says which mean of the whole run is one of the part's."""
        found, begin = [], 0
        for part in self.parts:
            found.append((part, _shifted(begin, part.rows.start)))
            begin += len(part.statement.payoffs.values)
        return found


def _shifted(values: int, rows: int) -> Callable[[Mean], Mean]:
    def moved(mean: Mean) -> Mean:
        control = None if mean.control is None else mean.control + values
        return replace(mean, value=mean.value + values, control=control, begin=mean.begin + rows)

    return moved


@once
def parts_of(statement: Statement) -> tuple[Part, ...]:
    """The parts of a run, which is the only one itself where all options end with it."""
    if isinstance(statement.payoffs, PartsPayoffs):
        return statement.payoffs.parts
    options = tuple(range(len(statement.scenario.option)))
    return (Part(statement, options, slice(0, None)),)


def of_option(statement: Statement, observed: Snapshot, option: int) -> tuple[Statement, Snapshot, int]:
    """The part that an option belongs to, the observation as one of that part, and the option's number in it."""
    for part in parts_of(statement):
        if option in part.options:
            return part.statement, part.seen(observed), part.options.index(option)
    raise IndexError(option)
