"""`simsuite info`: what a directory holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from simsuite.cli.console import print_json
from simsuite.cli.run import Json, print_summary
from simsuite.errors import UsageError


def info(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The run's directory.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Say how far the run in a directory got and what its files hold."""
    from simsuite.io.directory import RunDirectory

    run = RunDirectory(directory)
    if not run.results.exists():
        raise UsageError(f"{directory} holds no run (no results.h5 in it)")
    found = describe(run)
    summary = run.read_summary()
    if as_json:
        print_json({**found, "summary": summary})
        return
    print(f"{directory}: {found['solver']} run, {found['status']}, on {found['device']} ({found['device_name']})")
    for name, shape in found["datasets"].items():
        print(f"  {name:<24} {' x '.join(map(str, shape)) or 'scalar'}")
    if found["checkpoint_step"] is not None:
        print(f"  checkpoint at step {found['checkpoint_step']}")
    if summary is not None:
        print_summary(summary)
    elif "stepper_reason" in found:
        print(f"  stepper    {found['stepper']}: {found['stepper_reason']}")


def describe(run: Any) -> dict[str, Any]:
    """Attributes and shapes of the result file, and the step of the newest checkpoint."""
    import h5py

    from simsuite.io.checkpoint import read_checkpoint
    from simsuite.io.results import open_results

    def text(value: Any) -> str:
        return value.decode() if isinstance(value, bytes) else str(value)

    with open_results(run.results) as file:
        names = ("solver", "status", "device", "device_name", "title", "stepper", "stepper_reason")
        attributes = {name: text(file.attrs[name]) for name in names if name in file.attrs}
        datasets = {name: list(item.shape) for name, item in file.items() if isinstance(item, h5py.Dataset)}
    checkpoint = read_checkpoint(run.path)
    return {
        "directory": str(run.path),
        **attributes,
        "datasets": datasets,
        "checkpoint_step": None if checkpoint is None else checkpoint.snapshot.step,
    }
