"""What becomes of members of a sweep that this process runs.

`asked` names members: their numbers, directories and values, and the directory of a run that they may share. `shared`
is what is the same for all members of the sweep: the scenario's file, overrides, where data files start from.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from simsuite.errors import Mistake, ScenarioError, SimsuiteError, UsageError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory, without_nan
from simsuite.progress import Reporter
from simsuite.provenance import Origin
from simsuite.scenario import Scenario, load, settings
from simsuite.scenario.spans import key_name

Answer: TypeAlias = dict[str, Any]
"""What became of a member. Any: its results, which depend on the solver."""
Stopped: TypeAlias = Callable[[], str | None]
"""Gives a reason to stop, or None."""

_PAUSE = 0.05  # seconds from one look at a lock to the next


def answers(
    asked: Mapping[str, Any], shared: Mapping[str, Any], stopped: Stopped, steps: Reporter
) -> Iterator[list[Answer]]:
    """What became of some members: first of those that run together, all at once, then one by one of those that cannot,
    or where the run of all of them fails."""
    members = asked["members"]
    found = together(asked, shared, stopped, steps) if len(members) > 1 else []
    if found:
        yield found
    answered = {answer["member"] for answer in found}
    for member in members:
        if member["member"] not in answered:
            yield [_answer(member, shared, stopped, steps)]


def together(asked: Mapping[str, Any], shared: Mapping[str, Any], stopped: Stopped, steps: Reporter) -> list[Answer]:
    """What became of members in one run; of none of them if that failed, or they cannot be one. Those that have
    mistakes, or fail in it, are left out."""
    begun, directory = time.perf_counter(), Path(asked["shared"])
    members, each = [], []
    for member in asked["members"]:
        with contextlib.suppress(SimsuiteError):
            each.append(_scenario(member, shared, directory))
            members.append(member["member"])
    if len(members) < 2:
        return []
    models = [scenario.model for scenario in each]
    try:
        joined = type(models[0]).join(models)
        summary = None if joined is None else _run(replace(each[0], model=joined), directory, shared, stopped, steps)
    except (SimsuiteError, MemoryError):
        return []
    if joined is None:
        return []
    if summary is None or summary["status"] == "stopped":
        return [{"member": member, "status": "stopped"} for member in members]
    divided = joined.divide(summary["results"], models)
    seconds = (time.perf_counter() - begun) / len(members)
    about = {"status": summary["status"], "seconds": seconds, "run": directory.name}
    return [
        about | {"member": member, "place": place, "summary": {**summary, "results": results}}
        for place, (member, results) in enumerate(zip(members, divided))
        if results is not None
    ]


def _scenario(asked: Mapping[str, Any], shared: Mapping[str, Any], directory: Path) -> Scenario:
    values = settings({**asked["values"], "output.directory": str(directory)})
    return load(Path(shared["scenario"]), [*shared["overrides"], *values], Path(shared["base"]))


def _run(
    scenario: Scenario, directory: Path, shared: Mapping[str, Any], stopped: Stopped, steps: Reporter
) -> dict[str, Any] | None:
    """The summary of a run; None if it is to stop before it can begin. It waits while a sweep that was killed a moment
    ago, or one that has the same members, works there."""
    while True:
        while RunDirectory(directory).in_use:
            if stopped() is not None:
                return None
            time.sleep(_PAUSE)
        try:
            origin = functools.partial(Origin.of_other, shared["origin"])
            run = Execution(scenario, RunDirectory(directory), steps, stopped, origin=origin)
            summary: dict[str, Any] = without_nan(run.run())
            return summary
        except UsageError:
            if not RunDirectory(directory).in_use:
                raise


def _answer(asked: Mapping[str, Any], shared: Mapping[str, Any], stopped: Stopped, steps: Reporter) -> Answer:
    """What became of a member. Any: its results, which depend on the solver."""
    begun = time.perf_counter()
    answer: Answer = {"member": asked["member"]}
    try:
        directory = Path(asked["directory"])
        scenario = _scenario(asked, shared, directory)
        summary = None if stopped() is not None else _run(scenario, directory, shared, stopped, steps)
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
