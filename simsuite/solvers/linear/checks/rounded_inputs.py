"""Inputs that rounding decides: conditions on t that fall on the beginning of a step.

At t = 48.05 the condition t % 24 < 0.05 holds in floating-point arithmetic, and does not hold in exact arithmetic. Such
steps are found by evaluating inputs at the steps' exact times in rational numbers (see `expressions.exact`), wherever a
decision turns within a small distance of a step. Of a decision that has no rational numbers, such as sin(pi*t) > 0, the
value right after the step is taken for what is meant.
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

LOOKED_AT = 100_000  # steps of all inputs together
_EXACTLY = 10_000  # of these, in rational numbers
_NEAR = 1e-12  # of t: decisions that turn so close to a step are looked at
_SAME = 1e-9  # of the largest value of an input: what differs by less is the same
SHIFTS = (0.5, -0.5, 0.01, -0.01)  # of a step, by which conditions are moved away from steps
_LONGEST = 120  # characters of an expression that is proposed


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
        """Right after they have begun."""
        return self.times + _NEAR * np.maximum(self.times, self.dt)

    def close(self, tree: Node) -> np.ndarray:
        """Those within whose neighbourhood a decision of the tree turns."""
        found = np.zeros(self.count, bool)
        for decision in decisions(tree):
            found |= self._turns(decision)
        return np.flatnonzero(found)

    def _turns(self, decision: Node) -> np.ndarray:
        here = tree_values(decision, self.times)
        beside = (2 * self.times - self.after, self.after)
        return np.any([tree_values(decision, t) != here for t in beside], axis=0)

    def undecided(self, tree: Node) -> tuple[np.ndarray, np.ndarray]:
        """Those at which a decision turns that has no rational numbers, step by step, and those of them at which all
        such decisions are between equal numbers, such as sin(0) and 0, so that rounding has no part in it."""
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
        """Where what is compared is equal, or what has a sign is 0."""
        assert isinstance(decision, Apply)
        first, *others = (tree_values(argument, self.times) for argument in decision.args)
        return first == (others[0] if others else 0.0)

    def at(self, k: int) -> dict[str, Value]:
        """The time of a step."""
        return {"t": Value(float(self.times[k]), k * as_written(self.dt))}


def rounding_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> dict[int, str]:
    """One sentence for each input, by its number, that is not at every step what exact arithmetic gives. steps: those
    at whose beginnings inputs count; the first of them are looked at."""
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
    """The values (steps,) that exact arithmetic gives where decisions turn at a step, and that are right after it where
    there is none."""
    meant = np.where(undecided, tree_values(tree, steps.after), plain)
    for k in steps.close(tree)[:most]:
        if not undecided[k]:
            with np.errstate(all="ignore"):
                meant[k] = decided_exactly(tree, steps.at(int(k))).rounded
    return meant


def away_from_steps(tree: Node, dt: float, meant: np.ndarray) -> str:
    """What to write instead: conditions that change away from steps, if that gives what is meant at each of the first
    (steps,) of a run, else conditions in whole numbers of steps."""
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
    """Up to rounding, relative to the largest of them."""
    finite = np.abs(np.concatenate([a[np.isfinite(a)], b[np.isfinite(b)]]))
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= _SAME * np.max(finite, initial=0.0)
    return close | (a == b) | (np.isnan(a) & np.isnan(b))
