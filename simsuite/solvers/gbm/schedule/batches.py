"""The batches that the paths of a run are cut into, and where a run that has a target may stop.

Random paths may stop after any batch. Sobol points are even where there are 2^k of them: one more or less can make the
error grow like the root of their number (A. B. Owen, "On dropping the first Sobol' point", MCQMC 2020). And replicates
get their points in turns of GROUP (numbering.py). So the marks, at which a run of Sobol points with a target may stop,
are at 2^k GROUP points of each replicate, and at the end. Batches end at marks, whatever their size.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from functools import cached_property

from simsuite.scenario.gbm import GROUP, GbmScenario


@dataclass(frozen=True)
class Batches:
    """The batches of a run. size: the largest number of paths of a batch. marks: increasing numbers of paths at which a
    batch ends in any case; the first is 0, the last the number of all paths."""

    size: int
    marks: tuple[int, ...]

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The number of batches up to each mark."""
        gaps = (b - a for a, b in itertools.pairwise(self.marks))
        return (0, *itertools.accumulate(-(-gap // self.size) for gap in gaps))

    def begin(self, batch: int) -> int:
        """The number of a batch's first path; for the number of batches, the number of all paths."""
        i = bisect.bisect_right(self.before, batch) - 1
        return self.marks[i] + (batch - self.before[i]) * self.size

    def end(self, batch: int) -> int:
        """The number of the path after a batch's last path."""
        i = bisect.bisect_right(self.before, batch) - 1
        return min(self.begin(batch) + self.size, self.marks[i + 1])

    def of(self, path: int) -> int:
        """The number of the batch that a path is in; for the number of all paths, the number of batches."""
        i = bisect.bisect_right(self.marks, path) - 1
        return self.before[i] + (path - self.marks[i]) // self.size


def batches_of(model: GbmScenario, most: int) -> Batches:
    """The batches of a run, with so many paths at most."""
    marks = _marks(model)
    return Batches(min(most, max(b - a for a, b in itertools.pairwise(marks))), marks)


def _marks(model: GbmScenario) -> tuple[int, ...]:
    """The marks of a run (see `Batches`). The first one after 0 leaves room for the paths to be stored, which are all
    in the first batch."""
    paths, stored = model.paths, model.output.store_paths or 0
    if paths.sampling != "sobol" or paths.target_standard_error == 0:
        return 0, paths.count
    doubled = (GROUP * paths.scrambles << k for k in itertools.count())
    return 0, *(n for n in itertools.takewhile(lambda n: n < paths.count, doubled) if n >= stored), paths.count
