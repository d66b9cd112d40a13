"""The processes that run the members of a sweep."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Answer = dict[str, Any]
"""What became of a member. Any: its results, which depend on the solver."""
_LOOK = 0.2  # seconds from one look at whether to stop to the next


class _Worker:
    """One process, and the members that it runs."""

    def __init__(self, shared: Mapping[str, object], threads: int) -> None:
        limits = {name: str(threads) for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simsuite.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **limits},
            start_new_session=True,  # Ctrl-C comes to this process alone, which passes it on
        )
        self.members: list[int] = []  # those that it has not answered yet
        self._rest = b""
        self._tell(shared)

    def _tell(self, what: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which its output tells as well
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()

    def run(self, members: Sequence[int], asked: Mapping[str, object]) -> None:
        self.members = list(members)
        self._tell(asked)

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
        return [{"status": "failed", "error": f"its process {how}{memory}", "lost": True}]

    def end(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def run_members(
    members: Sequence[Sequence[int]],
    asked: Callable[[Sequence[int]], Mapping[str, object]],
    shared: Mapping[str, object],
    count: int,
    threads: int,
    stopped: Callable[[], str | None],
) -> Iterator[list[Answer]]:
    """What becomes of each member, in the order in which they end, run by `count` processes with so many threads each.
    members: those together that may run together. asked: what a process is told of some that do. When `stopped` gives a
    reason, members that run are asked to stop with a checkpoint, and no more begin."""
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
        members: Sequence[Sequence[int]],
        asked: Callable[[Sequence[int]], Mapping[str, object]],
        shared: Mapping[str, object],
        count: int,
        threads: int,
    ) -> None:
        self._left = list(members)[::-1]
        self._asked, self._shared, self._threads = asked, shared, threads
        self._count = 1
        self._most = count
        self._stopping = False
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def run(self, stopped: Callable[[], str | None]) -> Iterator[list[Answer]]:
        self._fill()
        while self._workers:
            if not self._stopping and stopped() is not None:
                self._stopping = True
                for worker in self._workers:
                    worker.process.terminate()
            for key, _ in self._selector.select(_LOOK):
                taken = [self._take(key.data, answer) for answer in key.data.answers()]
                yield [answer for answer in taken if answer is not None]

    def kill(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
        self._selector.close()

    def _take(self, worker: _Worker, answer: Answer) -> Answer | None:
        """What is to be passed on of an answer; the next members begin once the last one of theirs is answered."""
        self._count = self._most
        if answer["status"] == "steps":
            self._fill()
            return None
        if answer.pop("lost", False):
            passed = self._lost(worker, answer)
        else:
            passed = answer
            worker.members.remove(answer["member"])
            if answer.pop("last"):
                self._next(worker)
        self._fill()
        return passed

    def _lost(self, worker: _Worker, answer: Answer) -> Answer | None:
        """Of a process that has ended: members that ran together are run one by one, and one alone has failed."""
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        self._workers.remove(worker)
        if self._stopping or not worker.members:
            return None
        if len(worker.members) > 1:
            self._left += [[member] for member in reversed(worker.members)]
            return None
        return {"member": worker.members[0], **answer}

    def _fill(self) -> None:
        """Begin as many processes as there may be and members are left for."""
        while self._left and not self._stopping and len(self._workers) < self._count:
            worker = _Worker(self._shared, self._threads)
            self._workers.append(worker)
            assert worker.process.stdout is not None
            self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            self._next(worker)

    def _next(self, worker: _Worker) -> None:
        if self._left and not self._stopping:
            members = self._left.pop()
            worker.run(members, self._asked(members))
        else:
            worker.members = []
            worker.end()
