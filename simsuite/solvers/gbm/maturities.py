"""Options that end before the run does, each with its own maturity, on the same paths.

Options that end together make a part. It is read as the scenario that ends with them, so that whatever is known of
options that end with their run (payoffs, controls, Greeks, parts of errors) holds for them. What it keeps of a path is
then kept by the run: the dates are the same time steps, and the noise at the end of the part is one more functional,
the noise at the latest of its only date. Its sums over paths are rows of those of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simsuite.core import Snapshot
from simsuite.expressions.sharing import shared
from simsuite.expressions.tree import Apply, Name, Node, Number, names_in, substitute
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Functionals, Kind
from simsuite.solvers.gbm.payoffs.payoffs import Mean, Payoffs
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.read_options import read_payoffs
from simsuite.solvers.gbm.statement import Statement, once

Rename = Callable[[Node], Node]


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


def read_parts(model: GbmScenario, dynamics: Dynamics) -> Sequence[tuple[GbmScenario, Dynamics, Payoffs]]:
    """What is read of each part, by increasing maturity; a single one, of the scenario itself, where all options end
    with it. Raises ScenarioError as `read_payoffs` does."""
    ends = sorted({model.time.until(option.maturity).steps for option in model.option} or {model.time.steps})
    if ends == [model.time.steps]:
        return [(model, dynamics, read_payoffs(model, dynamics))]
    found = []
    for end in ends:
        maturity = next(o.maturity for o in model.option if model.time.until(o.maturity).steps == end)
        part = model.until(maturity)
        of_part = Dynamics.of(part)
        found.append((part, of_part, read_payoffs(part, of_part)))
    return found


@dataclass(frozen=True)
class JoinedPaths:
    """What a whole run keeps of its paths for all parts. renames: for each part, what says its expressions in that."""

    functionals: tuple[Functional, ...]
    renames: tuple[Rename, ...]


def joined(read: Sequence[tuple[GbmScenario, Dynamics, Payoffs]], n_steps: int) -> JoinedPaths:
    """The functionals of all parts, each once. n_steps: of the whole run."""
    found, renames = Functionals(n_steps), []
    for _, dynamics, payoffs in read:
        end = dynamics.n_steps
        numbers = [found.number(_in_run(functional, end, n_steps)) for functional in payoffs.functionals]
        variables: dict[str, Node] = {kept(i): Name(kept(number)) for i, number in enumerate(numbers)}
        if end < n_steps:
            used = {name for tree in payoffs.values for name in names_in(tree)}
            variables |= _ends(found, dynamics, used)
        renames.append(_renaming(variables))
    return JoinedPaths(tuple(found.found), tuple(renames))


def joined_payoffs(
    read: Sequence[tuple[GbmScenario, Dynamics, Payoffs]], paths: JoinedPaths, model: GbmScenario, batch: int
) -> PartsPayoffs:
    """The payoffs of a run of several parts. batch: the paths of a batch of it."""
    parts, begin, trees = [], 0, dict[int, Node]()
    for (part, dynamics, payoffs), rename in zip(read, paths.renames):
        steps = part.time.steps
        options = tuple(o for o, option in enumerate(model.option) if model.time.until(option.maturity).steps == steps)
        rows = slice(begin, begin + len(payoffs.products))
        begin = rows.stop
        parts.append(Part(Statement(part, dynamics, payoffs, (0, steps), batch), options, rows))
        trees |= {o: rename(tree) for o, tree in zip(options, payoffs.trees)}
    mapped = tuple(tuple(map(rename, payoffs.values)) for (*_, payoffs), rename in zip(read, paths.renames))
    in_order = tuple(trees[o] for o in range(len(trees)))
    return PartsPayoffs(in_order, (), paths.functionals, (), (), parts=tuple(parts), mapped=mapped)


def _in_run(functional: Functional, end: int, n_steps: int) -> Functional:
    """A functional of paths that end after so many steps, as one of paths that go on."""
    if end == n_steps:
        return functional
    dates = Dates(listed=tuple(functional.dates.steps(end).tolist()), until=end)
    exercised = None if functional.exercised is None else _in_run(functional.exercised, end, n_steps)
    return replace(functional, dates=dates, exercised=exercised)


def _ends(found: Functionals, dynamics: Dynamics, used: set[str]) -> Mapping[str, Node]:
    """The variables about the end of a part, from its noise there. used: names of those that are needed."""
    end, variables = dynamics.n_steps, dict[str, Node]()
    with np.errstate(over="ignore"):
        growth = np.exp2(dynamics.centre(np.array([end]))[:, 0])
    needed = {a for name in used for a in (number(name, "last"), number(name, "noise")) if a is not None}
    for asset in sorted(needed):
        there = Name(kept(found.number(Functional(Kind.LATEST, asset, Dates(listed=(end,), until=end)))))
        risen = Apply("exp", (Apply("*", (Number(LN2), there)),))
        variables |= {noise(asset): there, last(asset): Apply("*", (Number(float(growth[asset])), risen))}
    return variables


def _renaming(variables: Mapping[str, Node]) -> Rename:
    def renamed(tree: Node) -> Node:
        return substitute(tree, {name: variables[name] for name in names_in(tree) if name in variables})

    return renamed
