"""Which point of which replicate a path is: how scrambles of Sobol points share the paths of a run.

Every replicate gets count / R points, from number 0 on. Paths are numbered by groups of GROUP points of each replicate
in turn, as long as all of them have a whole group left; the rest, `each` points a replicate, follows one replicate
after another:

    p = (s R + r) GROUP + j        replicate r, point s GROUP + j           p < whole, j < GROUP
    p = whole + r each + j         replicate r, point whole / R + j         p >= whole, j < each < GROUP

So groups before `whole` are of one replicate, and a run of more paths has the same ones there. Sums over groups end
where the replicate changes, which makes them independent of batches, as these are of whole groups. Random numbers are a
single replicate, whose points are the paths. For kernels: `numbering_kernels.py` and `numbering.cuh`.
"""

from __future__ import annotations

from simsuite.scenario.gbm import GROUP
from simsuite.scenario.gbm.paths import Paths

ENDLESS = (1, (1 << 63) - GROUP, 1)  # paths that can be numbered, in whole groups


def numbering_of(paths: Paths) -> tuple[int, int, int]:
    """(replicates, whole, each) of a run."""
    return shared_out(paths.count, paths.scrambles if paths.sampling == "sobol" else 1)


def shared_out(count: int, replicates: int) -> tuple[int, int, int]:
    """The same for a count that is a multiple of replicates."""
    turn = GROUP * replicates
    return replicates, count // turn * turn, count % turn // replicates


def most_threads(n: int, numbering: tuple[int, int, int]) -> int:
    """For n paths in whole warps, each of one replicate: what is left after whole groups may begin and end amid one."""
    replicates, _, each = numbering
    return n + (31 * (replicates + 1) if each else 0)
