"""The arguments of kernels about Sobol points, named in one place for all who pass or read them: a launch passes a
plain tuple, of which a kernel makes `Points` again."""

from __future__ import annotations

from typing import Any, NamedTuple


class Points(NamedTuple):
    """Scrambled points, and the tables of a Brownian bridge that makes paths of them, see `sobol_cpu`. They are single
    entries if numbers are pseudo-random.

    numbering: which points paths have, int64 (3,), see `numbering`. opened: the number of splits before each block,
    int32 (blocks,). weights: those of the gain and of the normal at each visit, of the type of normals, (visits, 2).
    directions: direction numbers of each bit, uint32 (replicates, visits, assets, 32). shift: uint32 (replicates,
    visits, assets). offset: what the bits beyond 32 add, float64 (replicates, visits, assets).
    """

    numbering: Any
    opened: Any
    weights: Any
    directions: Any
    shift: Any
    offset: Any
