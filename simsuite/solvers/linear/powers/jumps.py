"""How a run gets from frame to frame by powers of A, and what that costs.

A gap of k steps between frames is taken with the factors A^(2^i) for the bits i of k, one after the other, or with one
matrix A^k. That matrix costs a product of square matrices for each set bit but the first, and saves as many products
with the states each time it is used; so it is formed where its uses times the columns are more than the rows of A.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST_FORMED = 16  # At most so many gaps get a matrix of their own; most runs have one or two.
BOUND_BY_MEMORY = 32  # A product with fewer columns takes as long as with so many, as it has to read the matrix anyway.


@dataclass(frozen=True)
class Jumps:
    """The gaps that a run has to take. n: the rows of A; m: the columns of X; gaps: the numbers of steps between
    neighbouring frames, with how often each occurs.
    """

    n: int
    m: int
    gaps: Counter[int]

    @classmethod
    def between(cls, frames: Sequence[int], n: int, m: int) -> Jumps:
        """The gaps between frames. frames: the steps of the frames; n, m: the rows of A and the columns of X."""
        return cls(n, m, Counter(b - a for a, b in itertools.pairwise(frames)))

    @property
    def levels(self) -> int:
        """How many of the matrices A, A², A⁴ .. are needed: as many as the longest gap has bits."""
        return max(self.gaps).bit_length()

    @property
    def formed(self) -> tuple[int, ...]:
        """The gaps that get a matrix of their own, those that occur most often first."""
        paying = [gap for gap, uses in self.gaps.most_common() if uses * self.m > self.n and gap.bit_count() > 1]
        return tuple(paying[:MOST_FORMED])

    @property
    def squares(self) -> int:
        """How many products of square matrices are needed."""
        return self.levels - 1 + sum(gap.bit_count() - 1 for gap in self.formed)

    @property
    def applied(self) -> int:
        """How many products with the states are needed."""
        formed = set(self.formed)
        return sum(uses * (1 if gap in formed else gap.bit_count()) for gap, uses in self.gaps.items())

    @property
    def steps(self) -> int:
        return sum(gap * uses for gap, uses in self.gaps.items())

    def columns(self, probes: int) -> int:
        """What powers cost, in products of A with one of many columns. probes: how many products with a single column
        are taken besides.
        """
        return self.squares * max(self.n, BOUND_BY_MEMORY) + self.applied * self.wide + probes * BOUND_BY_MEMORY

    @property
    def columns_of_steps(self) -> int:
        """What one product a step costs, in products of A with one of many columns, as `columns` counts."""
        return self.steps * self.wide

    @property
    def frames(self) -> int:
        """How many frames there are besides the first."""
        return sum(self.gaps.values())

    @property
    def wide(self) -> int:
        """How many columns a product with the states counts for: a product with few columns takes as long as with
        BOUND_BY_MEMORY.
        """
        return max(self.m, BOUND_BY_MEMORY)


def unlike(jumps: Jumps, shorter: Jumps) -> str | None:
    """Why a run takes gaps by other products than a shorter one, so that its bits are others; None if it does not."""
    formed = {gap for gap in shorter.gaps if gap in jumps.formed}
    if formed == set(shorter.formed):
        return None
    return "it takes other powers of A than a run to that end, in which some come more often; steps are always alike"
