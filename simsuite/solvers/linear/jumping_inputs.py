"""Inputs that jump under `hold = "first"`, which joins the samples of an input by straight lines.

A jump between two steps becomes a ramp over the whole step before it, so that a pulse begins too early and a first
dose, which nothing comes before, is too small. The residual does not show it, as it is against the same ramps.

Jumps are looked for where a decision (see `expressions.exact`) changes from one step to the next: bisection finds when,
and the input jumps if its values right before and after that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.exact import decisions
from simsuite.expressions.tree import Node
from simsuite.solvers.linear.clock import step_times
from simsuite.solvers.linear.input_values import tree_values

_LOOKED_AT = 100_000  # steps of all inputs together
_BISECTED = 1000  # changes of a decision, from the first on
_HALVINGS = 60  # of a step, after which its halves are neighbouring floating-point numbers
_SAME = 1e-6  # of the largest value of an input: what differs by less on both sides of a decision is no jump
_NAMED = 5  # inputs in one sentence


def jump_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> Iterator[str]:
    """One sentence if any input jumps between two steps of a run; the first steps are looked at."""
    doubtful = [i for i, u in enumerate(inputs) if u.depends_on("t") and decisions(u.tree)]
    times = step_times(dt, np.arange(min(steps, _LOOKED_AT // max(len(doubtful), 1)) + 1))
    found = [(i, jump) for i in doubtful if (jump := _first_jump(inputs[i].tree, times)) is not None]
    if not found:
        return
    i, (time, before, after) = found[0]
    jumps = f"`input[{i}]` jumps from {before:g} to {after:g} at t = {time:.10g} s{_others([k for k, _ in found[1:]])}"
    drawn = f'`hold = "first"` draws a ramp across each jump, over the step before it (dt = {dt:g} s)'
    yield f'{jumps}: {drawn}; set hold = "zero", with jumps at the beginning of a step, or make dt smaller'


def _others(which: list[int]) -> str:
    if not which:
        return ""
    named = ", ".join(f"`input[{i}]`" for i in which[:_NAMED])
    rest = f" and {len(which) - _NAMED} more" if len(which) > _NAMED else ""
    return f" ({named}{rest} {'jumps' if len(which) == 1 else 'jump'} as well)"


def _first_jump(tree: Node, times: np.ndarray) -> tuple[float, float, float] | None:
    """(time, value before, value after) of the first jump; None if there is none between these times."""
    values = tree_values(tree, times)
    size = np.max(np.abs(values[np.isfinite(values)]), initial=0.0)
    found = []
    for decision in decisions(tree):
        before, after = _changes(decision, times)
        left, right = tree_values(tree, before), tree_values(tree, after)
        with np.errstate(invalid="ignore"):
            jumping = np.flatnonzero(np.abs(right - left) > _SAME * size)
        if len(jumping):
            k = jumping[0]
            found.append((float(after[k]), float(left[k]), float(right[k])))
    return min(found, default=None)


def _changes(decision: Node, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last times before and the first ones after changes of a decision, one for each step in which it changes."""
    values = tree_values(decision, times)
    steps = np.flatnonzero(values[1:] != values[:-1])[:_BISECTED]
    before, after, first = times[steps], times[steps + 1], values[steps]
    for _ in range(_HALVINGS):
        middle = 0.5 * before + 0.5 * after
        same = tree_values(decision, middle) == first
        before, after = np.where(same, middle, before), np.where(same, after, middle)
    return before, after
