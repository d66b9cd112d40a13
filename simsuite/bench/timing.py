"""Timing of queued device work: by the host's clock, over stretches so long that starting and stopping do not count."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simsuite.core import Backend

# So many stretches after the one that compiles do not count: launches are recorded, those of rkl2 with each of three
# fields.
WARM = 6


@dataclass(frozen=True)
class Patience:
    """How long things are timed. stretch: the least seconds of one stretch; repeats: how many stretches are timed, or
    as many as fit into `most` seconds, but at least one.
    """

    stretch: float
    repeats: int
    most: float


def seconds(
    backend: Backend,
    work: Callable[[int], None],
    patience: Patience,
    first: int = 1,
    pick: Callable[[Sequence[float]], float] = statistics.median,
) -> tuple[float, int]:
    """(the time of one unit of work, picked from those of several stretches of `work(n)` after warming up, and n).

    n is `first`, doubled until a stretch takes long enough. Up to WARM stretches do not count; only the first does not,
    where stretches take longer than what recording them could add.
    """
    stretch(backend, work, first)
    for _ in range(WARM):
        took = stretch(backend, work, first)
        if took > patience.stretch:
            break
    n = first
    while took < patience.stretch:
        n *= 2
        took = stretch(backend, work, n)
    repeats = min(patience.repeats, max(1, int(patience.most / took)))
    return pick([stretch(backend, work, n) / n for _ in range(repeats)]), n


def stretch(backend: Backend, work: Callable[[int], None], n: int) -> float:
    """The seconds of `work(n)`, from an idle device to an idle device."""
    backend.fence().wait()
    began = time.perf_counter()
    work(n)
    backend.fence().wait()
    return time.perf_counter() - began


def device_seconds(backend: Backend, work: Callable[[], None], patience: Patience) -> float:
    """The median time of a piece of work after warming up, as the device itself measures it by marks in its queue."""
    found: list[float] = []
    warm = 2
    while len(found) < warm + patience.repeats and (len(found) <= warm or sum(found) < patience.most):
        before = backend.fence()
        work()
        found.append(backend.fence().seconds_since(before))
    return statistics.median(found[warm:])
