"""Inputs that jump where a run does not look: under `hold = "first"` anywhere, under `hold = "zero"` within a step.

`hold = "first"` joins the samples of an input by straight lines. A jump within a step becomes a ramp over all of it,
one at the beginning of a step a ramp over the step before it, or, where the input still has the old value then (`t >
1`), over the one after it. So a pulse begins too early or too late, and a first dose, which nothing comes before, is
too small. `hold = "zero"` keeps the value from the beginning of a step: a jump within one, or right after its
beginning, counts from the next one on, and a pulse between two steps not at all. The residual does not show either, as
it is against the same inputs.

Jumps are looked for in each decision of an input (see `expressions.exact`), which interval arithmetic encloses wherever
it changes (`expressions.changes`), between two steps, too; the input jumps if its values before, at and after that
differ.
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

_LOOKED_AT = 100_000  # steps of all inputs together
_FIRST, _LONGER = 64, 8  # steps that are looked at at first, and how many times as many after that
_ULPS = 8  # of t: so far before and after the place of a change
_ON_A_STEP = 1e-9  # of t, or of dt: what is so close to the beginning of a step is there
_OF_A_SHIFT = 0.02  # how far from it a condition may be that was moved: shifts are proposed with three digits
_SAME = 1e-6  # of the largest value of an input: what differs by less on both sides of a decision is no jump
_NAMED = 5  # inputs in one sentence
_TRIED = 10_000  # steps at which what is proposed is tried
_AT_ONCE = {">": ">=", "<=": "<"}  # comparisons that turn at the time itself, not right after it


@dataclass(frozen=True)
class Jumps:
    """Of an input, in order of time; dt: of the run.

    step, begin: the nearest step, and when it begins. sampled: what the input is then; before, there, after: at the
    time itself and on both sides. size: the largest that it is at any step.
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
        """Which are: elsewhere values are the same on both sides."""
        return self.differ(self.before, self.after) | self.differ(self.before, self.there)

    @property
    def on_a_step(self) -> np.ndarray:
        return np.abs(self.time - self.begin) <= _ON_A_STEP * np.maximum(self.time, self.dt)

    @property
    def late(self) -> np.ndarray:
        """Which a step does not see at once: those within one, and those right after its beginning. Where conditions
        are moved to that rounding is not to decide, the next step is meant."""
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
        """Where two values of the input do, by more than rounding."""
        with np.errstate(invalid="ignore"):
            return np.abs(a - b) > _SAME * self.size


@dataclass(frozen=True)
class _First:
    """The first jump that was looked for of input number `i`."""

    i: int
    time: float
    before: float
    after: float
    step: int
    on_a_step: bool
    ramp: str  # where `hold = "first"` draws one, in words


Wanted = Callable[[int, Jumps], np.ndarray]  # which of the jumps of an input, by its number, are looked for


def ramp_warnings(inputs: Sequence[Expression], dt: float, steps: int) -> Iterator[str]:
    """One sentence if any input jumps under `hold = "first"`; the first steps are looked at."""
    found, unresolved = _look(inputs, dt, steps, lambda i, jumps: jumps.real)
    if found:
        drawn = f'`hold = "first"` draws a ramp across each jump, here over {found[0].ramp} (dt = {dt:g} s)'
        cure = 'set hold = "zero", with jumps at the beginning of a step, or make dt smaller'
        yield f"{_in_words(found)}: {drawn}; {cure}"
    yield from unresolved


def late_warnings(inputs: Sequence[Expression], dt: float, steps: int, rounded: Collection[int]) -> Iterator[str]:
    """One sentence if any input of a continuous system jumps within a step under `hold = "zero"`; the first steps are
    looked at. rounded: inputs of which it is known that rounding decides at beginnings of steps."""

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
    """What to do about jumps right after the beginnings of steps, tried at the first steps: as many as the first of
    `counts` of which all jumps are known."""
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
    """The same with >= for > and < for <=."""
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
    """The first jump of each input that has one that is wanted, the earliest first, and sentences on inputs of which
    nobody can tell."""
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
    """Over which steps, by what is sampled at the beginning of the one at which the jump is."""
    if not jumps.on_a_step[k]:
        return "the step that it is in"
    before, after = (jumps.differ(values, jumps.sampled)[k] for values in (jumps.before, jumps.after))
    if before and after:
        return "the steps before and after it"
    return f"the step {'after' if after else 'before'} it"


def _jumps(tree: Node, dt: float, steps: int) -> Jumps | None:
    """Within so many steps, from the first on; None if nobody can tell."""
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
