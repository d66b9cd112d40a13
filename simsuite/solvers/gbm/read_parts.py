"""Reads options of several maturities: each part as the scenario that ends with its options, see parts.py.

What a part keeps of a path is then kept by the whole run. Its dates are the same time steps there, and the noise at its
end is one more functional: the noise on the latest of its dates, which has that date alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simsuite.expressions.tree import Apply, Name, Node, Number, names_in, substitute
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.parts import Part, PartsPayoffs
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Functionals, Kind
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.read_options import read_payoffs
from simsuite.solvers.gbm.statement import Statement

Rename = Callable[[Node], Node]


def read_parts(
    model: GbmScenario, dynamics: Dynamics, references: Sequence[float] = ()
) -> Sequence[tuple[GbmScenario, Dynamics, Payoffs]]:
    """What is read of each part, by increasing maturity; a single one, of the scenario itself, where all options end
    with it. references: see `read_payoffs`. Raises ScenarioError as that does."""
    ends = sorted({model.time.until(option.maturity).steps for option in model.option} or {model.time.steps})
    if ends == [model.time.steps]:
        return [(model, dynamics, read_payoffs(model, dynamics, references))]
    found = []
    for end in ends:
        maturity = next(o.maturity for o in model.option if model.time.until(o.maturity).steps == end)
        part = model.until(maturity)
        of_part = Dynamics.of(part)
        found.append((part, of_part, read_payoffs(part, of_part, references)))
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
