"""The products and systems that are measured: all of them, or some of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simsuite.bench.timing import Patience

PRECISIONS = ("float32", "float64")
Shape = tuple[int, int, int]  # rows, inner, columns


@dataclass(frozen=True)
class Effort:
    """What is measured, and for how long. patience: how long each thing is timed. products: square, tall, flat and
    ragged shapes, by the kind of device. systems: (components, states) that are stepped. crossing: components, and
    states, of the systems on which methods are compared. lattices: (sites of a side, states) of sparse systems.
    """

    patience: Patience
    products: Mapping[str, tuple[Shape, ...]]
    systems: Mapping[str, tuple[tuple[int, int], ...]]
    crossing: tuple[int, ...]
    lattices: Mapping[str, tuple[tuple[int, int], ...]]


def square(n: int) -> Shape:
    return n, n, n


_RAGGED = ((1000, 1500, 77), (4000, 3001, 5003), (513, 4097, 1025))
_SKINNY = ((8192, 8192, 16), (64, 64, 1 << 20), (256, 256, 1 << 17))
_SMALL_SYSTEMS = ((2, 1), (16, 1), (64, 1), (128, 1), (2, 1 << 20), (16, 1 << 20), (32, 1 << 20), (64, 1_000_000))
_LARGE_SYSTEMS = ((128, 1 << 18), (256, 1 << 16), (1024, 1024), (2048, 2048), (2048, 1), (8192, 1), (8192, 64))

FULL = Effort(
    Patience(stretch=0.1, repeats=5, most=2.0),
    products={
        "cpu": (*map(square, (64, 256, 512, 1024, 2048)), (1000, 1500, 77), (2000, 1501, 2503), (64, 64, 1 << 14)),
        "cuda": (*map(square, (256, 512, 1024, 2048, 4096, 8192)), *_RAGGED, *_SKINNY),
    },
    systems={
        "cpu": (
            (2, 1),
            (16, 1),
            (64, 1),
            (256, 1),
            (2048, 1),
            (2, 4096),
            (16, 4096),
            (64, 4096),
            (256, 256),
            (1024, 1024),
        ),
        "cuda": _SMALL_SYSTEMS + _LARGE_SYSTEMS,
    },
    crossing=(16, 64, 256, 1024),
    lattices={
        "cpu": ((100, 1), (1000, 1), (1000, 4), (300, 64)),
        "cuda": ((300, 1), (2000, 1), (2000, 4), (1000, 64)),
    },
)
QUICK = Effort(
    Patience(stretch=0.05, repeats=3, most=0.3),
    products={
        "cpu": (*map(square, (64, 256, 1024)), (1000, 1500, 77)),
        "cuda": (*map(square, (512, 4096)), _RAGGED[1]),
    },
    systems={
        "cpu": ((2, 1), (64, 1), (16, 1024), (256, 256)),
        "cuda": ((16, 1), (32, 1 << 18), (1024, 1024)),
    },
    crossing=(16, 128),
    lattices={"cpu": ((100, 1), (300, 16)), "cuda": ((1000, 1), (1000, 16))},
)
