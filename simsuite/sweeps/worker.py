"""A process that runs members of a sweep one after another: `python -m simsuite.sweeps.worker`.

Each line of its input is a JSON object: first what all members share, then one or several members that may run
together. It answers members by lines, and tells by one before that its first member takes steps: the kernels are
compiled then, and serve the others.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from simsuite.progress import Silent
from simsuite.stopping import Stopping
from simsuite.sweeps.members import answers

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer until the input ends, or a signal asks to stop."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    shared = json.loads(sys.stdin.readline())
    _end_with_parent(shared["parent"])

    def tell(what: dict[str, Any]) -> None:
        told.write(json.dumps(what) + "\n")
        told.flush()

    steps = _Steps(lambda: tell({"status": "steps"}))
    with Stopping() as stopping:
        for line in sys.stdin:
            for found in answers(json.loads(line), shared, stopping, steps):
                tell({"answers": found})
            if stopping.signal is not None:
                break


class _Steps(Silent):
    """Tells once that steps are taken."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def progress(self, step: int) -> None:
        if self._tell is not None:
            self._tell()
            self._tell = None


def _end_with_parent(parent: int) -> None:
    """Have the system end this process when the one that started it ends, however that does. On Linux; elsewhere it
    ends with the member that it runs. parent: the number of that process."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            sys.exit(1)


if __name__ == "__main__":
    main()
