"""Brownian bridge: which random number decides what of a path, and in which order.

Given what a path W gained over the steps l .. r, D = W(r) - W(l), its gain up to a step m between them is

    W(m) - W(l) = D (m - l) / (r - l) + sqrt((m - l) (r - m) / (r - l)) z,

P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 3.1.1. Halves are split further
until single steps are left: a binary tree, whose root decides W(n) = sqrt(n) z. The map from the numbers z to the
increments of the steps is orthogonal, so the law is exact for any n, and the first numbers, of which Sobol points are
the most even, decide most: nodes count from the largest variance to the smallest, which is by levels if n is a power
of 2.

With several assets a number is one of a node and of a principal component of the assets (`sobol_tables.py`), and they
count by the product of both variances, as in Glasserman's section 5.5.2. On four assets and 32 steps that left 0.34
(correlation 0.9) to 0.99 (none) of the standard error for an option on their mean over all steps that all components of
a node before the next node had, and 0.95 to 1.09 for one with a barrier.

Paths are made in order of time, by blocks of a few steps as with other random numbers. Splits are where blocks end, so
that the splits inside a block are the same for all blocks: at a multiple of 4 steps near the middle, then of 2. What a
right half gains waits on a stack until it is its turn. Visits are numbered in that order, those inside a block after
those that it needs first, so that tables are read from front to back. In the last block, splits may have nothing on
their right (weights 1 and 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.sobol.scrambling import Scramble

_FOUR = 4


@dataclass(frozen=True)
class Bridge:
    """The tree of splits of a path. opened: int32[block], the number of splits before those inside the block. weights:
    float64[visit, 2], factors of D and of z. rank: int64[visit], the rank of the node, the coarsest first, or -1 where
    there is nothing to decide. depth: largest depth of the stack."""

    n_steps: int
    per_block: int
    opened: np.ndarray
    weights: np.ndarray
    rank: np.ndarray
    depth: int

    @classmethod
    def of(cls, n_steps: int, per_block: int) -> Bridge:
        """The bridge for blocks of 2 or 4 steps; its nodes are the same for both."""
        visits = [(0, n_steps, n_steps + 1)]  # l, m, r; the root counts as the left half of an endless path
        opened, waiting, depth = [], [n_steps], 1
        for left in range(0, n_steps, per_block):
            before = len(visits)
            while (right := waiting[-1]) - left > per_block:
                visits.append((left, middle(left, right), right))
                waiting.append(visits[-1][1])
            opened.append(len(visits) - before)
            depth = max(depth, len(waiting) - 1)
            visits += _inside(left, waiting.pop(), per_block)
        weights = np.array([(0.0, math.sqrt(n_steps)), *(_weights(*visit) for visit in visits[1:])])
        real = [i for i in range(len(visits)) if weights[i, 1] > 0]
        order = sorted(real, key=lambda i: (-_variance(*visits[i]) if i else -math.inf, visits[i][1]))
        rank = np.full(len(visits), -1)
        rank[order] = np.arange(len(order))
        return cls(n_steps, per_block, np.array(opened, np.int32), weights, rank, depth)

    def inside(self) -> np.ndarray:
        """float64[2, split, 2]: weights of the splits inside all blocks but the last, and inside the last."""
        splits = self.per_block - 1
        common = [_weights(*visit) for visit in _inside(0, self.per_block, self.per_block)]
        return np.array([common, self.weights[-splits:]])

    def points(self, scrambled: Scramble, deviation: np.ndarray) -> Scramble:
        """Directions, shift and offset in order of visits: [replicate, visit, component, ..], from n_steps dimensions
        for each component. deviation[component]: that of a step. A visit with nothing to decide gets the coordinate
        1/2."""
        dimension = self._dimensions(deviation)
        chosen = [np.array(a[:, dimension]) for a in (scrambled.directions, scrambled.shift, scrambled.offset)]
        for array, value in zip(chosen, (0, 0x80000000, 0.5)):
            array[:, self.rank < 0] = value
        return Scramble(*chosen)

    def _dimensions(self, deviation: np.ndarray) -> np.ndarray:
        """int64[visit, component]: the dimension that decides it; an arbitrary one where there is nothing to decide.
        Variances that differ by rounding only count as equal."""
        node, component = np.nonzero((self.rank >= 0)[:, None] & np.ones(len(deviation), bool))
        variance = (self.weights[node, 1] * deviation[component]) ** 2
        order = np.lexsort((component, self.rank[node], -np.round(variance / variance.max(), 12)))
        dimension = np.zeros((len(self.rank), len(deviation)), np.int64)
        dimension[node[order], component[order]] = np.arange(len(order))
        return dimension


def middle(left: int, right: int) -> int:
    """The step at which the steps left .. right are split; left is a multiple of the length of a block."""
    width = right - left
    if width > _FOUR:
        fours = -(-width // _FOUR)
        return left + _FOUR * ((fours + 1) // 2)
    return left + (2 if width > 2 else 1)


def device_points(points: Scramble) -> np.ndarray:
    """uint32[.., 32, 2]: the XOR of the shift and the directions of the five lowest bits of an index, for all 32 values
    of these bits; and the directions."""
    low = np.broadcast_to(points.shift[..., None], points.directions.shape).copy()
    for bit in range(5):
        low[..., np.arange(32) >> bit & 1 == 1] ^= points.directions[..., bit, None]
    return np.stack([low, points.directions], axis=-1)


def _inside(left: int, right: int, per_block: int) -> list[tuple[int, int, int]]:
    """The splits (l, m, r) inside a block. The last block may end early."""
    if per_block == 2:
        return [(left, left + 1, right)]
    half = min(left + 2, right)
    return [(left, left + 2, right), (left, left + 1, half), (half, half + 1, right)]


def _variance(left: int, at: int, right: int) -> float:
    return (at - left) * (right - at) / (right - left)


def _weights(left: int, at: int, right: int) -> tuple[float, float]:
    if at >= right:
        return 1.0, 0.0
    return (at - left) / (right - left), math.sqrt(_variance(left, at, right))
