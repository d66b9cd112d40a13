"""`simsuite sweep`: runs of one scenario that differ in the values of some keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import print_json, say, show
from simsuite.cli.run import Device, Json, Quiet, Set, load_scenario
from simsuite.errors import SimsuiteError, UsageError
from simsuite.stopping import Stopping
from simsuite.words import counted, duration, printable, with_prefix

if TYPE_CHECKING:
    from simsuite.core import Problem
    from simsuite.scenario import Scenario
    from simsuite.sweeps.directory import Ended
    from simsuite.sweeps.sweep import Sweep

_MOST = 10_000  # members, unless --max-runs says otherwise
_ROWS, _COLUMNS = 40, 6  # of the table that is printed


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
    set: Set = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where the sweep goes (runs/NAME_sweep).")
    ] = None,
    device: Device = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="Members at a time (default: cores, or one on a GPU)."),
    ] = None,
    most: Annotated[int, typer.Option("--max-runs", metavar="N", min=1, help="The most members.")] = _MOST,
    retry: Annotated[bool, typer.Option("--retry", help="Run members that failed again.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the sweep that is in the directory.")] = False,
    as_json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print all results as comma-separated values.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario for many values of some keys, side by side; the same command continues a stopped sweep."""
    from simsuite.cli.table import units
    from simsuite.sweeps.plan import make_plan, parse_axis
    from simsuite.sweeps.sweep import Sweep

    plan = make_plan([parse_axis(text) for text in vary or []], paired, random, latin, seed, most)
    overrides = [*(set or []), *([f"run.device={device}"] if device else [])]
    if any(key == "output.directory" for key in plan.keys):
        raise UsageError("each member has a directory of its own: give -o DIR for the sweep")
    load_scenario(scenario, overrides, None, None)  # mistakes in the file come before those of members
    directory = output or Path("runs") / f"{scenario.stem}_sweep"
    with Stopping(last=True) as stopping:
        whole = Sweep(scenario, plan, directory, overrides, workers, retry, fresh, stopped=stopping, units=units)
        if not quiet:
            whole.begins = _begins(whole)
            whole.told = _tells(whole)
        complete = whole.run()
        failed = [each for each in whole.ended.values() if each.status == "failed"]
        if as_json:
            print_json(_summary(whole, complete, failed))
        elif csv:
            _print_csv(whole)
        elif not quiet:
            _print(whole, failed)
        if not complete:
            if not quiet:
                say("stopped early; run the same command to continue")
            raise typer.Exit(130 if stopping() == "SIGINT" else 75)
    if failed:
        raise SimsuiteError(f"{counted(len(failed), 'member')} of {len(plan.members)} failed; --retry runs them again")


def _begins(whole: Sweep) -> Callable[[int, int, Scenario, Problem], None]:
    def tell(left: int, workers: int, first: Scenario, problem: Problem) -> None:
        done = len(whole.plan.members) - left
        before = f", {done} done before" if done else ""
        say(f"sweep: {counted(len(whole.plan.members), 'member')}{before}, {workers} at a time, in {whole.directory}")
        say(_forecast(whole, left, first, problem))

    return tell


def _forecast(whole: Sweep, left: int, first: Scenario, problem: Problem) -> str:
    """What the first member takes, and what those that are left take on the disk."""
    from simsuite.assembly import device_of, disk_bytes, estimate, name_of
    from simsuite.cli.check import seconds_in_words
    from simsuite.io.disk import free_bytes

    found = estimate(problem, name_of(device_of(first), first))
    seconds = "a time that is not known before" if found["seconds"] is None else seconds_in_words(found)
    size, free = left * disk_bytes(first, problem), free_bytes(whole.directory)
    room = f", of which only {with_prefix(free, 'B')} are free" if size > free else ""
    return f"the first takes {seconds}, after some seconds to start; all {with_prefix(size, 'B')} on the disk{room}"


def _tells(whole: Sweep) -> Callable[[Ended, int], None]:
    total = len(whole.plan.members)

    def tell(ended: Ended, count: int) -> None:
        from simsuite.cli.numbers import number
        from simsuite.sweeps.table import main_numbers

        if ended.status == "failed":
            result = f"failed: {ended.error}"
        else:
            names = main_numbers(whole.solver, list(ended.results))[:3]
            shown = ((name, ended.results[name]) for name in names)
            result = "  ".join(f"{name} {'?' if value is None else number(value)}" for name, value in shown)
        say(
            f"{count:>{len(str(total))}}/{total}  {whole.plan.words(ended.member)}  {result}  {duration(ended.seconds)}"
        )

    return tell


def _summary(whole: Sweep, complete: bool, failed: Sequence[Ended]) -> Mapping[str, Any]:
    return {
        "status": "complete" if complete else "stopped",
        "directory": str(whole.directory),
        "results": str(whole.directory / "sweep.h5"),
        "keys": list(whole.plan.keys),
        "failed": len(failed),
        "members": [
            {
                "member": i,
                "values": whole.plan.settings(i),
                "status": each.status,
                **({"error": each.error} if each.error else {"results": each.results}),
            }
            for i, each in sorted(whole.ended.items())
        ],
    }


def _columns(whole: Sweep) -> list[str]:
    from simsuite.sweeps.table import main_numbers

    names = list(dict.fromkeys(name for each in whole.ended.values() for name in each.results))
    return main_numbers(whole.solver, names)


def _print(whole: Sweep, failed: Sequence[Ended]) -> None:
    """The table of members, as much as fits on a screen."""
    from simsuite.cli.numbers import number
    from simsuite.sweeps.plan import value_in_words

    columns = _columns(whole)[:_COLUMNS]
    rows = [[*whole.plan.keys, *columns]]
    for i, each in sorted(whole.ended.items())[:_ROWS]:
        values = [value_in_words(value) for value in whole.plan.members[i]]
        results = [each.results.get(name) for name in columns]
        rows.append([*values, *("failed" if each.status == "failed" else _written(value, number) for value in results)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        show("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
    if len(whole.ended) > _ROWS:
        show(f".. and {len(whole.ended) - _ROWS} more: --csv prints all")
    show(f"results    {whole.directory / 'sweep.h5'}")


def _written(value: float | None, number: Callable[[float], str]) -> str:
    return "?" if value is None else number(value)


def _print_csv(whole: Sweep) -> None:
    import csv
    import sys

    names = list(dict.fromkeys(name for each in whole.ended.values() for name in each.results))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["member", "status", *whole.plan.keys, *names])
    for i, each in sorted(whole.ended.items()):
        values = [printable(value) if isinstance(value, str) else value for value in whole.plan.members[i]]
        writer.writerow([i, each.status, *values, *("" if (v := each.results.get(n)) is None else v for n in names)])
