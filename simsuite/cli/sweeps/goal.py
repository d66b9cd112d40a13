"""What `simsuite sweep --goal` says, and prints of what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from simsuite.cli.console import print_json, say, show
from simsuite.cli.sweeps.tables import print_csv, print_rows
from simsuite.errors import UsageError
from simsuite.stopping import Stopping
from simsuite.words import counted, measured

if TYPE_CHECKING:
    from simsuite.sweeps.goal import Search, Solution, Trial
    from simsuite.sweeps.plan import Axis, Plan
    from simsuite.sweeps.sweep import Sweep


def plan_and_points(axes: Sequence[Axis]) -> tuple[Plan, list[float]]:
    """The plan that a search begins with, and the values between which it goes. Raises UsageError."""
    from simsuite.sweeps.goal import Search, points_of

    points = points_of(axes)
    return Search.plan_of(axes[0].key, points), points


def search(
    whole: Sweep, name: str, target: float | None, tolerance: float | None, points: Sequence[float], quiet: bool
) -> Search:
    """The search that options ask for. Raises UsageError."""
    from simsuite.sweeps.goal import Goal, Search

    if target is None:
        raise UsageError(f"--target X says what `{name}` is to be")
    found = Search(whole, Goal(name, target, tolerance), points)
    if not quiet:
        found.told = _tells(found)
    return found


def _tells(search: Search) -> Callable[[Trial], None]:
    """Says a run in a line, whether it was done before or now."""

    def tell(trial: Trial) -> None:
        from simsuite.summaries.numbers import number

        key = search.sweep.plan.keys[0]
        say(f"{len(search.trials):>2}  {key}={number(trial.value)}  {search.name} {number(trial.result)}")

    return tell


def seek(search: Search, as_json: bool, csv: bool, quiet: bool, stopping: Stopping) -> None:
    """Search, and print what was found. Raises the errors of the search, and typer.Exit where it was stopped."""
    found = search.run()
    if found is None:
        if as_json:
            print_json({"status": "stopped", "directory": str(search.sweep.directory), **_runs(search.trials)})
        elif not quiet:
            say("stopped early; run the same command to continue")
        raise typer.Exit(130 if stopping() == "SIGINT" else 75)
    if as_json:
        print_json(_summary(found, search))
    elif csv:
        print_csv(search.sweep)
    elif not quiet:
        _print(found, search)


def _runs(trials: Sequence[Trial]) -> Mapping[str, Any]:
    from dataclasses import asdict

    return {"runs": [asdict(trial) for trial in trials]}


def _summary(found: Solution, search: Search) -> Mapping[str, Any]:
    return {
        "status": "complete",
        "directory": str(search.sweep.directory),
        "results": str(search.sweep.directory / "sweep.h5"),
        "key": found.key,
        "goal": found.name,
        "unit": found.unit,
        "target": found.target,
        "tolerance": found.tolerance,
        "value": found.value,
        "result": found.result,
        "member": found.answer.member,
        "bracket": found.bracket,
        "slope": found.slope,
        "standard_error": found.standard_error,
        "value_standard_error": found.value_standard_error,
        **_runs(found.runs),
    }


def _print(found: Solution, search: Search) -> None:
    """The table of the runs and the answer."""
    from simsuite.summaries.numbers import number
    from simsuite.sweeps.goal import SAY_NOTHING

    with_errors = any(trial.standard_error is not None for trial in found.runs)
    rows = [["run", found.key, found.name, "less the target", *(["standard error"] if with_errors else [])]]
    for trial in found.runs:
        error = "?" if trial.standard_error is None else f"{trial.standard_error:.3g}"
        cells = [f"{trial.member:04}", number(trial.value), number(trial.result), f"{trial.difference:+.3g}"]
        rows.append([*cells, *([error] if with_errors else [])])
    print_rows(rows)
    unit = "" if found.unit in SAY_NOTHING else found.unit
    result, target = measured(number(found.result), unit), measured(number(found.target), unit)
    show(f"answer     {found.key} = {number(found.value)}, with which {found.name} is {result}; target {target}")
    low, high = found.bracket
    if low < high:
        show(f"bracket    {number(low)} to {number(high)}: between these runs the result passes the target")
    if found.value_standard_error is not None:
        show(
            f"error      the standard error of the result, {found.standard_error:.3g}, makes one of "
            f"{found.value_standard_error:.3g} in {found.key}"
        )
    runs = f"{counted(len(found.runs), 'run')} in {search.sweep.directory / 'members'}"
    show(f"results    {search.sweep.directory / 'sweep.h5'}, {runs}")
