"""Sources and edges that are switched after the end of a run, as by `(t > 3600)` in a run of 600 s."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from simsuite.expressions import Expression
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import Apply, Name, Node, Number, walk
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation

_COMPARISONS = ("<", "<=", ">", ">=")


def late_switches(scenario: HeatScenario, made: Discretisation, idle: Collection[Expression]) -> list[str]:
    """A sentence for each comparison of t with a number that is after the end, once for each source and edge. idle:
    functions that are known to have no effect at all."""
    end = scenario.time.end
    if scenario.time.steady or end is None or scenario.manufactured:
        return []
    named = [(each.words, f) for each, f in zip(made.heating, made.sources)]
    for piece in made.edges.pieces:
        named += [(f"the {piece.path[1]} edge", f) for f in (piece.first, piece.second)]
    found = [
        f"`{formula(node)}` in {name} has no effect, as it changes at t = {at:g} s, after the end of the run at "
        f"{end:g} s: check time.end, in seconds"
        for name, f in named
        if f not in idle
        for node, at in _switches(f.tree)
        if at > end
    ]
    return list(dict.fromkeys(found))


def _switches(tree: Node) -> Iterator[tuple[Node, float]]:
    """The comparisons of t itself with a number, each with that number."""
    for node in walk(tree):
        if isinstance(node, Apply) and node.op in _COMPARISONS:
            numbers = [part.value for part in node.args if isinstance(part, Number)]
            if len(numbers) == 1 and any(isinstance(part, Name) and part.name == "t" for part in node.args):
                yield node, numbers[0]
