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

    def answer(self) -> Answer | None:
        """The answer that has come, if it is whole; where the process has ended, that the member failed."""
        assert self.process.stdout is not None
        part = os.read(self.process.stdout.fileno(), 1 << 20)
        self._rest += part
        if self._rest.endswith(b"\n"):
            answer: Answer = json.loads(self._rest)
            self._rest = b""
            return answer
        if part:
            return None
        code = self.process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        memory = ", as the system does where memory runs out" if code == -signal.SIGKILL else ""
        return {"member": self.member, "status": "failed", "error": f"its process {how}{memory}", "lost": True}

    def end(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def run_members(
    members: Sequence[int],
    asked: Callable[[int], Mapping[str, object]],
    shared: Mapping[str, object],
    count: int,
    threads: int,
    stopped: Callable[[], str | None],
) -> Iterator[Answer]:
    """What becomes of each member, in the order in which they end, run by `count` processes with so many threads each.
    asked: what a process is told of a member. When `stopped` gives a reason, members that run are asked to stop with a
    checkpoint, and no more begin."""
    left = list(members)[::-1]
    stopping = False
    with selectors.DefaultSelector() as selector:
        workers: list[_Worker] = []

        def begin() -> None:
            worker = _Worker(shared, threads)
            workers.append(worker)
            assert worker.process.stdout is not None
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            next_of(worker)

        def next_of(worker: _Worker) -> None:
            if left and not stopping:
                member = left.pop()
                worker.run(member, asked(member))
            else:
                worker.member = None
                worker.end()

        def leave(worker: _Worker) -> None:
            selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
            workers.remove(worker)

        try:
            for _ in range(min(count, len(left))):
                begin()
            while workers:
                if not stopping and stopped() is not None:
                    stopping = True
                    for worker in workers:
                        worker.process.terminate()
                for key, _ in selector.select(_LOOK):
                    worker = key.data
                    answer = worker.answer()
                    if answer is None:
                        continue
                    idle = worker.member is None
                    lost = answer.pop("lost", False)
                    if lost:
                        leave(worker)
                    if not idle and not (lost and stopping):
                        yield answer
                    if lost and not idle and left and not stopping:
                        begin()
                    elif not lost:
                        next_of(worker)
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.wait()
