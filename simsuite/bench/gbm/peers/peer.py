"""What a peer is, and what it prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Pricer = Callable[[int], tuple[float, float]]
"""price(paths) = (price, standard error), when that is done."""


@dataclass(frozen=True)
class Asian:
    """A call on the mean of prices at so many fixings, evenly over a year. rate, volatility: a year's."""

    spot: float
    strike: float
    rate: float
    volatility: float
    fixings: int

    @property
    def drift(self) -> float:
        """Of the logarithm, from fixing to fixing."""
        return (self.rate - self.volatility**2 / 2) / self.fixings

    @property
    def deviation(self) -> float:
        """Of the logarithm, from fixing to fixing."""
        return self.volatility / math.sqrt(self.fixings)

    @property
    def discount(self) -> float:
        return math.exp(-self.rate)

    def estimate(self, total: float, squares: float, paths: int) -> tuple[float, float]:
        """(price, standard error) from the sums of the payoffs and of their squares."""
        mean = total / paths
        variance = (squares - paths * mean**2) / (paths - 1)
        return self.discount * mean, self.discount * math.sqrt(variance / paths)


@dataclass(frozen=True)
class Peer:
    """library: the module that has to be importable. dialects: kinds of devices that it runs on ("cpu", "cuda").
    start(asian, precision, device, chunk): a pricer on a device of a name like "cpu" or "cuda:0" that does a multiple
    of `chunk` paths, so many at a time. precisions: that it has. slow: whether it compiles for many seconds. Raises
    ImportError where the library is not installed, and what the library raises where it does not work."""

    name: str
    library: str
    dialects: tuple[str, ...]
    start: Callable[[Asian, str, str, int], Pricer]
    precisions: tuple[str, ...] = ("float32", "float64")
    slow: bool = False


def in_chunks(asian: Asian, chunk: int, sums: Callable[[], tuple[float, float]]) -> Pricer:
    """sums: of payoffs and of their squares, over as many new paths as a chunk has."""

    def price(paths: int) -> tuple[float, float]:
        found = [sums() for _ in range(paths // chunk)]
        return asian.estimate(math.fsum(a for a, _ in found), math.fsum(b for _, b in found), paths)

    return price
