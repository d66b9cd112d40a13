"""Timing of queued device work: by the host's clock, over stretches so long that starting and stopping do not count."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from simsuite.core import Backend

REPEATS = 5


def seconds(backend: Backend, work: Callable[[int], None], at_least: float = 0.2) -> float:
    """Median time of one unit of work, of REPEATS stretches of `work(n)`, after warming up.

    n doubles until a stretch takes `at_least` seconds.
    """
    n = 1
    while True:
        took = _stretch(backend, work, n)
        if took >= at_least:
            return statistics.median(_stretch(backend, work, n) / n for _ in range(REPEATS))
        n *= 2


def _stretch(backend: Backend, work: Callable[[int], None], n: int) -> float:
    backend.fence().wait()
    began = time.perf_counter()
    work(n)
    backend.fence().wait()
    return time.perf_counter() - began


def copy_rate(backend: Backend, nbytes: int) -> float:
    """Bytes a second, read plus written, of the device's own copy of one array to another."""
    numbers = nbytes // 8
    nbytes = 8 * numbers
    source = backend.array(np.random.default_rng(0).random(numbers))
    target: Any = backend.zeros(numbers, np.float64)

    def work(n: int) -> None:
        for _ in range(n):
            backend.copy(source, target)

    return 2 * nbytes / seconds(backend, work)
