"""How much `simsuite bench gbm` measures: everything, or what fits into a minute or so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simsuite.bench.timing import Patience

PRECISIONS = ("float32", "mixed", "float64")


@dataclass(frozen=True)
class Effort:
    """The amount of measuring.

    patience: how long each thing is timed. paths: paths of the rates, by the kind of device; chunk: paths that a peer
    prices at a time. stored: the largest number of paths whose prices are stored. pilot: paths of the runs that tell
    how many paths an error takes. longest: seconds of a run that is made for it. slow_peers: whether peers take part
    that compile for long.
    """

    patience: Patience
    paths: Mapping[str, int]
    chunk: Mapping[str, int]
    stored: Mapping[str, int]
    pilot: int
    longest: float
    slow_peers: bool


FULL = Effort(
    patience=Patience(stretch=0.1, repeats=5, most=3.0),
    paths={"cpu": 1 << 17, "cuda": 1 << 25},
    chunk={"cpu": 1 << 13, "cuda": 1 << 20},
    stored={"cpu": 1 << 16, "cuda": 1 << 23},
    pilot=1 << 18,
    longest=10.0,
    slow_peers=True,
)
QUICK = Effort(
    patience=Patience(stretch=0.05, repeats=3, most=0.5),
    paths={"cpu": 1 << 14, "cuda": 1 << 23},
    chunk={"cpu": 1 << 12, "cuda": 1 << 18},
    stored={"cpu": 1 << 13, "cuda": 1 << 21},
    pilot=1 << 15,
    longest=0.5,
    slow_peers=False,
)
