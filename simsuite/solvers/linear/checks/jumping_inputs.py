"""Inputs that jump where a run does not see it: with `hold = "first"` anywhere, with `hold = "zero"` within a step.

`hold = "first"` joins the samples of an input by straight lines. A jump within a step becomes a ramp over all of that
step. A jump at the beginning of a step becomes a ramp over the step before, or, where the input still has the old value
at that time (`t > 1`), over the step after. So a pulse begins too early or too late, and a first dose, which nothing
comes before, is too small. `hold = "zero"` keeps the value from the beginning of a step: a jump within a step, or right
after its beginning, takes effect at the next step, and a pulse between two steps has no effect at all. The residual
does not show these errors, as it is computed with the same inputs.

Jumps are looked for in each decision (a comparison or a sign) of an input, see `expressions.exact`. Interval arithmetic
encloses the times at which a decision changes (`expressions.changes`), also between two steps; the input jumps there if
its values before, at and after that time differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import MOST
from simsuite.expressions.changes import jumps as places_of
from simsuite.expressions.exact import decisions
from simsuite.expressions.tree import Apply, IntegerPower, Node
from simsuite.solvers.linear.checks.rounded_inputs import SHIFTS, away_from_steps
from simsuite.solvers.linear.inputs.clock import step_times
from simsuite.solvers.linear.inputs.input_values import tree_values

_LOOKED_AT = 100_000  # At most so many steps are examined, counted over all inputs.
_FIRST, _LONGER = 64, 8  # So many steps are examined first, and then, again and again, so many times as many.
_ULPS = 8  # The values before and after a change are taken so many units in the last place of t away from it.
_ON_A_STEP = 1e-9  # A change that is this close to the beginning of a step, relative to t or dt, counts as being there.
# How far, relative to a shift, a moved condition may be from it: shifts are proposed with three digits.
_OF_A_SHIFT = 0.02
_SAME = 1e-6  # A smaller difference between both sides, relative to the largest value of the input, is no jump.
_NAMED = 5  # At most so many inputs are named in one sentence.
_TRIED = 10_000  # A proposed expression is tried at so many steps.
# Replacing the first comparison by the second moves a change from right after a time to that time itself.
_AT_ONCE = {">": ">=", "<=": "<"}


@dataclass(frozen=True)
class Jumps:
    """The places at which an input may jump, in order of time. dt: the length of a step of the run.

    step, begin: the nearest step, and when it begins. sampled: the value of the input at that time. before, there,
    after: the values right before, at and right after `time`. size: the largest modulus of the input at any step.
    """

    dt: float
    time: np.ndarray
    step: np.ndarray
    begin: np.ndarray
    sampled: np.ndarray
    before: np.ndarray
    there: np.ndarray
    after: np.ndarray
    size: float

    @property
    def real(self) -> np.ndarray:
        """Which of the places are jumps: elsewhere values before, at and after the place are the same."""
        return self.differ(self.before, self.after) | self.differ(self.before, self.there)

    @property
    def on_a_step(self) -> np.ndarray:
        return np.abs(self.time - self.begin) <= _ON_A_STEP * np.maximum(self.time, self.dt)

    @property
    def late(self) -> np.ndarray:
        """Which jumps take effect a step late: those within a step, and those right after the beginning of one. Not
        among them are jumps at one of the `SHIFTS`, to which conditions are moved lest rounding decide them.
        """
        within = ~self.on_a_step & ~self._moved
        return self.differ(self.before, self.after) & (
            within | (self.on_a_step & self.differ(self.sampled, self.after))
        )

    @property
    def _moved(self) -> np.ndarray:
        share = np.mod(self.time / self.dt, 1.0)
        near = [np.abs(share - shift % 1.0) <= _OF_A_SHIFT * abs(shift) for shift in SHIFTS]
        return np.any(near, axis=0)

    def differ(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Where two values of the input differ by more than rounding."""
        with np.errstate(invalid="ignore"):
            return np.abs(a - b) > _SAME * self.size


@dataclass(frozen=True)
class _First:
    """The first jump of input number `i` that is of the kind looked for."""

    i: int
    time: float
    before: float
    after: float
    step: int
    on_a_step: bool
    ramp: str  # the steps over which `hold = "first"` draws a ramp, in words


# Given the number of an input and its jumps, tells which of them are looked for.
Wanted = Callable[[int, Jumps], np.ndarray]


def ramp_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> Iterator[str]:
    """One sentence if any input jumps under `hold = "first"`; only the first steps are examined."""
    found, unresolved = _look(inputs, dt, steps, lambda i, jumps: jumps.real)
    if found:
        drawn = f'`hold = "first"` draws a ramp across each jump, here over {found[0].ramp} (dt = {dt:g} s)'
        cure = 'set hold = "zero", with jumps at the beginning of a step, or make dt smaller'
        yield f"{_in_words(found)}: {drawn}; {cure}"
    yield from unresolved


def late_warnings(inputs: Sequence[Expression], dt: float, steps: int, rounded: Collection[int]) -> Iterator[str]:
    """One sentence if any input of a continuous system jumps within a step under `hold = "zero"`; only the first steps
    are examined. rounded: the inputs that are known to be decided by rounding at the beginning of steps.
    """

    def late(i: int, jumps: Jumps) -> np.ndarray:
        return jumps.late & ~jumps.on_a_step if i in rounded else jumps.late

    found, unresolved = _look(inputs, dt, steps, late)
    if found:
        first = found[0]
        if first.on_a_step:
            following = step_times(dt, np.array([first.step + 1]))[0]
            where = (
                f'right after a step begins, and `hold = "zero"` takes it from the next one on, t = {following:.10g} s'
            )
            cure = _cure_on_a_step(inputs[first.i].tree, dt, max(first.step + 1, min(steps, _TRIED)), first.step + 1)
            if len(found) > 1:
                cure = f"in `input[{first.i}]` {cure}"
        else:
            where = f'within a step (dt = {dt:g} s), and `hold = "zero"` takes it from the next one on, or not at all'
            cure = "let it jump where a step begins, or make dt smaller"
        yield f"{_in_words(found)}, {where}; {cure}"
    yield from unresolved


def _cure_on_a_step(tree: Node, dt: float, *counts: int) -> str:
    """What to do about jumps right after the beginnings of steps, in words. counts: numbers of steps in which a
    proposal is tried, the first one that all of whose jumps are known.
    """
    for count in counts:
        jumps = _jumps(tree, dt, count)
        if jumps is not None:
            break
    else:
        return "make dt smaller"
    times = step_times(dt, np.arange(count))
    meant = tree_values(tree, times)
    late = jumps.late & jumps.on_a_step & (jumps.step < count)
    meant[jumps.step[late]] = jumps.after[late]
    if not jumps.differ(tree_values(_turning_at_once(tree), times), meant).any():
        return "let it hold at that step already (>= for >, < for <=), or make dt smaller"
    return away_from_steps(tree, dt, meant)


def _turning_at_once(node: Node) -> Node:
    """The tree with every > replaced by >=, and every <= by <, so that it changes at once."""
    if isinstance(node, IntegerPower):
        return IntegerPower(_turning_at_once(node.base), node.exponent)
    if not isinstance(node, Apply):
        return node
    return Apply(_AT_ONCE.get(node.op, node.op), tuple(map(_turning_at_once, node.args)))


def _in_words(found: Sequence[_First]) -> str:
    first, others = found[0], [each.i for each in found[1:]]
    jump = f"`input[{first.i}]` jumps from {first.before:g} to {first.after:g} at t = {first.time:.10g} s"
    if not others:
        return jump
    named = ", ".join(f"`input[{i}]`" for i in others[:_NAMED])
    rest = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"{jump} ({named}{rest} {'jumps' if len(others) == 1 else 'jump'} as well)"


def _look(inputs: Sequence[Expression], dt: float, steps: int, wanted: Wanted) -> tuple[list[_First], list[str]]:
    """The first wanted jump of each input that has one, the earliest first, and sentences on the inputs whose jumps
    cannot be told.
    """
    doubtful = [i for i, u in enumerate(inputs) if u.depends_on("t") and decisions(u.tree)]
    most = min(steps, _LOOKED_AT // max(len(doubtful), 1))
    found, unresolved = [], []
    for i in doubtful:
        length = min(_FIRST, most)
        while True:
            jumps = _jumps(inputs[i].tree, dt, length)
            if jumps is None and length <= _FIRST:
                often = f"more than {MOST} times in the first {length} steps, as far as can be told"
                unresolved.append(f"`input[{i}]` jumps {often}: steps do not resolve it; make dt smaller")
            chosen = np.zeros(0, int) if jumps is None else np.flatnonzero(wanted(i, jumps))
            if jumps is not None and len(chosen):
                found.append(_first(i, jumps, int(chosen[0])))
            if jumps is None or len(chosen) or length >= most:
                break
            length = min(_LONGER * length, most)
    return sorted(found, key=lambda first: first.time), unresolved


def _first(i: int, jumps: Jumps, k: int) -> _First:
    before, there, after = (float(values[k]) for values in (jumps.before, jumps.there, jumps.after))
    beside = abs(after - there) > _SAME * jumps.size and abs(after - before) > _SAME * jumps.size
    on_a_step = bool(jumps.on_a_step[k])
    time = float(jumps.begin[k] if on_a_step else jumps.time[k])
    return _First(i, time, before, after if beside else there, int(jumps.step[k]), on_a_step, _ramp(jumps, k))


def _ramp(jumps: Jumps, k: int) -> str:
    """The steps over which a ramp is drawn across jump k, in words, judged by the sample at the nearest step."""
    if not jumps.on_a_step[k]:
        return "the step that it is in"
    before, after = (jumps.differ(values, jumps.sampled)[k] for values in (jumps.before, jumps.after))
    if before and after:
        return "the steps before and after it"
    return f"the step {'after' if after else 'before'} it"


def _jumps(tree: Node, dt: float, steps: int) -> Jumps | None:
    """The jumps within the first so many steps; None if they cannot be told."""
    times = step_times(dt, np.arange(steps + 1))
    values = tree_values(tree, times)
    found = [places_of(decision, "t", 0.0, times[-1]) for decision in decisions(tree)]
    known = [places for places in found if places is not None]
    if len(known) < len(found):
        return None
    time = np.unique(np.concatenate(known))
    step = np.round(time / dt).astype(np.int64)
    begin = step_times(dt, step)
    beside = _ULPS * np.spacing(time)
    sampled, before, there, after = (
        tree_values(tree, t) for t in (begin, np.maximum(time - beside, 0.0), time, time + beside)
    )
    size = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
    return Jumps(dt, time, step, begin, sampled, before, there, after, size)
