"""The plan of how a run goes through time. A run stores its plan: when it is continued, another stepper may be faster,
or another version of the program may plan otherwise."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simsuite.core import Clock
from simsuite.errors import AFRESH, SimsuiteError
from simsuite.solvers.heat.time_scales.longest_steps import LongestSteps
from simsuite.solvers.heat.time_scales.step_shares import Course
from simsuite.words import counted

_SAME = 1e-12  # share of a run: times that differ by less are the same
TICKS = 1 << 40  # the number of ticks between two times of a clock, for steps whose lengths are found out on the way


@dataclass(frozen=True)
class Control:
    """How steps find out how long they may be.

    methods: those that may be taken, see `controlled`. tolerance: of the error in time, relative to the range of the
    temperatures. safe: largest stable explicit step, s. jumps: times of the clock at which temperatures outside jump.
    stops: times of the clock at which steps end only in order to see the data. windows, longest: the times at which
    parts of the run begin, and how long steps in each part may be in order to see the data, s. worth: how many stages
    of rkl2 take as long as a step of adi. range_floor: what errors are measured by as long as temperatures differ by
    less, K. expected: about how many steps. unsure: whether there may be many more, because sources depend on T, or a
    conductivity jumps, dips or peaks at some T. course_times, course_turned, course_shares: how steps are spread over
    the run, see `Course`. unsearched: data that jump at so many times and places that steps do not end at each, so that
    nobody knows their error. dips: the bounds of temperatures, K, between which a conductivity dips or peaks, see
    `companion`; None where none does."""

    methods: tuple[str, ...]
    tolerance: float
    safe: float
    jumps: tuple[float, ...]
    stops: tuple[float, ...]
    worth: float
    expected: int
    unsure: bool = False
    windows: tuple[float, ...] = ()
    longest: tuple[float, ...] = ()
    range_floor: float = 0.0
    course_times: tuple[float, ...] = ()
    course_turned: tuple[float, ...] = ()
    course_shares: tuple[float, ...] = ()
    unsearched: tuple[str, ...] = ()
    dips: tuple[float, float] | None = None

    def course(self, end: float, changes: tuple[float, ...]) -> Course:
        """How the steps of a run until `end` are spread over it; not known for runs that began before that was stored.
        changes: see `Plan.changes`."""
        return Course(end, tuple(sorted(changes)), self.course_times, self.course_turned, *self.course_shares)

    @property
    def longest_steps(self) -> LongestSteps:
        return LongestSteps(self.windows, self.longest)


@dataclass(frozen=True)
class Plan:
    """How a run goes through time. stages: of an rkl2 step. reason: why this stepper was chosen, in words. control: how
    the lengths of steps are found out on the way, in which case the clock counts TICKS; None where all lengths are
    known. changes: times of the clock at which data jump or kink. possible: whether a machine could take so many steps.
    time_error: an estimate of the largest error of explicit steps, K, made before the run; None where there is none."""

    stepper: str
    clock: Clock
    reason: str
    stages: int = 0
    control: Control | None = None
    changes: tuple[float, ...] = ()
    possible: bool = True
    time_error: float | None = None

    def changes_from(self, t: float) -> bool:
        """Whether data are known to jump or kink at time t or later, before the end. If so, a plate at rest has not
        reached its steady state."""
        end = self.clock.times[-1]
        return any(t - _SAME * end <= change < end for change in self.changes)

    @property
    def size(self) -> str:
        """The numbers of steps and stages, in words."""
        if self.control is not None:
            return f"about {counted(self.control.expected, 'step')}"
        steps = counted(self.clock.end, "step")
        return steps + (f" of {counted(self.stages, 'stage')}" if self.stages else "")

    def to_remember(self) -> dict[str, Any]:
        """The plan as JSON. The entry `steps` says how many steps there are between two times of the clock, and for how
        many successive times."""
        between = [b - a for a, b in itertools.pairwise(self.clock.steps)]
        steps = [[n, len(list(group))] for n, group in itertools.groupby(between)]
        plan = {"stepper": self.stepper, "stages": self.stages, "steps": steps, "reason": self.reason}
        plan |= {"changes": list(self.changes), "time_error": self.time_error}
        if self.control is not None:
            plan["control"] = asdict(self.control)
        return plan

    @classmethod
    def remembered(cls, plan: Mapping[str, Any], times: Sequence[float]) -> Plan:
        """The plan that `to_remember` stored. times: the times of the clock, without those at which data change. Raises
        SimsuiteError if it does not fit them."""
        try:
            changes = tuple(map(float, plan["changes"]))
            control = None
            if "control" in plan:
                kept: dict[str, Any] = dict(plan["control"])
                lists: dict[str, Any] = {name: tuple(v) for name, v in kept.items() if isinstance(v, list)}
                control = Control(**(kept | lists))
            times = sorted({*times, *changes, *(control.stops if control is not None else ())})
            between = itertools.chain.from_iterable(itertools.repeat(int(n), int(k)) for n, k in plan["steps"])
            steps = tuple(itertools.accumulate(itertools.islice(between, len(times)), initial=0))
            clock = Clock(steps, tuple(times), changes if control is None else ())
            names = str(plan["stepper"]), clock, str(plan["reason"]), int(plan["stages"])
            return cls(*names, control, changes, time_error=plan["time_error"])
        except (KeyError, TypeError, ValueError) as error:
            raise SimsuiteError(f"the plan that this run began with is damaged ({error}); ", AFRESH) from None


def unlike(plan: Plan, shorter: Plan) -> str | None:
    """Why a run by this plan does not begin with one by a plan to an earlier end, to the bit; None if it does."""
    if shorter.control is not None or plan.control is not None:
        return "its steps are as long as their error allows, which is shared out over the run; a time.dt is not"
    if shorter.stepper == "steady":
        return "it is a steady state"
    if (plan.stepper, plan.stages) != (shorter.stepper, shorter.stages):
        return f"it is taken by {shorter.stepper}, a run to that end by {plan.stepper}: {plan.reason}"
    end = shorter.clock.times[-1]
    if any(0.0 < change <= end * (1 + _SAME) for change in plan.changes):
        return "data jump or kink during it, and how near to that steps see them depends on the end"
    return None
