"""How a run comes from frame to frame by powers of A, and what that costs.

A gap of k steps is taken with the factors A^(2^i) for the bits i of k, one after the other, or with one matrix A^k.
That matrix takes a product of square matrices for each bit but the first, and saves as many products with the states
each time it is used; so it is formed where its uses times the columns are more than the rows of A.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST_FORMED = 16  # gaps that get a matrix of their own: most runs have one or two
BOUND_BY_MEMORY = 32  # columns, below which a product takes as long as with so many: it has to read the matrix anyway


@dataclass(frozen=True)
class Jumps:
    """n, m: rows of A, columns of X. gaps: between two neighbouring frames, in steps, with how often each comes."""

    n: int
    m: int
    gaps: Counter[int]

    @classmethod
    def between(cls, frames: Sequence[int], n: int, m: int) -> Jumps:
        """frames: the steps at which they fall."""
        return cls(n, m, Counter(b - a for a, b in itertools.pairwise(frames)))

    @property
    def levels(self) -> int:
        """How many of A, A², A⁴ .. there are: as many as the longest gap has bits."""
        return max(self.gaps).bit_length()

    @property
    def formed(self) -> tuple[int, ...]:
        """The gaps that get a matrix of their own, those that come most often first."""
        paying = [gap for gap, uses in self.gaps.most_common() if uses * self.m > self.n and gap.bit_count() > 1]
        return tuple(paying[:MOST_FORMED])

    @property
    def squares(self) -> int:
        """Products of square matrices."""
        return self.levels - 1 + sum(gap.bit_count() - 1 for gap in self.formed)

    @property
    def applied(self) -> int:
        """Products with the states."""
        formed = set(self.formed)
        return sum(uses * (1 if gap in formed else gap.bit_count()) for gap, uses in self.gaps.items())

    @property
    def steps(self) -> int:
        return sum(gap * uses for gap, uses in self.gaps.items())

    def columns(self, probes: int) -> int:
        """What it costs, in products of A with one column of many. probes: products with a single column besides."""
        return self.squares * max(self.n, BOUND_BY_MEMORY) + self.applied * self.wide + probes * BOUND_BY_MEMORY

    @property
    def columns_of_steps(self) -> int:
        """What one product a step costs, in the same unit."""
        return self.steps * self.wide

    @property
    def frames(self) -> int:
        """Besides the first."""
        return sum(self.gaps.values())

    @property
    def wide(self) -> int:
        """Columns that a product with the states takes as long as."""
        return max(self.m, BOUND_BY_MEMORY)
