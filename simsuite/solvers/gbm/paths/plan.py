"""What a run of paths keeps on its device: which frames stay there, and the arrays of its state with their memory."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.american.exercise_policy import learning_bytes, untrained_policy
from simsuite.solvers.gbm.paths.tables import table_bytes
from simsuite.solvers.gbm.payoffs.exercise_rights import policy_shape
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.portfolio.portfolio import most_together, portfolio_of
from simsuite.solvers.gbm.schedule.limits import SEEN_BYTES
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import BINS, NO_FAULT

_MOST_WATCHED = 1024  # frames in a stretch, each a layer of a launch
_KEPT_BYTES = 1 << 26  # bytes of statistics of frames, kept to the end only for a run that goes on from this one


@dataclass(frozen=True)
class PathPlan(Statement):
    """A statement, with what its stepper needs to know: how far stretches go, and what is kept."""

    @cached_property
    def most_watched(self) -> int:
        """The largest number of frames that are looked at in one stretch: all those of a block at least, and those of
        several blocks as long as there is room."""
        counts = Counter((step - 1) // self.block for step in self.frame_steps[1:])
        if not self.keeps_frames:
            return max(counts.values())
        room = min(SEEN_BYTES // (self.n_assets * self.batch * self.dtype.itemsize), _MOST_WATCHED)
        return max(min(len(self.frame_steps) - 1, room), *counts.values())

    def farthest(self, step: int) -> int:
        """The time step up to which a stretch may go that begins at `step`."""
        begin = -(-step // self.block) * self.block
        first = bisect.bisect_right(self.frame_steps, begin)
        beyond = first + self.most_watched
        if beyond >= len(self.frame_steps):
            return self.n_steps
        return (self.frame_steps[beyond] - 1) // self.block * self.block  # the blocks before that of the next frame

    def slot(self, frame: int) -> int:
        """The place of a frame's statistics."""
        return frame if self.keeps_frames else frame % self.block

    @cached_property
    def keeps_frames(self) -> bool:
        """Whether the statistics of all frames are kept to the end. If not, frames of a block reuse the places of those
        of the block before, and no paths can be added to the run."""
        frames = len(self.frame_steps)
        kept = frames * (
            self.n_assets * (BINS + (2 + (self.width > 1)) * LIMBS) * 8 + portfolio_of(self).bytes_per_frame
        )
        return self.n_batches > 1 or self.target > 0 or frames <= self.block or kept <= _KEPT_BYTES

    @property
    def slots(self) -> int:
        return len(self.frame_steps) if self.keeps_frames else self.block

    def initial(self) -> Snapshot:
        arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in self._shapes().items()}
        for name in arrays.keys() & {"fault", "joint_fault"}:
            arrays[name][0] = NO_FAULT
        if "policy" in arrays:
            arrays["policy"][...] = untrained_policy(self)
        return Snapshot(0, arrays)

    def along_paths(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the arrays that mean nothing between two batches."""
        n, functionals = self.n_assets, len(self.payoffs.functionals)
        shapes = {"x": ((n, self.held), self.dtype), "kept": ((functionals, self.held), self.dtype)}
        made = [market for market in (self.joint.markets if self.joint else ()) if not market.is_run]
        shapes["joint_x"] = (n * len(made), self.held), self.dtype
        shapes["joint_kept"] = (sum(len(market.functionals) for market in made), self.held), self.dtype
        return {name: spec for name, spec in shapes.items() if math.prod(spec[0])}

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        n, slots = self.n_assets, self.slots
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {
            "moments": ((slots, n, 2 + (self.width > 1), LIMBS), np.int64),
            "histogram": ((slots, n, BINS), np.int64),
            "paths": ((len(self.frame_steps), n, self.stored_here), self.dtype),
            "options": ((self.numbering[0], len(self.payoffs.products), LIMBS), np.int64),
            "joint": ((self.numbering[0], len(self.joint.payoffs.products) if self.joint else 0, LIMBS), np.int64),
            "joint_fault": ((int(self.joint is not None),), np.int64),
            "policy": (policy_shape(self.payoffs.functionals), np.float64),
            "fault": ((1,), np.int64),
            "done": ((1,), np.int64),
        } | portfolio_of(self).shapes(slots)
        return {name: spec for name, spec in shapes.items() if math.prod(spec[0])}

    def market_plans(self) -> tuple[PathPlan, ...]:
        """The plans of the paths that are made in other markets, in the order of `Joint.markets`, of the random numbers
        of this run; their payoffs are left out."""
        found = []
        for market in self.joint.markets if self.joint else ():
            if not market.is_run:
                model = market.scenario.model_copy(update={"run": self.scenario.run, "paths": self.scenario.paths})
                none = Payoffs((), (), market.functionals, (), ())
                found.append(PathPlan(model, market.dynamics, none, (0, self.n_steps), self.batch, share=self.share))
        return tuple(found)

    def _joint_bytes(self) -> int:
        """Bytes for joint payoffs besides those of the state: tables, values, the ends of paths in other markets, and
        for programs in CUDA C++ room to bring all markets together."""
        if self.joint is None:
            return 0
        payoffs, made = self.joint.payoffs, self.joint.made
        ends = made * self.n_assets + (self.n_assets + len(payoffs.functionals) if made else 0)
        values = len(payoffs.values)
        tables = 8 * (3 + 2 * values + 2 * len(payoffs.products)) + sum(map(table_bytes, self.market_plans()))
        return tables + ends * self.held * self.dtype.itemsize + 8 * values * most_together(self)

    def device_bytes(self) -> int:
        """The bytes that the stepper allocates, those of `passing_arrays` included."""
        shapes = self._shapes() | self.along_paths()
        del shapes["done"]  # this is known on the host
        state = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())
        seen = self.most_watched * self.n_assets * self.held * self.dtype.itemsize
        payoffs = 8 * (len(self.payoffs.values) + self.passing_arrays) * most_together(self)
        more = portfolio_of(self).device_bytes() + learning_bytes(self) + self._joint_bytes()
        return state + seen + table_bytes(self) + payoffs + more
