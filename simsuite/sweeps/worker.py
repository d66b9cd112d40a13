"""A process that runs members of a sweep one after another: `python -m simsuite.sweeps.worker`.

Each line of its input is a JSON object: first what all members share, then one or several members that may run
together. It answers members by lines, and tells by one before that its first member takes steps: the kernels are
compiled then, and serve the others.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from simsuite.errors import Mistake, ScenarioError, SimsuiteError, UsageError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory, without_nan
from simsuite.progress import Silent
from simsuite.provenance import Origin
from simsuite.scenario import Scenario, load, settings
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
            for found in _answers(json.loads(line), shared, stopping, steps):
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


def _answers(
    asked: dict[str, Any], shared: dict[str, Any], stopping: Stopping, steps: _Steps
) -> Iterator[list[dict[str, Any]]]:
    """What became of some members, all at once if they run together. They run one by one where that is not possible, or
    fails."""
    members = asked["members"]
    found = _together(asked, shared, stopping, steps) if len(members) > 1 else None
    if found is not None:
        yield found
        return
    for member in members:
        yield [_answer(member, shared, stopping, steps)]


def _together(
    asked: dict[str, Any], shared: dict[str, Any], stopping: Stopping, steps: _Steps
) -> list[dict[str, Any]] | None:
    """What became of members in one run; None if that failed, or they cannot be one."""
    begun, members = time.perf_counter(), asked["members"]
    directory = Path(asked["shared"])
    try:
        each = [_scenario(member, shared, directory) for member in members]
        joined = type(each[0].model).join([scenario.model for scenario in each])
        if joined is None:
            return None
        summary = _run(replace(each[0], model=joined), directory, shared, stopping, steps)
    except (SimsuiteError, MemoryError):
        return None
    if summary is None:
        return [{"member": member["member"], "status": "stopped"} for member in members]
    seconds = (time.perf_counter() - begun) / len(members)
    divided = joined.divide(summary["results"], [scenario.model for scenario in each])
    return [
        {
            "member": member["member"],
            "status": summary["status"],
            "summary": {**summary, "results": results},
            "seconds": seconds,
        }
        for member, results in zip(members, divided)
    ]


def _scenario(asked: dict[str, Any], shared: dict[str, Any], directory: Path) -> Scenario:
    values = settings({**asked["values"], "output.directory": str(directory)})
    return load(Path(shared["scenario"]), [*shared["overrides"], *values], Path(shared["base"]))


def _run(
    scenario: Scenario, directory: Path, shared: dict[str, Any], stopping: Stopping, steps: _Steps
) -> dict[str, Any] | None:
    """The summary of a run; None if it is to stop before it can begin. It waits while a sweep that was killed a moment
    ago, or one that has the same members, works there."""
    while True:
        while RunDirectory(directory).in_use:
            if stopping() is not None:
                return None
            time.sleep(_PAUSE)
        try:
            origin = functools.partial(Origin.of_other, shared["origin"])
            run = Execution(scenario, RunDirectory(directory), steps, stopping, origin=origin)
            summary: dict[str, Any] = without_nan(run.run())
            return summary
        except UsageError:
            if not RunDirectory(directory).in_use:
                raise


def _answer(asked: dict[str, Any], shared: dict[str, Any], stopping: Stopping, steps: _Steps) -> dict[str, Any]:
    """What became of a member. Any: its results, which depend on the solver."""
    begun = time.perf_counter()
    answer: dict[str, Any] = {"member": asked["member"]}
    try:
        directory = Path(asked["directory"])
        scenario = _scenario(asked, shared, directory)
        summary = None if stopping.signal is not None else _run(scenario, directory, shared, stopping, steps)
        if summary is None:
            return answer | {"status": "stopped", "seconds": 0.0}
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
