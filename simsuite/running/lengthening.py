"""A run goes on to a later end than it was begun with, to the bits of a run that was begun with that end.

The results are copied into a new file, which has what depends on the end, and a checkpoint is written that belongs to
this file; from then on the directory holds an unfinished run to the later end. Before that nothing of the run is
changed. Whatever is left to be done after that, `complete_lengthening` does, also where this process was killed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsuite.assembly import make_backend, make_problem, results_attributes, scenario_of_run
from simsuite.capabilities import Lengthening, Watched
from simsuite.core import Device, Layout, Problem, Snapshot
from simsuite.errors import Advice, SimsuiteError, UsageError
from simsuite.io.checkpoint import Checkpoint, forget_previous, read_checkpoint, write_checkpoint
from simsuite.io.copying import copy_rows
from simsuite.io.directory import RunDirectory
from simsuite.io.disk import sync_directory
from simsuite.io.layout import as_text
from simsuite.io.reading import reading
from simsuite.io.results_file import RUN_ID, ResultsFile
from simsuite.provenance import ATTRIBUTES
from simsuite.same_run import OF_TIME, differing_keys, identity
from simsuite.scenario import Scenario
from simsuite.scenario.common import DEFAULT_FRAMES
from simsuite.scenario.reaching import LOOKS_HEAT, LOOKS_LINEAR
from simsuite.words import measured

_KEPT = ("stepper", "kernel", "precision")  # of what a run has chosen, what its bits depend on
_PATHS = "its options are paid at its end, up to which its steps and its random numbers are spread"
_ROUNDING = 1e-9  # share by which an end may miss a frame
_ANEW = Advice(
    "a new run can begin with its last state: `simsuite run SCENARIO -o DIR --from-checkpoint {}`",
    "a new run can begin with its last state: `simsuite run SCENARIO -o DIR --from-checkpoint {}`",
)


def to_later_end(directory: Path, end: float, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of the run in a directory with a later end, in s; frames and samples go on as they are spaced.

    Raises UsageError where there is no run or frames do not fall on that end, and ScenarioError where steps do not.
    """
    before = scenario_of_run(directory, overrides)
    model = before.model
    if before.solver == "gbm":
        raise UsageError(f"{directory} cannot go on to a later end: {_PATHS}")
    linear = before.solver == "linear"
    old = model.time.steps * model.dt if linear else model.time.end
    if old is None:
        raise UsageError(f"{directory} holds a steady state, which has no end")
    changed = [f"time.end={end!r}"] if model.time.end is not None else []
    changed += [f"time.steps={max(1, round(end / model.dt))}"] if linear else []
    output = model.output
    looks = (LOOKS_LINEAR if linear else LOOKS_HEAT) if model.reaching else None
    counts = {"samples": output.samples, "looks": output.looks or looks}
    if output.every is None and output.times is None:
        counts["frames"] = output.frames or DEFAULT_FRAMES
    for key, count in counts.items():
        if count is None:
            continue
        longer = (count - 1) * end / old
        if abs(longer - round(longer)) > _ROUNDING * longer:
            last = old + old / (count - 1) * max(1, math.ceil((end - old) / old * (count - 1)))
            raise UsageError(
                f"{directory} has {key} every {old / (count - 1):.9g} s, which do not fall on {end:g} s\n"
                f"  = help: the next of them is at {last:.9g} s"
            )
        changed.append(f"output.{key}={round(longer) + 1}")
    return scenario_of_run(directory, [*overrides, *changed])


def lengthen(scenario: Scenario, directory: RunDirectory, device: Device, tell: Callable[[str], None]) -> bool:
    """Make the run in a directory, which must be locked and readable, the unfinished run of a scenario that differs in
    a later end; returns whether it is one. False: it has no checkpoint to go on from, and would begin again.

    Nothing is done where the run is that of the scenario already. Raises UsageError with the reason where the run would
    have other bits than one that was begun with the later end, and SimsuiteError for damage and where the disk fails.
    """
    text = directory.read_scenario()
    if text is None:
        return True
    differing = differing_keys(scenario, text)
    if not differing:
        return True
    other = [key for key in differing if not key.startswith(OF_TIME)]
    if other:
        raise UsageError(f"{directory.path} holds a run that differs in more than its end: {', '.join(other[:5])}")
    before = scenario_of_run(directory.path)
    with reading(directory.results) as file:
        attributes = {name: file.attrs[name] for name in file.attrs}
        changed = [key for key, digest in scenario.files().items() if digest != _files(attributes).get(key)]
    if changed:
        raise UsageError(f"{directory.path} holds a run with other contents of {', '.join(changed)}")
    old = make_problem(before, device, json.loads(str(attributes["decided"])))
    new = make_problem(scenario, device)
    reason = _ended(directory, old) or _unlike(old, new)
    if reason is not None:
        advice = (text.format(directory.path) for text in (_ANEW.command, _ANEW.python))
        raise UsageError(f"{directory.path} cannot go on to a later end: {reason}\n  = help: ", Advice(*advice))
    found = read_checkpoint(directory.path)
    if found is None or found.results is None:
        tell(f"{directory.path} has no checkpoint to go on from, so that the run begins again")
        return False
    _rewrite(scenario, directory, device, new, found, attributes)
    return True


def _files(attributes: Mapping[str, Any]) -> dict[str, str]:
    return dict(json.loads(str(attributes["input_files"])))


def _end(problem: Problem) -> float:
    return problem.position(problem.clock.end)[1]


def _at(problem: Problem, time: float) -> str:
    return f"t = {measured(f'{time:.9g}', problem.layout.series[0].coordinate.attrs.get('units', ''))}"


def _ended(directory: RunDirectory, problem: Problem) -> str | None:
    """Why the run ended before its end, if it did."""
    summary = directory.read_summary()
    if summary is None or summary.get("status") != "complete":
        return None
    if "ended_by" in summary:
        return f"it was ended by `{summary['ended_by']}`"
    if summary["time"] < _end(problem):
        return f"it was over at {_at(problem, summary['time'])}, as asked for"
    return None


def _unlike(old: Problem, new: Problem) -> str | None:
    """Why the run of `new` does not begin with that of `old`, which ends earlier; None if it does."""
    if not isinstance(new, Lengthening):
        return _PATHS
    if _end(new) <= _end(old):
        return f"its end, {_at(old, _end(old))}, is not before {_at(new, _end(new))}"
    if (reason := new.unlike(old)) is not None:
        return reason
    for mine, its in zip(new.layout.series, old.layout.series, strict=True):
        missing = next((k for k, m in zip(its.steps, (*mine.steps, -1)) if k != m), None)
        if missing is None and any(new.position(k) != old.position(k) for k in its.steps):
            missing = its.steps[-1]
        if missing is not None:
            if _same_times(old, new, its.steps, mine.steps) and (reason := _looks_elsewhere(old, new)) is not None:
                return reason
            what = "frames" if mine is new.layout.series[0] else "samples"
            when = _at(old, old.position(missing)[1])
            hint = "give output.every, the time from frame to frame" if what == "frames" else "give output.samples"
            return f"{what} fall on other times or steps than before from {when} on; {hint}, that goes on as before"
    if (reason := _looks_elsewhere(old, new)) is not None:
        return reason
    if _shapes(old.layout) != _shapes(new.layout):
        return "its results have other variables"
    n = len(old.clock.steps)
    if (new.clock.steps[:n], new.clock.times[:n]) != (old.clock.steps, old.clock.times):
        return "how long its steps are was chosen for its end; a time.dt is not"
    return None


def _same_times(old: Problem, new: Problem, its: Sequence[int], mine: Sequence[int]) -> bool:
    """Whether steps of `old` are at the times, but for rounding, at which `new` begins: then frames that have other
    steps are where they were asked for, and what moved is something else that steps end at."""
    pairs = zip(its, mine, strict=False)
    close = (math.isclose(old.position(k)[1], new.position(m)[1], rel_tol=_ROUNDING) for k, m in pairs)
    return len(its) <= len(mine) and all(close)


def _looks_elsewhere(old: Problem, new: Problem) -> str | None:
    """Why levels are looked at at other steps than before, if they are."""
    if not isinstance(old, Watched) or not isinstance(new, Watched) or old.looks is None or new.looks is None:
        return None
    mine, its = new.looks.steps, old.looks.steps
    if its is None or (mine is not None and mine[: len(its)] == its and _same_times(old, new, its, mine)):
        return None
    return "it is looked at other steps whether events have come; give output.looks, that they go on as before"


def _shapes(layout: Layout) -> list[tuple[str, tuple[str, ...]]]:
    return [(variable.name, variable.dims) for variable in layout.variables]


def _rewrite(
    scenario: Scenario,
    directory: RunDirectory,
    device: Device,
    problem: Problem,
    found: Checkpoint,
    attributes: Mapping[str, Any],
) -> None:
    assert isinstance(problem, Lengthening)
    backend = make_backend(device, problem)
    stepper = problem.stepper(backend, problem.initial())
    chosen = {**problem.method, **stepper.chosen}
    for key in _KEPT:
        if key in chosen and str(attributes.get(key)) != chosen[key]:
            raise UsageError(
                f"{directory.path} cannot go on to a later end: its {key} is {attributes.get(key)}, while a run to that"
                f" end has {chosen[key]}\n  = help: write the {key} into the scenario"
            )
    title = as_text(attributes.get("title", ""))
    about = results_attributes(scenario, directory.path, problem, backend, chosen, title)
    about |= {name: as_text(attributes[name]) for name in ATTRIBUTES if name in attributes}
    history, compression = as_text(attributes.get("history", "")), scenario.model.output.compression
    with ResultsFile.create(directory.longer, problem.layout, about, compression, history) as results:
        copy_rows(directory.results, problem.layout, results, found.rows)
        results.flush_to_disk()
        copy = results.copy_metadata()
    meta = {**found.meta, **identity(scenario)}
    with stepper.snapshot() as first:
        anew = {name: array for name, array in first.arrays.items() if name in problem.of_whole_run}
        state = Snapshot(found.snapshot.step, {**found.snapshot.arrays, **anew})
        write_checkpoint(directory.path, state, found.rows, meta, problem.unbounded, copy)
    complete_lengthening(directory)


def complete_lengthening(directory: RunDirectory) -> None:
    """Do what is left of the lengthening of a run, or remove what is of no use of one that did not get so far. The
    directory must be locked. Raises SimsuiteError where the disk fails."""
    if not directory.longer.exists():
        return
    found = read_checkpoint(directory.path)
    mark = None
    with contextlib.suppress(SimsuiteError), reading(directory.longer) as file:
        mark = str(file.attrs[RUN_ID])
    if found is None or found.results is None or mark != found.results.mark:
        directory.longer.unlink()
        return
    forget_previous(directory.path)
    directory.write_scenario(str(found.meta["scenario"]))
    directory.remove_summary()
    os.replace(directory.longer, directory.results)
    sync_directory(directory.path)
