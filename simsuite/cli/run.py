"""`simsuite run` and `simsuite resume`."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import one_of, print_json, say, wants_colour
from simsuite.cli.profile import new_profiler, tell_profile
from simsuite.cli.progress import reporter
from simsuite.cli.summary import print_summary
from simsuite.errors import UsageError
from simsuite.parallel.launch import rank_and_size
from simsuite.parallel.launcher import ALL_GPUS, EACH_ITS_OWN, run_in
from simsuite.stopping import Stopping

if TYPE_CHECKING:
    from simsuite.io.directory import RunDirectory
    from simsuite.parallel.session import Session
    from simsuite.scenario import Scenario


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="The TOML file.", show_default=False)]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key; repeatable.")]
Directory = Annotated[Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where the run's files go.")]
Device = Annotated[
    str | None, typer.Option("--device", metavar="D", help="auto, cpu, cuda, cuda:1 or cudasim; overrides run.device.")
]
DeviceOrAll = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="D",
        help="auto, cpu, cuda, cuda:1 or cudasim; overrides run.device. cuda:all: a process for each GPU.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", min=1, help="Threads of a CPU that the run may take; overrides run.threads."
    ),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option("--max-minutes", metavar="M", min=0.0, help="Checkpoint and stop (75) after this long."),
]
Asynchronous = Annotated[
    Switch,
    typer.Option(
        "--async",
        parser=one_of(Switch),
        metavar="on|off",
        help="Whether steps go on while results are written; off shows what that gains.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors and warnings only, unless --json.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="All numbers, and why the stepper was chosen.")]
RunPath = Annotated[
    Path, typer.Argument(metavar="DIR", help="The run's directory, or a file in it.", show_default=False)
]


def load_scenario(
    path: Path, set: list[str] | None, directory: Path | None, device: str | None, threads: int | None = None
) -> Scenario:
    """The scenario with the command line's overrides. Raises UsageError for the directory of a run."""
    from simsuite.io.directory import RunDirectory
    from simsuite.scenario import load

    if path.is_dir() and RunDirectory(path).exists:
        raise UsageError(f"{path} is the directory of a run, not a scenario: `simsuite resume {path}` continues it")
    options = {}
    if directory is not None:
        options[f"output.directory={json.dumps(str(directory))}"] = f"--output {directory}"
    if device is not None:
        options[f"run.device={json.dumps(device)}"] = f"--device {device}"
    overrides = [*(set or []), *options, *_with_threads(threads)]
    return load(path, overrides, colour=wants_colour(), options=options)


def _with_threads(threads: int | None) -> list[str]:
    return [] if threads is None else [f"run.threads={threads}"]


def run_directory(path: Path) -> RunDirectory:
    """The directory of the run that a path names: see `RunDirectory.of`. Raises UsageError for a file of something
    else."""
    from simsuite.inspection import runs_nearby
    from simsuite.io.directory import RunDirectory

    found = RunDirectory.of(path)
    if not path.exists():
        kind = "file" if path.suffix in (".toml", ".h5") else "directory"
        raise UsageError(f"{path} holds no run: there is no such {kind}{runs_nearby(found.path)}")
    if path.is_file() and path.suffix == ".toml" and not (found.exists or found.scenario.exists()):
        first = f"`simsuite run {path}` first, or name the directory of its run"
        raise UsageError(f"{found.path} {found.without()}{runs_nearby(found.path)}\n  = help: {first}")
    if path.is_file() and path.suffix != ".toml" and not found.exists:
        raise UsageError(f"{path} is not a file of a run{runs_nearby(found.path)}")
    return found


def run(
    scenario: ScenarioFile,
    set: Set = None,
    output: Directory = None,
    device: DeviceOrAll = None,
    threads: Threads = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard what an earlier run left in the directory.")] = False,
    max_minutes: MaxMinutes = None,
    asynchronous: Asynchronous = Switch.ON,
    from_checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--from-checkpoint",
            metavar="DIR",
            help="Begin, at time 0, with the last good state of another run: with another dt after NaN, or new data.",
        ),
    ] = None,
    extend: Annotated[
        bool,
        typer.Option("--extend", help="Go on with the run there to this scenario's later end (heat, linear)."),
    ] = False,
    profile: Annotated[
        bool,
        typer.Option("--profile", help="Write timeline.json and timeline.png: what computes, copies and writes when."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run a scenario, or continue its interrupted run."""
    from simsuite.assembly import default_directory
    from simsuite.parallel.session import Session

    if extend and (fresh or from_checkpoint is not None):
        raise UsageError("--extend goes on with a run: give neither --fresh nor --from-checkpoint")
    if device == ALL_GPUS:
        device = EACH_ITS_OWN
        if rank_and_size()[1] == 1 and (code := _on_all_gpus()) is not None:
            raise typer.Exit(code)
    with Session() as session:
        loaded = load_scenario(scenario, set, output, device, threads)
        if from_checkpoint is not None:
            begin = session.from_first(lambda: _beginning_with(run_directory(from_checkpoint).path, loaded, fresh))
            loaded = load_scenario(scenario, [*(set or []), begin], output, device, threads)
        execute(
            loaded,
            default_directory(loaded),
            fresh,
            max_minutes,
            as_json,
            quiet,
            session,
            verbose=verbose,
            asynchronous=asynchronous,
            profile=profile,
            longer=extend,
        )


def _on_all_gpus() -> int | None:
    """Run this command in a process for each GPU of this machine, and return its exit code; None if there is only one,
    which needs no more than this process. Raises DeviceError where there is none."""
    from simsuite.backends.cuda import count_gpus

    if (gpus := count_gpus()) == 1:
        return None
    words = [EACH_ITS_OWN.join(word.rsplit(ALL_GPUS, 1)) if word.endswith(ALL_GPUS) else word for word in sys.argv[1:]]
    say(f"starting {gpus} processes, one for each GPU")
    return run_in(gpus, words)


def _beginning_with(run: Path, scenario: Scenario, fresh: bool) -> str:
    """The override by which a scenario begins with the last good state of a run."""
    from simsuite.assembly import default_directory
    from simsuite.continuation import last_state, store
    from simsuite.scenario.moving import moving

    directory = default_directory(scenario)
    if directory.resolve() == run.resolve():
        raise UsageError(f"{directory} is the run itself\n  = help: -o DIR writes the new run elsewhere")
    state = last_state(run, scenario)
    begin = store(state, directory, scenario.base, fresh)
    say(f"time 0 is {state.at} of {run}")
    if late := moving(scenario.model):
        depend = f"{', '.join(late)} depend{'s' * (len(late) == 1)} on t, which begins again at 0"
        shift = f"`t + {state.time:.9g}` in place of t goes on from there"
        say(f"warning: {depend}, while the state is of {state.at}: {shift}")
    return begin


def resume(
    directory: RunPath,
    paths: Annotated[
        int | None,
        typer.Option("--paths", metavar="N", help="Monte Carlo: extend the finished run to so many paths in all."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="T", help='heat, linear: go on to this later end, s or with a unit: "2 min".'),
    ] = None,
    threads: Threads = None,
    max_minutes: MaxMinutes = None,
    asynchronous: Asynchronous = Switch.ON,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Continue the interrupted run in a directory, without its scenario file; or extend a finished one."""
    from simsuite.assembly import extension_of_run, scenario_of_run, target_reached
    from simsuite.parallel.session import Session

    with Session() as session:
        directory = run_directory(directory).path
        before = None
        if end is not None:
            from simsuite.running.lengthening import to_later_end
            from simsuite.scenario.units import time_from

            if paths is not None:
                raise UsageError("--paths is of Monte Carlo runs, --end of others: give one of them")
            until = time_from(end)
            if until <= 0:
                raise UsageError(f"--end takes a time above 0, not {end}")
            scenario = to_later_end(directory, until, _with_threads(threads))
        elif paths is None:
            scenario = scenario_of_run(directory, _with_threads(threads))
        else:
            scenario, before = extension_of_run(directory, paths, _with_threads(threads))
            note = None if before is None else target_reached(directory, before.model.paths.count)
            if note is not None and not quiet:
                say(note)
        execute(
            scenario,
            directory,
            False,
            max_minutes,
            as_json,
            quiet,
            session,
            before,
            verbose,
            asynchronous,
            longer=end is not None,
        )


def execute(
    scenario: Scenario,
    directory: Path,
    fresh: bool,
    max_minutes: float | None,
    as_json: bool,
    quiet: bool,
    session: Session,
    extends: Scenario | None = None,
    verbose: bool = False,
    asynchronous: Switch = Switch.ON,
    profile: bool = False,
    longer: bool = False,
) -> None:
    from simsuite.execution import Execution
    from simsuite.io.directory import RunDirectory

    watched = new_profiler() if profile else None
    with Stopping(max_minutes, last=True) as stopping:
        session.take_part(scenario, stopping)
        at_once = asynchronous is Switch.ON
        files = RunDirectory(directory)
        run = Execution(scenario, files, reporter(quiet), stopping, fresh, extends, at_once, longer, crew=session.crew)
        if watched is not None:
            run.profiler = watched
        summary = run.run()
        if watched is not None:
            tell_profile(watched, directory, summary)
        if as_json:
            print_json(summary)
        elif not quiet:
            print_summary(summary, verbose)
        if summary["status"] != "complete" and not quiet:
            say(f"stopped early ({summary.get('stopped_by')}) with a checkpoint; run the same command to continue")
    raise typer.Exit(exit_code(summary))


def exit_code(summary: dict[str, Any]) -> int:
    """0 for a complete run, 130 after Ctrl-C, 75 otherwise."""
    if summary["status"] == "complete":
        return 0
    return 130 if summary.get("stopped_by") == "SIGINT" else 75
