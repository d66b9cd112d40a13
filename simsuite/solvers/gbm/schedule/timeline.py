"""The meaning of each step of a Monte Carlo run.

The paths are made in batches of at most `batch` paths, one after another (batches.py), and the steps of all batches are
counted. Rows of results fall due as time goes by if there is one batch. If there are several, or if there is a target,
which may be reached before the last one, they fall due after all batches, in steps that compute nothing.
"""

from __future__ import annotations

import bisect
from functools import cached_property

from simsuite.core import Clock
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.schedule.batches import Batches, batches_of


class Timeline:
    """The steps of a run; times are in years. frame_steps: time steps of the frames, the first 0, the last the end."""

    scenario: GbmScenario
    frame_steps: tuple[int, ...]
    batch: int

    @property
    def n_steps(self) -> int:
        """Time steps of each path."""
        return self.scenario.time.steps

    @cached_property
    def batches(self) -> Batches:
        return batches_of(self.scenario, self.batch)

    @property
    def n_batches(self) -> int:
        return self.batches.before[-1]

    @property
    def uses_sobol(self) -> bool:
        """Whether paths come from Sobol points."""
        return self.scenario.paths.sampling == "sobol"

    @property
    def target(self) -> float:
        """The standard error that is to be reached, in units of price; 0 if none is."""
        return self.scenario.paths.target_standard_error

    def time(self, step: int) -> float:
        """The time at a time step of a path."""
        return self.scenario.time.end * (step / self.n_steps)

    @property
    def dt(self) -> float:
        return self.time(1)

    def lengths(self, step: int) -> tuple[float, float]:
        """The lengths of the time steps before and after a step: all time steps of a path are equal."""
        return self.dt, self.dt

    @cached_property
    def clock(self) -> Clock:
        return Clock((0, self.row_steps[-1]), (0.0, self.scenario.time.end))

    def frame_of_row(self, step: int) -> int:
        """The frame whose row falls due at this step of the run, or fell due last."""
        return max(bisect.bisect_right(self.row_steps, step) - 1, 0)

    @property
    def rows_late(self) -> bool:
        """Whether rows fall due one after another when all paths are made, and not as time goes by in the only batch.
        The last batch is then like all others, and the device never waits for rows to be written."""
        return self.n_batches > 1 or self.target > 0

    @cached_property
    def row_steps(self) -> tuple[int, ...]:
        """The steps of the run at which rows fall due."""
        first = self.batches_end + 2
        return tuple(range(first, first + len(self.frame_steps)) if self.rows_late else self.frame_steps)

    @property
    def batches_end(self) -> int:
        """The step of the run after which there is no path to be made."""
        return self.n_batches * self.n_steps

    def position(self, step: int) -> tuple[int, float]:
        """The time step, and its time, that the present batch has reached."""
        if step < self.batches_end:
            k = step % self.n_steps
        else:
            k = self.frame_steps[self.frame_of_row(step)] if step >= self.row_steps[0] else self.n_steps
        return k, self.time(k)

    def stage(self, step: int) -> str | None:
        """The number of paths that are made, in words, if paths come in batches. None if all paths are made in one
        batch, or none is left to be made."""
        if not self.rows_late or step >= self.batches_end:
            return None
        batch, k = divmod(step, self.n_steps)
        begin, end = self.batches.begin(batch), self.batches.end(batch)
        under_way = f", and step {k} of {self.n_steps} of the next {end - begin}" if k else ""
        return f"{begin} of {self.scenario.paths.count} paths{under_way}"

    def frames_within(self, first: int, last: int) -> range:
        """The frames after time step `first`, up to `last`."""
        return range(bisect.bisect_right(self.frame_steps, first), bisect.bisect_right(self.frame_steps, last))

    def next_look(self, step: int) -> int | None:
        """The step of the next look at the results, at the end of a batch; None if rows are not to come after all
        batches."""
        if not self.rows_late or step > self.batches_end:
            return None
        return self.batches_looked_at(max(-(-step // self.n_steps), 1)) * self.n_steps

    def batches_looked_at(self, fewest: int) -> int:
        """The number of batches, `fewest` or more, after which there is a look at the results: all batches if there is
        no target, and those up to the next mark for Sobol points."""
        if self.target == 0:
            return self.n_batches
        marks = self.batches.before
        return marks[bisect.bisect_left(marks, fewest)] if self.uses_sobol else fewest

    def work(self, step: int) -> float:
        """The path-steps made up to a step of the run; there is no work after the batches."""
        batch, k = divmod(min(step, self.batches_end), self.n_steps)
        begin = self.batches.begin(batch)
        return float(begin * self.n_steps + k * (self.batches.end(batch) - begin if k else 0))
