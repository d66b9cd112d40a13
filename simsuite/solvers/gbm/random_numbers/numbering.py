"""Which point of which replicate each path is: how scrambles of Sobol points share the paths of a run.

Every replicate gets count / R points, from number 0 on. Paths are numbered by groups of GROUP points of each replicate
in turn, as long as all of them have a whole group left; the rest, `each` points of each replicate, follows one
replicate after another:

    p = (s R + r) GROUP + j        replicate r, point s GROUP + j           p < whole, j < GROUP
    p = whole + r each + j         replicate r, point whole / R + j         p >= whole, j < each < GROUP

So each group before `whole` is of one replicate, and a run with more paths has the same groups there. Sums over groups
are split where the replicate changes; they do not depend on batches, which are of whole groups. Random numbers are a
single replicate, whose points are the paths. For kernels see `numbering_kernels.py` and `numbering.cuh`."""

from __future__ import annotations

from simsuite.scenario.gbm import GROUP
from simsuite.scenario.gbm.paths import Paths

# numbering of paths without end: a single replicate with whole groups up to the largest number
ENDLESS = (1, (1 << 63) - GROUP, 1)


def numbering_of(paths: Paths) -> tuple[int, int, int]:
    """(replicates, whole, each) of a run."""
    return shared_out(paths.count, paths.scrambles if paths.sampling == "sobol" else 1)


def shared_out(count: int, replicates: int) -> tuple[int, int, int]:
    """(replicates, whole, each) for a number of paths that is a multiple of `replicates`."""
    turn = GROUP * replicates
    return replicates, count // turn * turn, count % turn // replicates


def most_threads(n: int, numbering: tuple[int, int, int]) -> int:
    """The largest number of threads for n paths, if each warp has paths of one replicate only. What is left after whole
    groups may begin and end within a warp."""
    replicates, _, each = numbering
    return n + (31 * (replicates + 1) if each else 0)
