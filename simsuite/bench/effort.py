"""How much is measured: everything, or as much as takes about a minute."""

from __future__ import annotations

from dataclasses import dataclass

from simsuite.bench.timing import Patience

PRECISIONS = ("float64", "float32")


@dataclass(frozen=True)
class Effort:
    """The settings that decide how much is measured.

    patience: how long each thing is timed. sizes: cells along an edge of square plates; by default those are taken
    whose pass over memory takes at most `longest_pass` seconds. small: up to this size at least `long` steps are timed
    at once. solution: sizes of the work-precision study of `materials`; the largest is taken whose explicit steps take
    at most `longest_explicit` seconds at the copy rate. No run in the study is made twice as long if that would take
    more than `longest_run` seconds. steppers: the largest size at which the other steppers' steps are timed, 0 for
    none. slow_peers: whether peers that compile for long take part.
    """

    patience: Patience
    sizes: tuple[int, ...]
    longest_pass: float
    small: int
    long: int
    solution: tuple[int, ...]
    materials: tuple[str, ...]
    longest_explicit: float
    longest_run: float
    steppers: int
    slow_peers: bool


FULL = Effort(
    patience=Patience(stretch=0.2, repeats=5, most=5.0),
    sizes=(256, 1024, 4096, 16384),
    longest_pass=0.05,
    small=1024,
    long=10_000,
    solution=(2048, 1024, 512, 256),
    materials=("constant", "variable"),
    longest_explicit=120.0,
    longest_run=60.0,
    steppers=8192,
    slow_peers=True,
)
QUICK = Effort(
    patience=Patience(stretch=0.05, repeats=3, most=0.5),
    sizes=(256, 1024, 4096),
    longest_pass=0.005,
    small=256,
    long=1000,
    solution=(256, 128),
    materials=("variable",),
    longest_explicit=2.0,
    longest_run=2.0,
    steppers=0,
    slow_peers=False,
)
