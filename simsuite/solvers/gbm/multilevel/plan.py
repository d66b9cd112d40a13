"""When a multilevel run makes which paths: levels, rounds, portions of paths, and what they keep on the device."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.multilevel.allocation import GROWTH, rounds
from simsuite.solvers.gbm.multilevel.levels import Level, make_levels
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.tables import table_bytes
from simsuite.solvers.gbm.portfolio.portfolio import PAYOFFS_CHUNK
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import GROUP

# paths whose payoffs are computed at a time: so many that launching takes no longer than computing them
GPU_CHUNK = 1 << 18
_PILOT = 4 * GROUP  # paths of each level in the first round
_PORTION = 1 << 22  # path-steps of a portion, roughly


@dataclass(frozen=True)
class MultilevelPlan(PathPlan):
    """The plan of a multilevel run; the attributes that it inherits are about the last level."""

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        return make_levels(self)

    @cached_property
    def room(self) -> int:
        """The largest number of paths that are made at once."""
        return max(self.batch // GROUP, 1) * GROUP

    @cached_property
    def costs(self) -> np.ndarray:
        """[level]: path-steps of an observation."""
        return np.array([level.cost * self.width for level in self.levels], np.float64)

    @cached_property
    def pilot(self) -> list[int]:
        """[level]: paths of the first round."""
        each = min(_PILOT, max(self.scenario.paths.count // len(self.levels) // GROUP, 1) * GROUP)
        return [each] * (len(self.levels) - 1) + [max(each, self._storing)]

    @cached_property
    def portions(self) -> list[int]:
        """[level]: paths of a portion, chosen so that portions of all levels are about the same work."""
        fitting = [min(max(_PORTION // level.cost // GROUP, 1) * GROUP, self.room) for level in self.levels]
        return [*fitting[:-1], max(fitting[-1], self._storing)]

    @property
    def _storing(self) -> int:
        """The number of paths in the groups from which paths are stored; these are made at once."""
        return -(-self.stored // GROUP) * GROUP

    @cached_property
    def rounds_from(self) -> list[int]:
        """The steps of the run at which rounds begin, and the end of the last round, if all rounds are as long as they
        can be."""
        count, portions = self.scenario.paths.count, self.portions
        lengths = [
            sum(-(-min(paths * GROWTH**r, count) // portion) for paths, portion in zip(self.pilot, portions))
            for r in range(rounds(min(self.pilot), count))
        ]
        return [0, *itertools.accumulate(lengths)]

    @property
    def batches_end(self) -> int:
        return self.rounds_from[-1]

    def position(self, step: int) -> tuple[int, float]:
        """The time step and time of the frame whose row falls due; portions are not shown."""
        k = self.frame_steps[self.frame_of_row(step)]
        return k, self.time(k)

    def stage(self, step: int) -> str | None:
        """The number of the round, in words; None after the last one."""
        return f"round {bisect.bisect_right(self.rounds_from, step)}" if step < self.batches_end else None

    def work(self, step: int) -> float:
        """The work of so many steps, as if all were like those of the first round, which is what is timed."""
        first = sum(paths * level.cost for paths, level in zip(self.pilot, self.levels))
        return first / self.rounds_from[1] * step

    def next_look(self, step: int) -> int | None:
        """The step after the end of the next round; None if there is none."""
        i = bisect.bisect_left(self.rounds_from, max(step, 1))
        return self.rounds_from[i] if i < len(self.rounds_from) else None

    def along_paths(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of arrays along paths, needed for fine and for coarse paths, whose contents mean nothing
        between two portions."""
        most = max(len(level.fine.functional_codes) for level in self.levels)
        kept = {"kept": ((most, self.held), self.dtype)} if most else {}
        return {"x": ((self.n_assets, self.held), self.dtype), **kept}

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        levels = len(self.levels)
        shapes = super()._shapes()
        shapes["options"] = ((levels, len(self.payoffs.products), LIMBS), np.int64)
        return shapes | {"done": ((levels,), np.int64), "goals": ((levels,), np.int64)}

    def initial(self) -> Snapshot:
        start = super().initial()
        start.arrays["goals"][...] = self.pilot
        return start

    def device_bytes(self) -> int:
        """Bytes on the device. All levels share the arrays along paths; each has its own tables and its own array of
        the noise at frames."""
        along, state = self.along_paths(), self._shapes()
        for name in ("done", "goals"):
            del state[name]  # these are known on the host
        shapes = [*along.values(), *along.values(), *state.values()]
        values = len(self.payoffs.values)
        shapes.append(((values, min(GPU_CHUNK, self.room)), np.float64))
        shapes.append(((values + self.passing_arrays, min(PAYOFFS_CHUNK, self.room)), np.float64))
        found = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)
        for p in (p for level in self.levels for p in (level.fine, level.coarse) if p is not None):
            found += table_bytes(p) + p.most_watched * p.n_assets * p.held * p.dtype.itemsize
        return found
