"""Threads in place of processes, which meet where these would exchange something."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from simsuite.communication.communicator import Halos

T = TypeVar("T")


class Meeting:
    """Where threads leave what they have for each other. barrier: of all of them."""

    def __init__(self, size: int) -> None:
        self.given: list[Any] = [None] * size  # Any: halos, arrays or numbers
        self.barrier = threading.Barrier(size)
        self.smaller = {n: Meeting(n) for n in range(1, size)}


class OneOfThreads:
    """A communicator of threads."""

    def __init__(self, rank: int, size: int, meeting: Meeting) -> None:
        self.rank, self.size, self._meeting = rank, size, meeting

    def from_first(self, make: Callable[[], T]) -> T:
        with self._given(make() if self.rank == 0 else None) as given:
            made: T = given[0]
        return made

    def first(self, processes: int) -> OneOfThreads:
        return self if processes == self.size else OneOfThreads(self.rank, processes, self._meeting.smaller[processes])

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        with self._given(halos) as given:
            if before is not None:
                halos.before[...] = given[before].last
            if after is not None:
                halos.after[...] = given[after].first

    def swap(self, given: Sequence[Any], taken: Sequence[Any]) -> None:
        with self._given(given) as all_given:
            for other, array in enumerate(taken):
                array[...] = all_given[other][self.rank]

    def allgather(self, parts: Sequence[Any]) -> None:
        with self._given(parts) as all_given:
            for other, part in enumerate(parts):
                if other != self.rank:
                    part[...] = all_given[other][other]

    def gather(self, values: np.ndarray) -> np.ndarray:
        with self._given(np.array(values, np.float64)) as given:
            return np.stack(given)

    @contextlib.contextmanager
    def _given(self, what: object) -> Iterator[list[Any]]:
        self._meeting.given[self.rank] = what
        self._meeting.barrier.wait(60)
        yield self._meeting.given
        self._meeting.barrier.wait(60)


def of_threads(work: Callable[[OneOfThreads], T], processes: int) -> list[T]:
    """What each of so many threads comes to, as one of so many processes."""
    meeting = Meeting(processes)

    def one(rank: int) -> T:
        try:
            return work(OneOfThreads(rank, processes, meeting))
        except BaseException:
            meeting.barrier.abort()  # so that no other thread waits for this one
            raise

    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(one, range(processes)))
