"""`simsuite export`: the results of a run, or of a sweep, in files for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsuite.cli.console import one_of, print_json, say
from simsuite.cli.run import Json, run_directory
from simsuite.errors import UsageError
from simsuite.words import counted

if TYPE_CHECKING:
    from simsuite.io.directory import RunDirectory

_SHOWN = 12  # how many files are named


class Format(StrEnum):
    CSV = "csv"
    NETCDF = "netcdf"
    ZARR = "zarr"
    VTK = "vtk"
    PARQUET = "parquet"


def export(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The directory of a run or of a sweep, or a file in it.", show_default=False
        ),
    ],
    to: Annotated[
        Format,
        typer.Option(
            "--to",
            parser=one_of(Format),
            metavar="FORMAT",
            help="csv, parquet: tables; netcdf, zarr: arrays, for xarray; vtk: a plate's frames, for ParaView.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE_OR_DIR", help="Where the files go; by default DIR/export."),
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            "--what", metavar="NAME,..", help="Variables or tables; by default all, in tables without a plate's fields."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the results of a run, as far as it got, or of a sweep, for other programs: tables, arrays or files for
    ParaView."""
    from simsuite.exporting import export as write
    from simsuite.exporting import is_sweep

    where = directory.parent if directory.is_file() else directory
    if not is_sweep(where):
        run = existing(directory)
        if not run.results.exists():
            raise UsageError(f"the run in {run.path} has no results yet")
        where = run.path
    names = None if what is None else [name.strip() for name in what.split(",") if name.strip()]
    written = write(where, to.value, output, names, force)
    if as_json:
        print_json({"status": "written", "files": [str(path) for path in written]})
        return
    for path in written[:_SHOWN]:
        say(f"wrote {path}")
    if len(written) > _SHOWN:
        say(f"wrote {counted(len(written) - _SHOWN, 'more file')}, the last {written[-1]}")


def existing(directory: Path) -> RunDirectory:
    """The directory of the run that a path names. Raises UsageError where there is none."""
    from simsuite.inspection import runs_nearby

    run = run_directory(directory)
    if not run.exists:
        raise UsageError(f"{run.path} {run.without()}{runs_nearby(run.path)}")
    return run
