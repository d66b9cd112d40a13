"""A process that runs members of a sweep one after another: `python -m simsuite.sweeps.worker`.

Each line of its input is a JSON object: first what all members share, then a member each. It answers each member by one
line, and tells by one before that its first member takes steps: the kernels are compiled then, and serve the others.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simsuite.errors import Mistake, ScenarioError, SimsuiteError, UsageError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory, without_nan
from simsuite.progress import Silent
from simsuite.scenario import load, settings
from simsuite.scenario.spans import key_name
from simsuite.stopping import Stopping

_PR_SET_PDEATHSIG = 1
_PAUSE = 0.05  # seconds from one look at a lock to the next


def main() -> None:
    """Answer until the input ends, or a signal asks to stop."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    shared = json.loads(sys.stdin.readline())
    _end_with_parent(shared["parent"])

    def tell(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    steps = _Steps(lambda: tell({"status": "steps"}))
    with Stopping() as stopping:
        for line in sys.stdin:
            tell(_answer(json.loads(line), shared, stopping, steps))
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


def _answer(asked: dict[str, Any], shared: dict[str, Any], stopping: Stopping, steps: _Steps) -> dict[str, Any]:
    """What became of a member. Any: its results, which depend on the solver."""
    begun = time.perf_counter()
    answer: dict[str, Any] = {"member": asked["member"]}
    try:
        directory = Path(asked["directory"])
        values = settings({**asked["values"], "output.directory": str(directory)})
        scenario = load(Path(shared["scenario"]), [*shared["overrides"], *values], Path(shared["base"]))
        summary = None
        while summary is None:
            while RunDirectory(directory).in_use:  # by a sweep that was killed a moment ago, or one that has it as well
                if stopping() is not None:
                    return answer | {"status": "stopped", "seconds": 0.0}
                time.sleep(_PAUSE)
            try:
                summary = without_nan(Execution(scenario, RunDirectory(directory), steps, stopping).run())
            except UsageError:
                if not RunDirectory(directory).in_use:
                    raise
        answer |= {"status": summary["status"], "summary": summary}
    except ScenarioError as error:
        answer |= {"status": "failed", "error": "; ".join(map(_said, error.mistakes))}
    except SimsuiteError as error:
        answer |= {"status": "failed", "error": str(error)}
    except MemoryError:
        answer |= {"status": "failed", "error": "there is not enough memory"}
    return answer | {"seconds": time.perf_counter() - begun}


def _said(mistake: Mistake) -> str:
    """A mistake in a line, with its key where the message goes on from it."""
    of_key = mistake.message.startswith(("is ", "has ", "must "))
    return f"`{key_name(mistake.path)}` {mistake.message}".replace("``", "`") if of_key else mistake.message


if __name__ == "__main__":
    main()
