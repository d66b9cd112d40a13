"""`simsuite run` and `simsuite resume`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import duration, print_json, say, wants_colour, with_prefix
from simsuite.cli.progress import reporter
from simsuite.stopping import Stopping

if TYPE_CHECKING:
    from simsuite.scenario import Scenario

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="The TOML file.", show_default=False)]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key; repeatable.")]
Directory = Annotated[Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where the run's files go.")]
Device = Annotated[
    str | None, typer.Option("--device", metavar="D", help="auto, cpu, cuda, cuda:1 or cudasim; overrides run.device.")
]
MaxMinutes = Annotated[
    float | None, typer.Option("--max-minutes", metavar="M", min=0.0, help="Checkpoint and stop (75) after this long.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress and no messages.")]


def load_scenario(path: Path, set: list[str] | None, directory: Path | None, device: str | None) -> Scenario:
    """The scenario with the command line's overrides."""
    from simsuite.scenario import load

    overrides = list(set or [])
    if directory is not None:
        overrides.append(f"output.directory={json.dumps(str(directory))}")
    if device is not None:
        overrides.append(f"run.device={json.dumps(device)}")
    return load(path, overrides, colour=wants_colour())


def run(
    scenario: ScenarioFile,
    set: Set = None,
    output: Directory = None,
    device: Device = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard what an earlier run left in the directory.")] = False,
    max_minutes: MaxMinutes = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario, or continue its interrupted run."""
    from simsuite.assembly import default_directory

    loaded = load_scenario(scenario, set, output, device)
    execute(loaded, default_directory(loaded), fresh, max_minutes, as_json, quiet)


def resume(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The run's directory.", show_default=False)],
    paths: Annotated[
        int | None,
        typer.Option("--paths", metavar="N", help="Monte Carlo: extend the finished run to so many paths in all."),
    ] = None,
    max_minutes: MaxMinutes = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Continue the interrupted run in a directory, without its scenario file; or extend a finished one."""
    from simsuite.assembly import extension_of_run, scenario_of_run

    if paths is None:
        execute(scenario_of_run(directory), directory, False, max_minutes, as_json, quiet)
    else:
        scenario, before = extension_of_run(directory, paths)
        execute(scenario, directory, False, max_minutes, as_json, quiet, before)


def execute(
    scenario: Scenario,
    directory: Path,
    fresh: bool,
    max_minutes: float | None,
    as_json: bool,
    quiet: bool,
    extends: Scenario | None = None,
) -> None:
    from simsuite.execution import Execution
    from simsuite.io.directory import RunDirectory

    with Stopping(max_minutes) as stopping:
        summary = Execution(scenario, RunDirectory(directory), reporter(quiet), stopping, fresh, extends).run()
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)
    if summary["status"] != "complete" and not quiet:
        say(f"stopped early ({summary.get('stopped_by')}) with a checkpoint; run the same command to continue")
    raise typer.Exit(exit_code(summary))


def exit_code(summary: dict[str, Any]) -> int:
    """0 for a complete run, 130 after Ctrl-C, 75 otherwise."""
    if summary["status"] == "complete":
        return 0
    return 130 if summary.get("stopped_by") == "SIGINT" else 75


def print_summary(summary: dict[str, Any]) -> None:
    """For people; the same facts as the JSON object."""
    method = ", ".join(
        str(summary[key]) for key in ("stepper", "method", "scheme", "kernel", "precision") if key in summary
    )
    reached = f"{summary['steps']} steps to t = {summary['time']:.6g}"
    if summary.get("stepper") == "steady":
        reached = "steady state"
    print(f"{summary['solver']} {summary['status']}: {reached}")
    print(f"  device     {summary['device']} ({summary['device_name']}), {method}")
    if "stepper_reason" in summary:
        print(f"  stepper    {summary['stepper']}: {summary['stepper_reason']}")
    if "kernel_note" in summary:
        print(f"  kernel     {summary['kernel_note']}")
    took = f"{duration(summary['wall_seconds'])}, of which {duration(summary['compile_seconds'])} to start"
    rate = f", then {with_prefix(summary['rate'], summary['rate_unit'])}" if summary["rate"] else ""
    print(f"  took       {took}{rate}")
    results = dict(summary["results"])
    if summary["solver"] == "gbm":
        _print_options(results.pop("options"), list(results["assets"]))
    _print_table(results, "  ")
    print(f"  results    {Path(summary['directory']) / 'results.h5'}")


def _print_options(options: dict[str, Any], assets: list[str]) -> None:
    from simsuite.solvers.gbm.lines import option_lines

    print("  options, in units of price: value ± standard error")
    for name, option in options.items():
        print(f"    {name}")
        for line in option_lines(option, assets):
            print(f"      {line}")


def _print_table(values: dict[str, Any], indent: str) -> None:
    for key, value in values.items():
        if isinstance(value, dict):
            if value:
                print(f"{indent}{key}")
                _print_table(value, indent + "  ")
        elif isinstance(value, float):
            print(f"{indent}{key:<{max(1, 22 - len(indent))}} {value:.10g}")
        elif isinstance(value, list) and value and all(v is None or isinstance(v, float) for v in value):
            print(f"{indent}{key:<{max(1, 22 - len(indent))}} {_listed(value)}")
        elif not isinstance(value, list):
            print(f"{indent}{key:<{max(1, 22 - len(indent))}} {value}")


def _listed(values: list[float | None]) -> str:
    """All of a few numbers, the first of many."""
    shown = values if len(values) <= 12 else values[:6]
    rest = f", .. ({len(values)} numbers)" if len(values) > len(shown) else ""
    return ", ".join("none" if v is None else f"{v:.10g}" for v in shown) + rest
