"""Makes the pairs of paths of all levels. One step of the run is one portion of paths, of the first level that has
paths to make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.communication.communicator import ALONE, Communicator
from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.gbm.multilevel.differences import ArrayDifferences, Differences, ProgramDifferences
from simsuite.solvers.gbm.multilevel.plan import MultilevelPlan
from simsuite.solvers.gbm.paths.stepper import OPTIONS, Joined, Launches, launches_for

_HOST = ("done", "goals")


class MultilevelStepper:
    """Makes pairs of paths. done, goals: [level], paths that are made and to be made, both in whole groups. As sums are
    exact and groups whole, consecutive portions may be made at once.

    The fine paths of all levels share their arrays, and so do the coarse ones. The payoffs of level 0 are added up as
    in a plain run.
    """

    def __init__(
        self, plan: MultilevelPlan, backend: Backend, start: Snapshot, communicator: Communicator = ALONE
    ) -> None:
        self.step = start.step
        self.done, self.goals = (np.array(start.arrays[name]) for name in _HOST)
        self._plan, self._backend = plan, backend
        self._arrays = {name: backend.array(a) for name, a in start.arrays.items() if name not in _HOST}
        along = plan.along_paths()
        fine, coarse = ({name: backend.zeros(*spec) for name, spec in along.items()} for _ in range(2))
        self._pairs: list[list[tuple[Launches, Any]]] = []
        for level in plan.levels:
            self._pairs.append([self._launches(p, on) for p, on in ((level.fine, fine), (level.coarse, coarse)) if p])
        fast = self.chosen["kernel"] == "nvrtc"
        differences = ProgramDifferences if fast else ArrayDifferences
        self._differences: Differences = differences(plan, backend, self._arrays)

    def _launches(self, plan: Any, along: Mapping[str, Any]) -> tuple[Launches, Any]:
        """The launches of a plan on these arrays, and the array of what functionals have kept."""
        taken = along["kept"][: len(plan.functional_codes)] if "kept" in along else None
        own = {"x": along["x"], "options": self._arrays["options"][:1]}  # level 0 adds its payoffs to these sums
        own |= {"kept": taken} if plan.functional_codes else {}
        launches, self.chosen = launches_for(plan, self._backend, self._arrays | own)
        return launches, taken

    @property
    def course(self) -> Mapping[str, Any]:
        """What `settle` changes: the step, and the goals of the round."""
        return {"step": self.step, "goals": self.goals.tolist()}

    @course.setter
    def course(self, course: Mapping[str, Any]) -> None:
        self.step, self.goals = course["step"], np.array(course["goals"])

    @property
    def state(self) -> Mapping[str, Any]:
        return self._arrays

    def advance(self, n: int) -> None:
        """Makes the next n portions. Steps beyond the goals do nothing."""
        self.step += n
        while n > 0 and (level := self.behind) is not None:
            portion = self._plan.portions[level]
            left = int(self.goals[level] - self.done[level])
            paths = min(left, n * portion, self._plan.room // portion * portion)
            self._make(level, paths)
            self.done[level] += paths
            n -= -(-paths // portion)

    @property
    def behind(self) -> int | None:
        """The first level that has not reached its goal."""
        return next((level for level, more in enumerate(self.goals - self.done) if more > 0), None)

    def _make(self, number: int, n: int) -> None:
        """Makes this process's share of n paths of level 0, or of n pairs of paths of another level."""
        level, pair = self._plan.levels[number], self._pairs[number]
        done, which = int(self.done[number]), 0
        own = level.fine.own(n, done == 0 and number == len(self._pairs) - 1)
        n, first_path, begin = len(own), level.first_path + done + own.start, 0
        fine, launches = level.fine, pair[0][0]
        while begin < fine.n_steps:
            target = fine.farthest(begin)
            blocks = -(-begin // fine.block), -(-target // fine.block)
            frames = fine.frames_within(blocks[0] * fine.block, blocks[1] * fine.block)
            launches.advance(n, first_path, *blocks, frames)
            if number == len(self._pairs) - 1:
                self._look(launches, n, first_path, frames, done == 0)
            begin, which = target, len(frames) - 1
        if level.coarse is None:
            launches.payoffs(which, n, first_path)
            return
        coarse = level.coarse
        pair[1][0].advance(n, first_path, 0, -(-coarse.n_steps // coarse.block), range(1, 2))
        noises = [launches.seen[at] for (launches, _), at in zip(pair, (which, 0))]
        self._differences.add(number, n, first_path, noises, [taken for _, taken in pair])

    def _look(self, launches: Launches, n: int, first_path: int, frames: range, first: bool) -> None:
        """Adds up the statistics of prices at these frames, from the fine paths of the last level."""
        for which, frame in enumerate(frames if first else ()):
            launches.clear(self._plan.slot(frame))
            launches.record(which, frame)
        if frames:
            launches.moments(n, first_path, frames)

    def snapshot(self) -> Pending:
        return self._stage(self._arrays)

    def observe(self, series: str) -> Pending:
        frame, arrays = self._plan.frame_of_row(self.step), self._arrays
        if series == OPTIONS:
            return self._stage({name: arrays[name] for name in ("options", "fault")})
        of_frame = {name: arrays[name][frame] for name in ("moments", "histogram", "paths") if name in arrays}
        return self._stage(of_frame | {name: arrays[name] for name in ("options", "fault")})

    def _stage(self, arrays: Mapping[str, Any]) -> Pending:
        known = {"done": self.done.copy(), "goals": self.goals.copy()}
        return Joined(self._backend.stage(self.step, arrays), known)
