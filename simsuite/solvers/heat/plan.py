"""How a run goes through time, and how it remembers that: what was fast on the day it began may not be when it is
continued, or another version of the program may plan otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.core import Clock
from simsuite.errors import SimsuiteError


@dataclass(frozen=True)
class Plan:
    """stages: of an rkl2 step. reason: why this stepper, in words."""

    stepper: str
    clock: Clock
    reason: str
    stages: int = 0

    @property
    def size(self) -> str:
        """Steps and stages, in words."""
        steps = f"{self.clock.end} step{'s' if self.clock.end > 1 else ''}"
        return steps + (f" of {self.stages} stages" if self.stages else "")

    def to_remember(self) -> dict[str, Any]:
        """As JSON. steps: how many there are between two frames, and between how many frames in a row: where a million
        frames are wanted, they mostly are equal. The times of the frames follow from the scenario."""
        between = [b - a for a, b in itertools.pairwise(self.clock.steps)]
        steps = [[n, len(list(group))] for n, group in itertools.groupby(between)]
        return {"stepper": self.stepper, "stages": self.stages, "steps": steps, "reason": self.reason}

    @classmethod
    def remembered(cls, plan: Mapping[str, Any], times: Sequence[float]) -> Plan:
        """The same plan again. times: of the clock. Raises SimsuiteError if it does not fit them."""
        try:
            between = itertools.chain.from_iterable(itertools.repeat(int(n), int(k)) for n, k in plan["steps"])
            steps = tuple(itertools.accumulate(itertools.islice(between, len(times)), initial=0))
            return cls(str(plan["stepper"]), Clock(steps, tuple(times)), str(plan["reason"]), int(plan["stages"]))
        except (KeyError, TypeError, ValueError) as error:
            raise SimsuiteError(
                f"the plan that this run began with is damaged ({error}); --fresh begins again"
            ) from None
