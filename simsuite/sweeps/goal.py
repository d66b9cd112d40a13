"""A search for the value of a key at which a result has a wanted value, by Brent's method, one run after another.

The method takes the same values whenever it is begun, and each run is a member of a sweep that is found by its value:
a search that was stopped or killed goes on, and one for another target or another result takes the runs that are there.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from simsuite.errors import Advice, NumericalFailure, SimsuiteError, UsageError
from simsuite.scenario import Scenario
from simsuite.scenario.linear.analysis import AnalysisKeys
from simsuite.scenario.load import Model
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.plan import Axis, Plan, value_in_words
from simsuite.sweeps.sweep import Sweep
from simsuite.sweeps.table import result_named, standard_error_of
from simsuite.words import counted

_CLOSE = 1e-6  # the tolerance, where none is given, as a share of how far the results at both ends are apart
_NARROW = 1e-12  # a bracket that is narrower, as a share of the range, holds a jump and no solution
_MOST = 100  # steps of the method


SAY_NOTHING = ("", "1", "price")
"""Units that say nothing behind a number."""


@dataclass(frozen=True)
class Goal:
    """What is looked for: the result of that name is to be within `tolerance` of `target`. tolerance: in the unit of
    the result; None for a millionth of the difference between the results at the two ends."""

    name: str
    target: float
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.target):
            raise UsageError("the target has to be a finite number")
        if self.tolerance is not None and not (math.isfinite(self.tolerance) and self.tolerance > 0):
            raise UsageError("the tolerance has to be a number above 0")


@dataclass(frozen=True)
class Trial:
    """A run of a search. member: its number in the sweep. value: of the key. result: what came out; difference: that
    less the target. standard_error: of the result, where it has one."""

    member: int
    value: float
    result: float
    difference: float
    standard_error: float | None


@dataclass(frozen=True)
class Solution:
    """What a search found.

    key: whose value was looked for. name: of the result; unit: of it, "" where it has none. value: of the key;
    result: of its run. bracket: the two values of runs between which the result passes the target, the answer among
    them. runs: all runs that the search took, in its order. slope: how much the value changes with the result, by the
    two runs that came closest; None where they do not tell. standard_error: of the result, None where it has none.
    """

    key: str
    name: str
    unit: str
    target: float
    tolerance: float
    value: float
    result: float
    bracket: tuple[float, float]
    runs: tuple[Trial, ...]
    slope: float | None

    @property
    def standard_error(self) -> float | None:
        """Of the result of the answer."""
        return self.answer.standard_error

    @property
    def value_standard_error(self) -> float | None:
        """What the standard error of the result means for the value: that times the slope. None where either is not
        known."""
        if self.standard_error is None or self.slope is None:
            return None
        return abs(self.slope) * self.standard_error

    @property
    def answer(self) -> Trial:
        """The run that came closest to the target."""
        return min(self.runs, key=lambda trial: abs(trial.difference))


class _Stopped(Exception):
    """The search was asked to stop."""


def points_of(axes: Sequence[Axis]) -> list[float]:
    """The values of the one key of a search, in ascending order. Raises UsageError where there are several keys, less
    than two values or others than numbers."""
    if len(axes) != 1:
        raise UsageError(
            "a search varies one key: ",
            Advice("give --vary KEY=LEAST,LARGEST once", 'give vary={"key": [least, largest]}'),
        )
    values = axes[0].values if isinstance(axes[0].values, tuple) else ()
    numbers = {float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)}
    if len(numbers) < 2 or len(numbers) < len(set(values)):
        key = axes[0].key
        raise UsageError(f"a search goes between two numbers, the least and the largest value of `{key}`: {key}=5,100")
    return sorted(numbers)


class Search:
    """One call of `simsuite sweep --goal`.

    sweep: its scenario, directory and so on; its plan is that of `plan_of`. points: values of the key in ascending
    order; those between the ends are run only where the result does not pass the target between the ends. told: called
    for each run of the search, whether it was there or not. name: of the result, without "results." once a run is over.
    """

    def __init__(
        self, sweep: Sweep, goal: Goal, points: Sequence[float], told: Callable[[Trial], None] = lambda trial: None
    ) -> None:
        self.sweep, self.goal, self._points, self.told = sweep, goal, points, told
        self.name, self._unit = goal.name, ""
        self._tolerance = 0.0
        self._trials: dict[float, Trial] = {}
        self._next: deque[int] = deque()

    @staticmethod
    def plan_of(key: str, points: Sequence[float]) -> Plan:
        """The plan that a search begins with."""
        return Plan((key,), ((points[0],),), (1,))

    @property
    def trials(self) -> list[Trial]:
        """The runs that the search took so far."""
        return list(self._trials.values())

    def run(self) -> Solution | None:
        """The solution; None if the search was stopped early.

        Raises UsageError where the result has no such number or does not pass the target, SimsuiteError where a run
        fails or its result is not known, NumericalFailure where the result jumps over the target, and ScenarioError.
        """
        goal = self.goal
        about: dict[str, object] = {"name": goal.name, "target": goal.target, "tolerance": goal.tolerance}
        with self.sweep.begun(about) as (files, first, problem):
            self._require_numbers()
            self.sweep.begin(1, 1, first, problem)
            with contextlib.closing(self._runs(files, first)) as runs:
                try:
                    found = self._search(files, runs)
                except _Stopped:
                    return None
                except SimsuiteError:
                    files.end_search("failed")
                    raise
                else:
                    files.end_search("found")
                    return found
                finally:
                    ordered = self._in_order()
                    ordered.write(files, first)
                    self.sweep.left_out = ordered.left_out

    def _require_numbers(self) -> None:
        """Raises ScenarioError where the key does not take numbers between those given, as counts do not."""
        low, high = self._points[0], self._points[-1]
        plan, between = self.sweep.plan, low + (high - low) / math.e
        replace(self.sweep, plan=Plan(plan.keys, ((between,),), (1,))).member(0)

    def _runs(self, files: SweepDirectory, first: Scenario) -> Generator[Ended | None, None, None]:
        """What becomes of the members in `_next`, by one process."""
        _, threads = self.sweep.shared_out(1, first)
        # the function is asked again each time a run is over
        yield from self.sweep.results_of(([i] for i in iter(self._taken, None)), files, 1, threads)

    def _taken(self) -> int | None:
        return self._next.popleft() if self._next else None

    def _search(self, files: SweepDirectory, runs: Generator[Ended | None, None, None]) -> Solution:
        def trial(x: float) -> Trial:
            if x not in self._trials:
                self._trials[x] = self._trial(x, files, runs)
                self.told(self._trials[x])
            return self._trials[x]

        low, high = (trial(x) for x in (self._points[0], self._points[-1]))
        apart = abs(high.result - low.result)
        self._tolerance = _CLOSE * apart if self.goal.tolerance is None else self.goal.tolerance

        def difference(x: float) -> float:
            """0 where the result is close enough, which ends the method."""
            found = trial(x).difference
            return 0.0 if abs(found) <= self._tolerance else found

        for a, b in self._intervals(difference):
            from scipy.optimize import brentq

            narrow = _NARROW * (self._points[-1] - self._points[0])
            brentq(difference, a, b, xtol=narrow, rtol=4 * sys.float_info.epsilon, maxiter=_MOST, disp=False)
            return self._solution()
        raise self._no_crossing()

    def _intervals(self, difference: Callable[[float], float]) -> list[tuple[float, float]]:
        """The first interval between two points at whose ends the result is on both sides of the target, or at it: that
        between the outermost ones, else one between neighbours. Empty if there is none."""
        pairs = [(self._points[0], self._points[-1])]
        pairs += zip(self._points, self._points[1:]) if len(self._points) > 2 else []
        return next(([(a, b)] for a, b in pairs if _apart(difference(a), difference(b))), [])

    def _trial(self, x: float, files: SweepDirectory, runs: Generator[Ended | None, None, None]) -> Trial:
        """The run for a value: one that is there, else a new one."""
        plan = self.sweep.plan
        member = next((i for i, values in enumerate(plan.members) if values == (x,)), len(plan.members))
        if member == len(plan.members):
            plan = self.sweep.plan = replace(plan, members=(*plan.members, (x,)), shape=(member + 1,))
            files.grow(plan)
        ended = self.sweep.ended.get(member)
        if ended is None:
            self._next.append(member)
            ended = next(runs, None)
            if ended is None:
                raise _Stopped
        words = plan.words(member)
        if ended.status != "complete":
            again = Advice("--retry runs it again", "retry=True runs it again")
            raise SimsuiteError(f"the run with {words} failed: {ended.error}; ", again)
        return self._read(member, x, ended)

    def _read(self, member: int, x: float, ended: Ended) -> Trial:
        try:
            name = self.name = result_named(self.goal.name, list(ended.results))
        except UsageError:
            if (help := _not_computed(self.sweep.member(member).model, self.goal.name)) is None:
                raise
            raise UsageError(f"the results have no number `{self.goal.name}`\n  = help: {help}") from None
        self._unit = ended.units.get(name, "")
        result = ended.results[name]
        if result is None or not math.isfinite(result):
            words = self.sweep.plan.words(member)
            raise SimsuiteError(
                f"the result `{name}` of the run with {words} is not known (null): take a narrower range, or another "
                f"result; the run is in {self.sweep.directory / 'members' / f'{member:04}'}"
            )
        error = standard_error_of(name, ended.results)
        return Trial(member, x, result, result - self.goal.target, None if error is None else ended.results[error])

    def _no_crossing(self) -> UsageError:
        """That no two values were found with the target between their results."""
        key, trials = self.sweep.plan.keys[0], sorted(self.trials, key=lambda each: each.value)
        unit = "" if self._unit in SAY_NOTHING else f" {self._unit}"
        low, high = trials[0], trials[-1]
        side = "above" if low.difference > 0 else "below"
        ends = " and ".join(f"{each.result:.10g}{unit} with {key}={value_in_words(each.value)}" for each in (low, high))
        if all(each.result == low.result for each in trials):
            help = f"as far as these runs tell, `{self.name}` does not depend on `{key}`"
        else:
            nearer = min((low, high), key=lambda each: abs(each.difference))
            help = f"go further beyond {value_in_words(nearer.value)}, where it is nearer"
        if len(self._points) == 2:
            count = f"linspace({value_in_words(low.value)},{value_in_words(high.value)},9)"
            help += f"; if it turns back between, look there as well: {key}={count}"
        reached = "" if len(trials) == 2 else f", and so it is at {counted(len(trials) - 2, 'value')} between"
        return UsageError(
            f"`{self.name}` is {ends}, both {side} the target {self.goal.target:.10g}{reached}\n  = help: {help}"
        )

    def _solution(self) -> Solution:
        """Raises NumericalFailure where no run came close enough."""
        trials, key = self.trials, self.sweep.plan.keys[0]
        ranked = sorted(trials, key=lambda each: abs(each.difference))
        best = ranked[0]
        low, high = bracket = _bracket(trials, best)
        if abs(best.difference) > self._tolerance:
            at = {each.value: each.result for each in trials}
            raise NumericalFailure(
                f"`{self.name}` comes within {abs(best.difference):.3g} of the target and not within "
                f"{self._tolerance:.3g}: between {key}={low!r} and {high!r} it goes from {at[low]:.10g} to "
                f"{at[high]:.10g}\n  = help: it jumps there, or is not more exact: take a larger tolerance"
            )
        other = next((each for each in ranked[1:] if each.result != best.result), None)
        slope = None if other is None else (best.value - other.value) / (best.result - other.result)
        target, found = self.goal.target, (best.value, best.result, bracket)
        return Solution(key, self.name, self._unit, target, self._tolerance, *found, tuple(trials), slope)

    def _in_order(self) -> Sweep:
        """The sweep with its members in the order of their values, as the file of results has them."""
        plan = self.sweep.plan
        order = sorted(range(len(plan.members)), key=lambda i: plan.members[i])
        sweep = replace(self.sweep, plan=replace(plan, members=tuple(plan.members[i] for i in order)))
        sweep.ended = {place: self.sweep.ended[i] for place, i in enumerate(order) if i in self.sweep.ended}
        return sweep


def _apart(a: float, b: float) -> bool:
    """Whether 0 is between two numbers, or one of them."""
    return a == 0 or b == 0 or (a > 0) != (b > 0)


def _bracket(trials: Sequence[Trial], best: Trial) -> tuple[float, float]:
    """The values of two neighbouring runs, one of them the best, between which the result passes the target; twice the
    value of the best one where its result is the target, or where there are none such."""
    line = sorted(trials, key=lambda each: each.value)
    place = line.index(best)
    for low, high in ((place - 1, place), (place, place + 1)):
        if low >= 0 and high < len(line) and best.difference and _apart(line[low].difference, line[high].difference):
            return line[low].value, line[high].value
    return best.value, best.value


def _not_computed(model: Model, name: str) -> str | None:
    """How to have a result of that name computed, where a key of the scenario says that it is not; else None."""
    if model.solver != "linear":
        return None
    asked = [] if model.analysis is None else model.analysis.asked
    keys = [part for part in name.split(".") if part in AnalysisKeys.model_fields and part not in asked]
    return f"set {keys[0]} = true in [analysis]" if keys else None
