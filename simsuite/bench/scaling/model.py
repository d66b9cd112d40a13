"""What sharing a problem costs, by a model with measured parameters; it predicts more processes than there are here.

A process steps its share of the rows, groups of paths or states, the largest one if they do not divide. Slabs of a
plate exchange their halos, with both neighbours at the same time, once in as many steps as halos are deep, and step the
rows of these as well. Each exchange takes a latency, and its bytes at a bandwidth. A look at the results, one a run,
brings the first process a message from each of the others.

What is not in the model: that links between machines are slower than those within the one that was measured, and that
of many processes some are always late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.heat.grid.slabs import halo_depth


@dataclass(frozen=True)
class Link:
    """latency: seconds of an exchange of nothing with both neighbours. bandwidth: bytes to each of them in a second."""

    latency: float
    bandwidth: float

    @classmethod
    def fitted(cls, sizes: Sequence[int], seconds: Sequence[float]) -> Link:
        """The link that measured exchanges fit best, by relative errors. sizes: bytes to each neighbour."""
        slope, latency = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
        return cls(float(max(latency, 0.0)), float(1 / slope) if slope > 0 else math.inf)

    def seconds(self, size: float) -> float:
        return self.latency + size / self.bandwidth


@dataclass(frozen=True)
class Share:
    """A problem as one process has it alone. seconds: for `steps` steps. items: the rows, groups of paths, or states
    that processes share. row_bytes: of a row that neighbours exchange; 0 without. look_bytes: what a look needs of all
    items."""

    seconds: float
    steps: int
    items: int
    row_bytes: float = 0.0
    look_bytes: float = 0.0

    def efficiency(self, processes: int, link: Link, weak: bool) -> float:
        """The rate of so many processes by that many times the rate of one, as the model has it. weak: whether there
        are as many times more items. 0 where there are not enough items for all processes."""
        items = self.items if weak else self.items / processes
        if items < 1:
            return 0.0
        largest = math.ceil(items)
        depth = halo_depth(int(items)) if self.row_bytes else 0
        work = self.seconds * (largest + depth * min(2, processes - 1)) / self.items
        exchanged = self.steps / depth * link.seconds(depth * self.row_bytes) if depth else 0.0
        look = (processes - 1) * link.seconds(self.look_bytes * items / self.items)
        return self.seconds * items / self.items / (work + exchanged + look)
