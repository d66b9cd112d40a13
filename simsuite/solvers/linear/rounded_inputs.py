"""Inputs that rounding decides: conditions on t that fall on the beginning of a step.

At t = 48.05 the condition t % 24 < 0.05 holds in floating-point arithmetic, and does not hold in exact arithmetic. Such
steps are found by evaluating inputs at the steps' exact times in rational numbers (see `expressions.exact`), wherever a
decision turns within a small distance of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.exact import Value, as_written, decided_exactly, decisions, shifted_decisions
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import Node
from simsuite.solvers.linear.clock import step_times
from simsuite.solvers.linear.input_values import tree_values

LOOKED_AT = 100_000  # steps of all inputs together
_EXACTLY = 10_000  # of these, in rational numbers
_NEAR = 1e-12  # of t: decisions that turn so close to a step are looked at
_SAME = 1e-9  # of the largest value of an input: what differs by less is the same
_SHIFTS = (0.5, -0.5, 0.01, -0.01)  # of a step, by which conditions are moved away from steps
_LONGEST = 120  # characters of an expression that is proposed


@dataclass(frozen=True)
class _Steps:
    """The first steps of a run. dt: their length, s."""

    dt: float
    count: int

    @cached_property
    def times(self) -> np.ndarray:
        return step_times(self.dt, np.arange(self.count))

    def close(self, tree: Node) -> np.ndarray:
        """Those within whose neighbourhood a decision of the tree turns."""
        t = self.times
        away = _NEAR * np.maximum(t, self.dt)
        found = np.zeros(self.count, bool)
        for decision in decisions(tree):
            here = tree_values(decision, t)
            for beside in (t - away, t + away):
                found |= tree_values(decision, beside) != here
        return np.flatnonzero(found)


def rounding_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> Iterator[str]:
    """One sentence for each input that is not at every step what exact arithmetic gives. steps: at whose beginnings
    inputs count; the first of them are looked at."""
    doubtful = [i for i, u in enumerate(inputs) if u.depends_on("t") and decisions(u.tree)]
    share = max(len(doubtful), 1)
    looked_at = _Steps(dt, min(steps, LOOKED_AT // share))
    for i in doubtful:
        found = _warning(f"input[{i}]", inputs[i].tree, looked_at, _EXACTLY // share)
        if found is not None:
            yield found


def _warning(name: str, tree: Node, steps: _Steps, most: int) -> str | None:
    plain = tree_values(tree, steps.times)
    meant = _meant(tree, plain, steps, most)
    wrong = np.flatnonzero(~_same(plain, meant))
    if not len(wrong):
        return None
    k = wrong[0]
    often = "" if len(wrong) == 1 else f", the first of {len(wrong)} such steps"
    found = f"`{name}` is {plain[k]:g} at t = {steps.times[k]:.10g} s, where exact arithmetic gives {meant[k]:g}{often}"
    return f"{found}: a condition on t changes right at a step, and rounding decides; {_advice(tree, meant, steps)}"


def _meant(tree: Node, plain: np.ndarray, steps: _Steps, most: int) -> np.ndarray:
    """The values (steps,) that exact arithmetic gives, where decisions turn at a step."""
    meant, length = plain.copy(), as_written(steps.dt)
    for k in steps.close(tree)[:most]:
        at = {"t": Value(float(steps.times[k]), int(k) * length)}
        with np.errstate(all="ignore"):
            meant[k] = decided_exactly(tree, at).rounded
    return meant


def _advice(tree: Node, meant: np.ndarray, steps: _Steps) -> str:
    """What to write instead: conditions away from steps, if that gives what is meant at every step."""
    for share in _SHIFTS:
        shift = float(f"{share * steps.dt:.3g}")
        moved = shifted_decisions(tree, "t", shift)
        if not len(steps.close(moved)) and np.all(_same(tree_values(moved, steps.times), meant)):
            text = formula(moved)
            return f"write {text}" if len(text) <= _LONGEST else f"write {_moved_time(shift)} for t in its conditions"
    number = f"floor(t/{steps.dt!r} + 0.5)"
    return f"write the condition in whole numbers of steps, which are exact: {number} is the number of a step"


def _moved_time(shift: float) -> str:
    return f"(t {'+' if shift > 0 else '-'} {abs(shift)!r})"


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Up to rounding, relative to the largest of them."""
    finite = np.abs(np.concatenate([a[np.isfinite(a)], b[np.isfinite(b)]]))
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= _SAME * np.max(finite, initial=0.0)
    return close | (a == b) | (np.isnan(a) & np.isnan(b))
