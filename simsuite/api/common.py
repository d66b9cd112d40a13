"""What runs and sweeps from Python have in common."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.errors import PackageMissing, SimsuiteError, UsageError
from simsuite.scenario import Scenario, load_table, settings
from simsuite.scenario import load as load_scenario
from simsuite.sweeps.goal import Solution as Solution  # for `simsuite`, too

if TYPE_CHECKING:
    import xarray


def opened(path: Path, who: str) -> xarray.Dataset:
    PackageMissing.unless(("xarray", "h5netcdf"), "xarray", who)
    import xarray

    return xarray.open_dataset(path, engine="h5netcdf")


def reported(directory: Path, path: Path | str | None) -> Path:
    from simsuite.reporting import report

    output = directory / "report.html" if path is None else Path(path)
    with python_words():
        report(directory, output)
    return output


@contextlib.contextmanager
def python_words() -> Iterator[None]:
    """Errors from in here speak of arguments of functions, not of options of commands."""
    try:
        yield
    except SimsuiteError as error:
        error.in_python()
        raise


def scenario_of(
    path: Path | str | Mapping[str, object],
    set: Mapping[str, object] | None,
    device: str | None,
    directory: Path | str | None,
    stored: bool,
) -> Scenario:
    """stored: whether the scenario is to have a directory for its files."""
    values = dict(set or {})
    if device is not None:
        values["run.device"] = device
    if directory is not None:
        values["output.directory"] = str(directory)
    if isinstance(path, Mapping):
        output = path.get("output")
        named = values.get("output.directory") or (isinstance(output, Mapping) and output.get("directory"))
        if stored and not named:
            raise UsageError(
                "a scenario that is a dictionary has no file name to call its directory after: give directory=.."
            )
        name = Path(str(named)).name if named else "scenario"
        return load_table(path, Path(f"{name}.toml"), settings(values), "set: ")
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(
            f"expected the path of a scenario file, or a scenario as a dictionary, not {type(path).__name__}"
        )
    return load_scenario(path, settings(values), override_name="set: ")
