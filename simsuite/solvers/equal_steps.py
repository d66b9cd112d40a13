"""What problems have in common whose steps are all equally long, and which always come to the same end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simsuite.core import Clock, HostArray, Snapshot, Stepper


class EqualSteps:
    """The part of a `Problem` that follows from `clock` and `dt`, the length of its steps. Any: results as JSON."""

    if TYPE_CHECKING:  # attributes here would be the defaults of fields of a dataclass

        @property
        def dt(self) -> float: ...

        @property
        def clock(self) -> Clock: ...

    adaptive = False
    unbounded: ClassVar[frozenset[str]] = frozenset()

    @property
    def decided(self) -> Mapping[str, Any]:
        """Nothing: all follows from the scenario."""
        return {}

    def lengths(self, step: int) -> tuple[float, float]:
        """The shortest and the longest step: both `dt`."""
        return self.dt, self.dt

    def position(self, step: int) -> tuple[int, float]:
        """The step itself, and its time."""
        return step, self.clock.time(step)

    def next_look(self, step: int) -> int | None:
        """None: the end is known."""
        return None

    def settle(self, stepper: Stepper) -> int:
        """The last step of the clock."""
        return self.clock.end

    def totals(self, observed: Snapshot) -> Mapping[str, HostArray]:
        """Nothing."""
        return {}

    def fault(self, observed: Snapshot) -> str | None:
        """The first array with a NaN or Inf in it, and its index."""
        for name, array in observed.arrays.items():
            wrong = np.argwhere(~np.isfinite(array))
            if len(wrong):
                return f"{name} at index {', '.join(map(str, wrong[0]))}"
        return None
