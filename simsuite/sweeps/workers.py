"""The processes that run the members of a sweep."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from simsuite.sweeps.members import Answer

Told = dict[str, Any]
"""A line of a process. Any: it holds answers."""
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

    def told(self) -> list[Told]:
        """What has come whole: answers for some members, that steps are taken, or how the process has ended."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), 1 << 20)
        *whole, self._rest = (self._rest + part).split(b"\n")
        if part:
            return [json.loads(line) for line in whole]
        code = self.process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        memory = ", as the system does where memory runs out" if code == -signal.SIGKILL else ""
        return [{"lost": f"its process {how}{memory}"}]

    def end(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def close(self) -> None:
        """Close both pipes of a process that has ended."""
        assert self.process.stdout is not None
        self.end()
        self.process.stdout.close()


def run_members(
    members: Iterable[Sequence[int]],
    asked: Callable[[Sequence[int]], Mapping[str, object]],
    shared: Mapping[str, object],
    count: int,
    threads: int,
    stopped: Callable[[], str | None],
) -> Iterator[list[Answer]]:
    """What becomes of each member, in the order in which they end, run by `count` processes with so many threads each.
    members: those together that may run together; the next ones are taken when a process is free for them, after what
    became of those before was passed on. asked: what a process is told of some members. When `stopped` gives a reason,
    members that run are asked to stop with a checkpoint, and no more begin."""
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
        members: Iterable[Sequence[int]],
        asked: Callable[[Sequence[int]], Mapping[str, object]],
        shared: Mapping[str, object],
        count: int,
        threads: int,
    ) -> None:
        self._left = iter(members)
        self._again: list[list[int]] = []  # members that ran together in a process that was lost
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
                for told in key.data.told():
                    yield from self._take(key.data, told)

    def kill(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
            worker.close()
        self._selector.close()

    def _take(self, worker: _Worker, told: Told) -> Iterator[list[Answer]]:
        """What is to be passed on of what a process tells; the next members begin in the place of those that are all
        answered."""
        self._count = self._most
        if "lost" in told:
            yield from self._lost(worker, told["lost"])
        elif "answers" in told:
            for answer in told["answers"]:
                worker.members.remove(answer["member"])
            yield told["answers"]
            if not worker.members:
                self._next(worker)
        self._fill()

    def _lost(self, worker: _Worker, how: str) -> Iterator[list[Answer]]:
        """Of a process that has ended: members that ran together are run one by one, and one alone has failed."""
        if worker.members and not self._stopping:
            if len(worker.members) > 1:
                self._again += [[member] for member in reversed(worker.members)]
            else:
                yield [{"member": worker.members[0], "status": "failed", "error": how}]
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        worker.close()
        self._workers.remove(worker)

    def _fill(self) -> None:
        """Begin as many processes as there may be and members are left for."""
        while not self._stopping and len(self._workers) < self._count:
            members = self._next_members()
            if members is None:
                return
            worker = _Worker(self._shared, self._threads)
            self._workers.append(worker)
            assert worker.process.stdout is not None
            self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            worker.run(members, self._asked(members))

    def _next(self, worker: _Worker) -> None:
        members = None if self._stopping else self._next_members()
        if members is not None:
            worker.run(members, self._asked(members))
        else:
            worker.end()

    def _next_members(self) -> Sequence[int] | None:
        return self._again.pop() if self._again else next(self._left, None)
