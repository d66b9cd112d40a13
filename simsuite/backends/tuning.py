"""Results of timing on a device, kept between runs: a JSON file for each question."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from simsuite.backends.cache_files import write_whole

_NEAR, _NEAR_TRIES = 1.25, 3  # so many tries have to take at most so many times as long as the shortest one


class Timed(NamedTuple):
    """The seconds that a trial takes. sure: whether measuring again would give about the same."""

    seconds: float
    sure: bool = True


def shortest(tried: Callable[[], float], tries: int, trying: float, patience: float) -> Timed:
    """The shortest time of a trial: other work on the machine only lengthens it. `tried` tries it once and returns the
    seconds.

    It is tried at least `tries` times and for `trying` seconds. On a busy machine all of these times may be far too
    long; so it is tried again until a few of them are about as short as the shortest, or have taken `patience` seconds.
    """
    found: list[float] = []
    total = 0.0
    while True:
        found.append(tried())
        total += found[-1]
        if len(found) >= tries and total >= trying:
            sure = sum(seconds <= _NEAR * min(found) for seconds in found) >= _NEAR_TRIES
            if sure or total >= patience:
                return Timed(min(found), sure)


def choose(directory: Path, question: str, count: int, measure: Callable[[int], Timed]) -> int:
    """Which of `count` candidates takes the fewest seconds, see `times`."""
    found = times(directory, question, count, measure)
    return min(range(count), key=found.__getitem__)


def times(directory: Path, question: str, count: int, measure: Callable[[int], Timed]) -> list[float]:
    """The seconds that each of `count` trials takes: as answered before, or measured now and, if all are sure, written
    down.

    question: all that the answer depends on, the device included.
    """
    path = directory / f"timed-{hashlib.sha256(question.encode()).hexdigest()[:16]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(path.read_text(encoding="utf-8"))
        found = [float(second) for second in known["seconds"]]
        if known["question"] == question and len(found) == count and all(second >= 0 for second in found):
            return found
    measured = [measure(i) for i in range(count)]
    found = [seconds for seconds, _ in measured]
    if all(sure for _, sure in measured):
        write_whole(path, json.dumps({"question": question, "seconds": found}).encode())
    return found
