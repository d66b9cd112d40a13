"""Inputs that rounding decides: conditions on t that change at the beginning of a step.

At t = 48.05 the condition t % 24 < 0.05 holds in floating-point arithmetic, and does not hold in exact arithmetic. Such
steps are found by evaluating inputs at the steps' exact times in rational numbers (see `expressions.exact`), wherever a
decision (a comparison or a sign) changes within a small distance of a step. A decision that cannot be made in rational
numbers, such as sin(pi*t) > 0, is taken to be meant as it is right after the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.exact import Value, as_written, decided_exactly, decisions, shifted_decisions
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import Apply, Node
from simsuite.solvers.linear.inputs.clock import step_times
from simsuite.solvers.linear.inputs.input_values import tree_values

LOOKED_AT = 100_000  # At most so many steps are examined, counted over all inputs.
_EXACTLY = 10_000  # At most so many of these steps are evaluated in rational numbers.
_NEAR = 1e-12  # Decisions are examined that change within this distance of a step, relative to t.
_SAME = 1e-9  # Values that differ by less than this, relative to the largest value of an input, count as equal.
SHIFTS = (0.5, -0.5, 0.01, -0.01)  # Conditions are moved away from steps by one of these fractions of a step.
_LONGEST = 120  # Only expressions of up to so many characters are proposed.


@dataclass(frozen=True)
class _Steps:
    """The first steps of a run. dt: their length, s."""

    dt: float
    count: int

    @cached_property
    def times(self) -> np.ndarray:
        return step_times(self.dt, np.arange(self.count))

    @cached_property
    def after(self) -> np.ndarray:
        """The times right after the steps have begun."""
        return self.times + _NEAR * np.maximum(self.times, self.dt)

    def close(self, tree: Node) -> np.ndarray:
        """The numbers of the steps close to whose beginning a decision of the tree changes."""
        found = np.zeros(self.count, bool)
        for decision in decisions(tree):
            found |= self._turns(decision)
        return np.flatnonzero(found)

    def _turns(self, decision: Node) -> np.ndarray:
        here = tree_values(decision, self.times)
        beside = (2 * self.times - self.after, self.after)
        return np.any([tree_values(decision, t) != here for t in beside], axis=0)

    def undecided(self, tree: Node) -> tuple[np.ndarray, np.ndarray]:
        """Two masks of steps: those at which a decision changes that cannot be made in rational numbers, and, of these,
        those at which all such decisions compare equal numbers, such as sin(0) and 0, so that rounding has no part in
        it.
        """
        turning, rounded = np.zeros((2, self.count), bool)
        for decision in decisions(tree):
            turns = self._turns(decision)
            if turns.any() and self._is_irrational(decision, int(np.flatnonzero(turns)[0])):
                turning |= turns
                rounded |= turns & ~self._equal(decision)
        return turning, turning & ~rounded

    def _is_irrational(self, decision: Node, k: int) -> bool:
        with np.errstate(all="ignore"):
            return decided_exactly(decision, self.at(k)).exact is None

    def _equal(self, decision: Node) -> np.ndarray:
        """A mask of the steps at which both sides of a comparison are equal, or the number whose sign is asked for is
        0.
        """
        assert isinstance(decision, Apply)
        first, *others = (tree_values(argument, self.times) for argument in decision.args)
        return first == (others[0] if others else 0.0)

    def at(self, k: int) -> dict[str, Value]:
        """The time at which step k begins, as the value of the variable t."""
        return {"t": Value(float(self.times[k]), k * as_written(self.dt))}


def rounding_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> dict[int, str]:
    """One sentence for each input, by its number, that differs at some step from its value in exact arithmetic. steps:
    how many steps the inputs act in; only the first of them are examined.
    """
    doubtful = [i for i, u in enumerate(inputs) if u.depends_on("t") and decisions(u.tree)]
    share = max(len(doubtful), 1)
    looked_at = _Steps(dt, min(steps, LOOKED_AT // share))
    found = {i: _warning(f"input[{i}]", inputs[i].tree, looked_at, _EXACTLY // share) for i in doubtful}
    return {i: sentence for i, sentence in found.items() if sentence is not None}


def _warning(name: str, tree: Node, steps: _Steps, most: int) -> str | None:
    plain = tree_values(tree, steps.times)
    undecided, equal = steps.undecided(tree)
    meant = _meant(tree, plain, steps, most, undecided)
    wrong = np.flatnonzero(~_same(plain, meant))
    doubtful = wrong[~equal[wrong]]
    if not len(doubtful):
        return None
    k = doubtful[0]
    often = "" if len(doubtful) == 1 else f", the first of {len(doubtful)} such steps"
    is_ = f"and {meant[k]:g} right after it" if undecided[k] else f"where exact arithmetic gives {meant[k]:g}"
    found = f"`{name}` is {plain[k]:g} at t = {steps.times[k]:.10g} s, {is_}{often}"
    cure = away_from_steps(tree, steps.dt, meant)
    return f"{found}: a condition on t changes right at a step, and rounding decides; {cure}"


def _meant(tree: Node, plain: np.ndarray, steps: _Steps, most: int, undecided: np.ndarray) -> np.ndarray:
    """The values (steps,) that the expression is meant to have: those of exact arithmetic where decisions change at a
    step, and those right after the step where exact arithmetic does not apply.
    """
    meant = np.where(undecided, tree_values(tree, steps.after), plain)
    for k in steps.close(tree)[:most]:
        if not undecided[k]:
            with np.errstate(all="ignore"):
                meant[k] = decided_exactly(tree, steps.at(int(k))).rounded
    return meant


def away_from_steps(tree: Node, dt: float, meant: np.ndarray) -> str:
    """A sentence that says what to write instead: conditions that change away from steps, if that gives the values
    `meant` (steps,) at each of the first steps of a run, else conditions in whole numbers of steps.
    """
    steps = _Steps(dt, len(meant))
    for share in SHIFTS:
        shift = float(f"{share * dt:.3g}")
        moved = shifted_decisions(tree, "t", shift)
        if not len(steps.close(moved)) and np.all(_same(tree_values(moved, steps.times), meant)):
            text = formula(moved)
            return f"write {text}" if len(text) <= _LONGEST else f"write {_moved_time(shift)} for t in its conditions"
    number = f"floor(t/{dt!r} + 0.5)"
    return f"write the condition in whole numbers of steps, which are exact: {number} is the number of a step"


def _moved_time(shift: float) -> str:
    return f"(t {'+' if shift > 0 else '-'} {abs(shift)!r})"


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where a and b are equal up to rounding, relative to the largest of their entries."""
    finite = np.abs(np.concatenate([a[np.isfinite(a)], b[np.isfinite(b)]]))
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= _SAME * np.max(finite, initial=0.0)
    return close | (a == b) | (np.isnan(a) & np.isnan(b))
