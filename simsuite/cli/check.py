"""`simsuite check`: what a scenario will do, without doing it; of a run, whether its files are as they were written.
`simsuite repair`: the results of a run that was cut off, readable again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import print_json, say, show
from simsuite.cli.run import Device, Directory, Json, RunPath, ScenarioFile, Set, Verbose, load_scenario, run_directory
from simsuite.errors import AFRESH, VerificationFailure
from simsuite.summaries.lines import short_stepper
from simsuite.words import about, counted, duration, steps_in_words, with_prefix

if TYPE_CHECKING:
    from simsuite.io.directory import RunDirectory

SHOWN = 10  # how many damaged rows of a run are shown


def check(
    scenario: ScenarioFile,
    set: Set = None,
    output: Directory = None,
    device: Device = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes", metavar="N", min=1, help="Of a run that N processes share: memory and time of each."
        ),
    ] = 1,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Check a scenario: print its mistakes, or steps, dt, time, memory on the device and bytes on disk.

    Mistakes in single values are told first; once they are put right, those of how values and data fit together. Of the
    directory of a run: whether its results and checkpoints are as they were written.
    """
    from simsuite.io.directory import RunDirectory

    if scenario.is_dir() and RunDirectory(scenario).results.exists():
        from simsuite.inspection import look_through

        report(RunDirectory(scenario), look_through(RunDirectory(scenario)), as_json)
        return
    from simsuite.assembly import (
        checkpoint_on_disk,
        default_directory,
        device_of,
        disk_bytes,
        estimate,
        make_problem,
        name_of,
        require_divisible,
    )
    from simsuite.io.disk import free_bytes

    loaded = load_scenario(scenario, set, output, device)
    opened = device_of(loaded, say)
    problem = make_problem(loaded, opened)
    require_divisible(problem, processes)
    name = name_of(opened, loaded)
    found = estimate(problem, name, processes)
    found["disk_bytes"], found["checkpoint_bytes"] = disk_bytes(loaded, problem), checkpoint_on_disk(loaded, problem)
    directory = default_directory(loaded)
    found["disk_free_bytes"] = free_bytes(directory)
    if as_json:
        print_json({"scenario": str(scenario), "solver": loaded.solver, "valid": True, **found})
        return
    show(f"{scenario} is a valid {loaded.solver} scenario")
    show(f"  steps      {_steps(found)}, {counted(found['frames'], 'frame')}")
    stepper = short_stepper({"solver": loaded.solver, **found}, found["adaptive"])
    show(f"  stepper    {stepper}{_unless(loaded.model, found)}")
    if start := _start(loaded.model):
        show(f"  start      {start}")
    if verbose and "stepper_reason" in found:
        show(f"  why        {found['stepper_reason']}")
    if made := found.get("bumped_markets"):
        show(f"  bumps      each path is made {made} times more, in bumped markets, for Greeks")
    if "matrix" in found:
        show(f"  matrix     {found['matrix']}")
    if found["seconds"] is not None:
        at = f"{seconds_in_words(found)} at {found['seconds_at']}"
        evenly = f" for each of {processes} processes, if what they exchange takes no time" * (processes > 1)
        show(f"  time       {at}{evenly}, after some seconds to start")
    elif unknown := _unforeseen(loaded.model, name):
        show(f"  time       not known before: {unknown}")
    of_each = " of each process" * (processes > 1)
    show(f"  memory     {with_prefix(found['device_bytes'], 'B')} on the device{of_each}")
    packed = "" if loaded.model.output.compression == "none" else "at most "
    results, checkpoint = (with_prefix(found[key], "B") for key in ("disk_bytes", "checkpoint_bytes"))
    kept = f", and two checkpoints of up to {checkpoint}" if found["steps"] else ""
    show(f"  disk       {packed}{results} in {directory / 'results.h5'}{kept}")
    for text in found["warnings"]:
        show(f"  warning    {text}")
    if found["disk_bytes"] > found["disk_free_bytes"]:
        show(f"  warning    the disk has {with_prefix(found['disk_free_bytes'], 'B')} free: the run would not begin")


def repair(directory: RunPath, as_json: Json = False) -> None:
    """Make the results of an interrupted run readable again, as of its newest checkpoint, without continuing it.

    `run` and `resume` do that by themselves; this is for who wants to look at the results first. All rows are read, and
    those that are not as they were written are named.
    """
    from simsuite.repairing import repair as put_right

    run = run_directory(directory)
    found = put_right(run)
    if found["restored"]:
        say(f"{run.results} was damaged; it is restored to what it was at the newest checkpoint")
    report(run, found, as_json)


def report(run: RunDirectory, found: Mapping[str, Any], as_json: bool) -> None:
    """Print what `inspection.look_through` has found of a run. Raises VerificationFailure where rows of its results, or
    its newest checkpoint, are not what was written."""
    if as_json:
        print_json(found)
    else:
        rows = ", ".join(f"{counted(n, 'row')} along {dim}" for dim, n in found["rows"].items())
        show(f"{run.results}: {rows or 'no rows with digests'}, {len(found['damaged'])} of them damaged")
        for row in found["damaged"][:SHOWN]:
            at = "" if row["at"] is None else f" at {row['coordinate']} = {row['at']:.9g}"
            show(f"  {row['variable']}{at} changed since it was written")
        if found["checkpoint"] is not None:
            at = found["checkpoint"].get("stage", f"step {found['checkpoint']['step']}")
            show(f"  checkpoint at {at} is whole")
    if found["damaged"]:
        rows = counted(len(found["damaged"]), "damaged row")
        raise VerificationFailure(f"{run.results} has {rows}; bring the file back from a copy, or ", AFRESH)
    if found["note"]:
        raise VerificationFailure(f"in {run.path} {found['note']}; the run would go on from the one before")


def _start(model: Any) -> str | None:
    """The state at time 0, in words, where the scenario has no [initial] and the temperature is 0 by default; else
    None."""
    if model.solver != "heat" or model.time.steady or model.manufactured or "initial" in model.model_fields_set:
        return None
    return f"at 0 {model.degrees} everywhere: there is no [initial]"


def _unforeseen(model: Any, device: str) -> str | None:
    """Why nobody can tell how long a run takes, where it goes on until an error is small enough, or where Python runs
    its kernels."""
    if device == "cudasim":
        return (
            "the simulator runs each thread of a GPU in Python, thousands of times slower than a CPU; take tiny sizes"
        )
    if model.solver != "gbm" or not model.paths.target_standard_error:
        return None
    if model.paths.multilevel:
        return "levels and paths are as many as paths.target_standard_error turns out to need"
    return f"paths are made until paths.target_standard_error is reached, {model.paths.count} at most"


def _unless(model: Any, found: Mapping[str, Any]) -> str:
    """Under which condition a run will use another stepper than the one foretold, in words. That is known only once the
    run has begun: powers and modes of the matrix, unless the scenario asks for them, are used only if they are accurate
    enough."""
    if model.solver != "linear" or model.time.method != "auto" or found["stepper"] == "step":
        return ""
    return f", unless they lose more than {model.tolerance:g} of the state, as the run finds out first"


def seconds_in_words(found: Mapping[str, Any]) -> str:
    """The time that the run will take, in words, for as many steps as are likely."""
    seconds = found["seconds"]
    if not found["adaptive"]:
        return f"about {duration(seconds)}" if seconds >= 0.1 else "less than 0.1 s"
    each, (least, most) = seconds / found["steps"], found["steps_range"]
    if most is None:
        return f"some {duration(each * least)} or much longer"
    return f"some {duration(each * least)} to {duration(each * most)}" if each * most >= 0.1 else "less than 0.1 s"


def _steps(found: Mapping[str, Any]) -> str:
    if not found["steps"]:
        return "none"
    if found["adaptive"]:
        unsure = " (that depends on temperatures)" if found["steps_range"][1] is None else ""
        return f"{about(*found['steps_range'])}{unsure}, as long as the error in time allows"
    return steps_in_words(found["steps"], found["dt_range"], found["time_unit"])
