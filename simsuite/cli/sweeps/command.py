"""`simsuite sweep`: runs of one scenario that differ in the values of some keys."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import one_of, print_json, say
from simsuite.cli.run import Device, Json, Quiet, Set, load_scenario
from simsuite.errors import SimsuiteError, UsageError
from simsuite.stopping import Stopping
from simsuite.words import counted


class Frames(StrEnum):
    LAST = "last"
    ALL = "all"


_MOST = 10_000  # members, unless --max-runs says otherwise


def sweep(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="The TOML file.", show_default=False)],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=VALUES",
            help="A key and its values: 5,10,20, linspace(1,5,9), geomspace(1,100,3); all combinations are run. "
            "Repeatable.",
        ),
    ] = None,
    paired: Annotated[
        bool, typer.Option("--zip", help="The first values of all keys, the second ones, .. in place of combinations.")
    ] = False,
    random: Annotated[
        int | None,
        typer.Option(
            "--random", metavar="N", min=1, help="N samples: values are uniform(a,b), loguniform(a,b), normal(m,s)."
        ),
    ] = None,
    latin: Annotated[bool, typer.Option("--latin", help="Draw the samples by a Latin hypercube.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the samples.")] = 1,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            metavar="RESULT",
            help="Look for the value of the one key, between the least and the largest given, at which this result "
            "(a name of run --json, as max or options.call.price) is the target: by Brent's method, run by run.",
        ),
    ] = None,
    target: Annotated[
        float | None, typer.Option("--target", metavar="X", help="What the result of --goal is to be.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="X",
            help="How close it is to come (default: a millionth of the difference between the results at both ends).",
        ),
    ] = None,
    set: Set = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Where the sweep goes (runs/NAME_sweep, with --goal runs/NAME_goal)."
        ),
    ] = None,
    device: Device = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="Members at a time (default: cores, or one on a GPU)."),
    ] = None,
    most: Annotated[int, typer.Option("--max-runs", metavar="N", min=1, help="The most members.")] = _MOST,
    members: Annotated[
        str | None,
        typer.Option(
            "--members",
            metavar="A-B",
            help="Run these members only, counted from 0; others may be run by other processes at the same time. The "
            "sweep without this option then puts all results together.",
        ),
    ] = None,
    frames: Annotated[
        Frames | None,
        typer.Option(
            "--frames",
            parser=one_of(Frames),
            metavar="last|all",
            help="Store the last frames of all members in sweep.h5 as well, or all frames.",
        ),
    ] = None,
    apart: Annotated[
        bool,
        typer.Option("--apart", help="Give each member a run of its own, although some could share one."),
    ] = False,
    slurm: Annotated[
        Path | None,
        typer.Option(
            "--slurm", metavar="FILE", help="Run nothing, but write a script for sbatch, with a task for each member."
        ),
    ] = None,
    per_task: Annotated[
        int | None, typer.Option("--per-task", metavar="N", min=1, help="Members of each task of --slurm (default 1).")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run members that failed again.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the sweep that is in the directory.")] = False,
    as_json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print all results as comma-separated values.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario for many values of some keys, side by side; the same command continues a stopped sweep."""
    from simsuite.cli.sweeps import goal as goals
    from simsuite.cli.sweeps import job
    from simsuite.cli.sweeps.progress import begins, searches, tells, warns
    from simsuite.cli.sweeps.tables import print_csv, print_table, summary
    from simsuite.summaries.units import units
    from simsuite.sweeps.plan import make_plan, members_of, parse_axis
    from simsuite.sweeps.sweep import Sweep

    axes = [parse_axis(text) for text in vary or []]
    points: list[float] = []
    if goal is None:
        _need(target is None and tolerance is None, "--target and --tolerance say what --goal RESULT is to be")
        plan = make_plan(axes, paired, random, latin, seed, most)
    else:
        others = {"--zip": paired, "--random": random, "--latin": latin, "--members": members, "--slurm": slurm}
        wrong = [name for name, value in others.items() if value] + (["--workers"] if (workers or 1) > 1 else [])
        _need(not wrong, f"--goal makes one run after another: leave out {' and '.join(wrong)}")
        plan, points = goals.plan_and_points(axes)
    _need(slurm is not None or per_task is None, "--per-task says how many members each task of --slurm FILE runs")
    _need(slurm is None or not (fresh or members), "--slurm goes with neither --fresh nor --members")
    overrides = [*(set or []), *([f"run.device={device}"] if device else [])]
    if any(key == "output.directory" for key in plan.keys):
        raise UsageError("each member has a directory of its own: give -o DIR for the sweep")
    load_scenario(scenario, set, None, device)  # mistakes in the file come before those of members
    directory = output or Path("runs") / f"{scenario.stem}_{'sweep' if goal is None else 'goal'}"
    part = None if members is None else members_of(members)
    with Stopping(last=True) as stopping:
        whole = Sweep(scenario, plan, directory, overrides, workers, retry, fresh, stopped=stopping, units=units)
        whole.part, whole.apart = part, apart
        whole.frames = None if frames is None else frames.value
        whole.warned = warns(whole)
        if slurm is not None:
            asked = job.Asked(scenario, vary or [], paired, random, latin, seed, set or [], device, workers, most)
            asked = replace(asked, frames=whole.frames, apart=apart)
            job.write(slurm, asked, whole, per_task or 1)
            return
        if not quiet:
            whole.begins = begins(whole) if goal is None else searches(whole)
        if goal is not None:
            search = goals.search(whole, goal, target, tolerance, points, quiet)
            goals.seek(search, as_json, csv, quiet, stopping)
            return
        if not quiet:
            whole.told = tells(whole)
        complete = whole.run()
        if whole.left_out:
            names = " and ".join(f"`{name}`" for name in whole.left_out)
            say(f"warning: frames of {names} have other shapes in other members, so that sweep.h5 is without them")
        failed = [each for each in whole.ended.values() if each.status == "failed"]
        if as_json:
            print_json(summary(whole, complete, failed))
        elif csv:
            print_csv(whole)
        elif not quiet:
            print_table(whole, failed)
        if not complete:
            if not quiet:
                say("stopped early; run the same command to continue")
            raise typer.Exit(130 if stopping() == "SIGINT" else 75)
    if failed:
        total = len(plan.members) if part is None else part[1] - part[0] + 1
        raise SimsuiteError(f"{counted(len(failed), 'member')} of {total} failed; --retry runs them again")


def _need(fits: bool, otherwise: str) -> None:
    """Raises UsageError, with what is wrong, unless options fit together."""
    if not fits:
        raise UsageError(otherwise)
