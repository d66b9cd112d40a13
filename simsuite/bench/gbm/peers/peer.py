"""The interface of a peer, and the option that it prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Pricer = Callable[[int], tuple[float, float]]
"""price(paths) = (price, standard error), when that is done."""


@dataclass(frozen=True)
class Asian:
    """A call on the mean of prices at so many fixings, evenly over a year. rate and volatility are those of a year."""

    spot: float
    strike: float
    rate: float
    volatility: float
    fixings: int

    @property
    def drift(self) -> float:
        """The drift of the logarithm from fixing to fixing."""
        return (self.rate - self.volatility**2 / 2) / self.fixings

    @property
    def deviation(self) -> float:
        """The standard deviation of the logarithm from fixing to fixing."""
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
    """A library that prices the option. library: the module that has to be importable. dialects: kinds of devices that
    it runs on ("cpu", "cuda"). start(asian, precision, device, chunk): makes a pricer on a device with a name like
    "cpu" or "cuda:0", for a multiple of `chunk` paths, so many at a time; it raises ImportError where the library is
    not installed, and what the library raises where it does not work. precisions: those that it has. slow: whether it
    compiles for many seconds."""

    name: str
    library: str
    dialects: tuple[str, ...]
    start: Callable[[Asian, str, str, int], Pricer]
    precisions: tuple[str, ...] = ("float32", "float64")
    slow: bool = False


def in_chunks(asian: Asian, chunk: int, sums: Callable[[], tuple[float, float]]) -> Pricer:
    """A pricer that works in chunks. sums: returns the sums of payoffs and of their squares, over as many new paths as
    a chunk has."""

    def price(paths: int) -> tuple[float, float]:
        found = [sums() for _ in range(paths // chunk)]
        return asian.estimate(math.fsum(a for a, _ in found), math.fsum(b for _, b in found), paths)

    return price
