"""The processes that run the members of a sweep."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Answer = dict[str, Any]
"""What became of a member. Any: its results, which depend on the solver."""
_LOOK = 0.2  # seconds from one look at whether to stop to the next


class _Worker:
    """One process, and the member that it runs."""

    def __init__(self, shared: Mapping[str, object], threads: int) -> None:
        limits = {name: str(threads) for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simsuite.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **limits},
            start_new_session=True,  # Ctrl-C comes to this process alone, which passes it on
        )
        self.member: int | None = None
        self._rest = b""
        self._tell(shared)

    def _tell(self, what: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which its output tells as well
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()

    def run(self, member: int, asked: Mapping[str, object]) -> None:
        self.member = member
        self._tell({"member": member, **asked})

    def answers(self) -> list[Answer]:
        """The answers that have come whole; where the process has ended, that the member failed."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), 1 << 20)
        *whole, self._rest = (self._rest + part).split(b"\n")
        if part:
            return [json.loads(line) for line in whole]
        code = self.process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        memory = ", as the system does where memory runs out" if code == -signal.SIGKILL else ""
        return [{"member": self.member, "status": "failed", "error": f"its process {how}{memory}", "lost": True}]

    def end(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def run_members(
    members: Iterable[int],
    asked: Callable[[int], Mapping[str, object]],
    shared: Mapping[str, object],
    count: int,
    threads: int,
    stopped: Callable[[], str | None],
) -> Iterator[Answer]:
    """What becomes of each member, in the order in which they end, run by `count` processes with so many threads each.
    members: the next one is taken when a process is free for it, after what became of the one before was passed on.
    asked: what a process is told of a member. When `stopped` gives a reason, members that run are asked to stop with a
    checkpoint, and no more begin."""
    crew = _Crew(members, asked, shared, count, threads)
    try:
        yield from crew.run(stopped)
    finally:
        crew.kill()


class _Crew:
    """The processes that run the members. The first one begins alone: once it takes steps, the kernels are compiled
    that all of them need."""

    def __init__(
        self,
        members: Iterable[int],
        asked: Callable[[int], Mapping[str, object]],
        shared: Mapping[str, object],
        count: int,
        threads: int,
    ) -> None:
        self._left = iter(members)
        self._asked, self._shared, self._threads = asked, shared, threads
        self._count = 1
        self._most = count
        self._stopping = False
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def run(self, stopped: Callable[[], str | None]) -> Iterator[Answer]:
        self._fill()
        while self._workers:
            if not self._stopping and stopped() is not None:
                self._stopping = True
                for worker in self._workers:
                    worker.process.terminate()
            for key, _ in self._selector.select(_LOOK):
                for answer in key.data.answers():
                    yield from self._take(key.data, answer)

    def kill(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
        self._selector.close()

    def _take(self, worker: _Worker, answer: Answer) -> Iterator[Answer]:
        """What is to be passed on of an answer; the next member begins in its place."""
        self._count = self._most
        if answer["status"] == "steps":
            self._fill()
            return
        lost = answer.pop("lost", False)
        if worker.member is not None and not (lost and self._stopping):
            yield answer
        if lost:
            self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
            self._workers.remove(worker)
        else:
            self._next(worker)
        self._fill()

    def _fill(self) -> None:
        """Begin as many processes as there may be and members are left for."""
        while not self._stopping and len(self._workers) < self._count:
            member = next(self._left, None)
            if member is None:
                return
            worker = _Worker(self._shared, self._threads)
            self._workers.append(worker)
            assert worker.process.stdout is not None
            self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            worker.run(member, self._asked(member))

    def _next(self, worker: _Worker) -> None:
        member = None if self._stopping else next(self._left, None)
        if member is not None:
            worker.run(member, self._asked(member))
        else:
            worker.member = None
            worker.end()
