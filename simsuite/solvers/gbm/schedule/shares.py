"""Which paths of a batch each of several processes makes: whole groups, one after another, about as many in each."""

from __future__ import annotations

from simsuite.scenario.gbm import GROUP


def shares(n: int, processes: int, together: int = 0) -> list[int]:
    """The bounds of the processes' shares in n paths: process p makes those from number bounds[p] to bounds[p + 1]. The
    first makes the first `together` ones at least."""
    groups = -(-n // GROUP)
    bounds = [-(-groups * p // processes) for p in range(processes + 1)]
    first = min(-(-together // GROUP), groups)
    if processes > 1 and first > bounds[1]:
        bounds = [0, *(first - (first - groups) * p // (processes - 1) for p in range(processes))]
    return [min(GROUP * bound, n) for bound in bounds]


def largest_share(n: int, processes: int, together: int) -> int:
    """The most paths that a process makes at once, where up to n are made, the first `together` of them by one."""
    each, first = -(-n // (GROUP * processes)), -(-together // GROUP)
    return min(max(each, first) * GROUP, n)
