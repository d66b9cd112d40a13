"""The one thread that writes files while the device computes on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from simsuite.core import Pending, Snapshot

_WAITING = 4

Action = Callable[[Snapshot], None]


class Writer:
    """Runs actions on pending snapshots, one after the other, in the order of submission, on a thread of its own.

    At most four actions wait, as a rule those of rows of two series. `submit` blocks while so many wait, so that the
    host never holds more snapshots than that. After the first error nothing more is run, but pendings are still
    released; the error is raised in the caller by `submit`, `check`, `drain` or `close`.

    waits: whether `submit` returns only when the action is done, so that the caller does not go on meanwhile.
    """

    def __init__(self, waits: bool = False) -> None:
        self._waits = waits
        self._queue: queue.Queue[tuple[Pending, Action] | None] = queue.Queue(maxsize=_WAITING)
        self._error: BaseException | None = None
        self._closed = False
        # A daemon, so that a program that forgets to close can end all the same.
        self._thread = threading.Thread(target=self._work, name="simsuite-writer", daemon=True)
        self._thread.start()

    def submit(self, pending: Pending, action: Action) -> None:
        """Run `action` on the snapshot of `pending` as soon as it is there; `pending` is released in any case."""
        if self._closed or self._error is not None:
            with pending:
                pass
            self.check()
            raise RuntimeError("the writer was closed")
        self._queue.put((pending, action))
        if self._waits:
            self.drain()

    def check(self) -> None:
        """Raise the error of an earlier action, if there was one."""
        if self._error is not None:
            raise self._error

    def drain(self) -> None:
        """Wait until everything submitted is done."""
        self._queue.join()
        self.check()

    def close(self) -> None:
        """Finish what was submitted and end the thread; closing again only checks."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()
        self.check()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except BaseException:
            if error is None:  # otherwise the caller learns of the first error, not of this one
                raise

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            pending, action = item
            try:
                with pending as snapshot:
                    if self._error is None:
                        action(snapshot)
            except BaseException as error:
                self._error = self._error or error
            finally:
                self._queue.task_done()
