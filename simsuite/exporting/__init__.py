"""Results in the formats of other programs: tables, arrays and pictures of cells, made from the result file of a run,
or of a sweep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.errors import PackageMissing, SimsuiteError, UsageError

if TYPE_CHECKING:
    import pandas

    from simsuite.exporting.contents import Contents
    from simsuite.exporting.placing import Write

SUFFIXES = {"csv": ".csv", "netcdf": ".nc", "zarr": ".zarr", "vtk": ".pvd", "parquet": ".parquet"}
_NEEDS = {  # packages, and the extra of simsuite that they come with
    "csv": ((), ""),
    "netcdf": (("h5netcdf",), "export"),
    "zarr": (("xarray", "zarr"), "export"),
    "vtk": (("vtk",), "vtk"),
    "parquet": (("pyarrow",), "export"),
}


def export(
    directory: Path,
    to: str,
    output: Path | None = None,
    what: Sequence[str] | None = None,
    force: bool = False,
    who: str = "export",
) -> list[Path]:
    """Write the results of the run in `directory`, as far as it got, or of the sweep, in another format. Returns what
    was written.

    to: one of `SUFFIXES`. output: a directory, or the name of a file with the suffix of the format where there is one
    file alone, or for vtk of the list of frames; default: `export` in the directory of the run. what: names of
    variables or tables; default: all but, in tables, the fields over a plate. force: replace files that are there.

    Raises UsageError for a format or names that are unknown, where there is no run, or files with these names;
    PackageMissing where a package is not installed; DiskError where the disk fails; SimsuiteError where the results are
    damaged.
    """
    from simsuite.exporting.placing import place

    if to not in SUFFIXES:
        raise UsageError(f"cannot export to {to!r}: the formats are {', '.join(SUFFIXES)}")
    PackageMissing.unless(*_NEEDS[to], f"{who} to {to}")
    with _contents(directory) as contents:
        where = directory / "export" if output is None else output
        named = output is not None and output.suffix.lower() == SUFFIXES[to] and not (to != "zarr" and output.is_dir())
        files = _files(contents, to, what, where.stem if named else contents.name)
        if named and to != "vtk":
            if len(files) > 1:
                raise UsageError(
                    f"{where} is one file, and these are {len(files)}: {', '.join(files)}; name a directory"
                )
            files = {where.name: next(iter(files.values()))}
        return place(where.parent if named else where, files, force)


def is_sweep(directory: Path) -> bool:
    """Whether a directory is that of a sweep, and not of a run."""
    return (directory / "sweep.json").is_file()


@contextlib.contextmanager
def _contents(directory: Path) -> Iterator[Contents]:
    """What the result file of the run, or of the sweep, in a directory holds. Raises UsageError where there is none,
    and SimsuiteError where it is damaged."""
    import h5py

    from simsuite.exporting.contents import Contents
    from simsuite.io.reading import DAMAGED, reading

    if not is_sweep(directory):
        with reading(directory / "results.h5") as file:
            yield Contents(directory, file)
        return
    path = directory / "sweep.h5"
    if not path.exists():
        raise UsageError(f"the sweep in {directory} has no results yet: its command, run again, puts them together")
    try:
        with h5py.File(path, "r") as file:
            contents = Contents(directory, file)
            yield Contents(directory, file, contents.variables["status"].dims)
    except DAMAGED as error:
        raise SimsuiteError(f"{path} cannot be read ({error}); the command of the sweep writes it again") from error


def frame(directory: Path, name: str | None, who: str) -> pandas.DataFrame:
    """A table of the run in `directory` for pandas, the main one by default. who: what needs pandas.

    Raises UsageError where there is no such table, or no run; PackageMissing where pandas is not installed;
    SimsuiteError where the results are damaged."""
    PackageMissing.unless(("pandas",), "export", who)
    from simsuite.exporting.contents import Contents
    from simsuite.exporting.frames import data_frame
    from simsuite.exporting.tables import tables_of
    from simsuite.io.reading import reading
    from simsuite.words import meant

    with reading(directory / "results.h5") as file:
        tables = tables_of(Contents(directory, file))
        if name is not None and name not in tables:
            raise UsageError(f"there is no table {name!r} in {directory}: {meant(name, list(tables))}")
        return data_frame(tables[name or next(iter(tables))])


def _files(contents: Contents, to: str, what: Sequence[str] | None, name: str) -> Mapping[str, Write]:
    """What writes each file, by its name."""
    from simsuite.exporting.tables import tables_of, variables_by_table

    chosen = contents.chosen(what, variables_by_table(contents))
    if to in ("csv", "parquet"):
        from simsuite.exporting.frames import write_parquet
        from simsuite.exporting.separated_values import write_csv

        write = write_csv if to == "csv" else write_parquet
        tables = {n: t for n, t in tables_of(contents, chosen).items() if what is not None or not t.is_field}
        if not tables:
            raise UsageError(f"there is no table of {', '.join(chosen)}")
        return {f"{each}{SUFFIXES[to]}": partial(write, table) for each, table in tables.items()}
    if to == "vtk":
        from simsuite.exporting.paraview import Plate

        plate = Plate(contents, chosen)
        frames = {file: partial(plate.write_frame, k) for k, file in enumerate(plate.names(name))}
        return {**frames, f"{name}.pvd": partial(plate.write_list, name)}
    from simsuite.exporting.arrays import write_netcdf, write_zarr

    return {f"{name}{SUFFIXES[to]}": partial(write_netcdf if to == "netcdf" else write_zarr, contents, chosen)}
