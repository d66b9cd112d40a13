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

from simsuite.errors import ScenarioError, SimsuiteError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory, without_nan
from simsuite.progress import Silent
from simsuite.scenario import load, settings
from simsuite.stopping import Stopping

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer until the input ends, or a signal asks to stop."""
    _end_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    shared = json.loads(sys.stdin.readline())

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


def _end_with_parent() -> None:
    """Have the system end this process when the one that started it ends, however that does. On Linux; elsewhere it
    ends with the member that it runs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:
            sys.exit(1)


def _answer(asked: dict[str, Any], shared: dict[str, Any], stopping: Stopping, steps: _Steps) -> dict[str, Any]:
    """What became of a member. Any: its results, which depend on the solver."""
    begun = time.perf_counter()
    answer: dict[str, Any] = {"member": asked["member"]}
    try:
        directory = Path(asked["directory"])
        values = settings({**asked["values"], "output.directory": str(directory)})
        scenario = load(Path(shared["scenario"]), [*shared["overrides"], *values], Path(shared["base"]))
        summary = without_nan(Execution(scenario, RunDirectory(directory), steps, stopping).run())
        answer |= {"status": summary["status"], "summary": summary}
    except ScenarioError as error:
        answer |= {"status": "failed", "error": "; ".join(m.message for m in error.mistakes)}
    except SimsuiteError as error:
        answer |= {"status": "failed", "error": str(error)}
    except MemoryError:
        answer |= {"status": "failed", "error": "there is not enough memory"}
    return answer | {"seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    main()
