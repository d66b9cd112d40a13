"""Tables as .csv, as Parquet and for pandas: every number of results.h5, in its place."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from exported_runs import A, B, runs_in

import simsuite
from simsuite.exporting.contents import Contents
from simsuite.exporting.tables import tables_of

Runs = Callable[..., simsuite.Run]
KINDS = [(solver, stopped) for solver in ("heat", "gbm", "linear") for stopped in (False, True)]


@pytest.fixture
def run_of(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run of a solver, in a directory of its own."""
    return runs_in(tmp_path, tmp_path_factory)


def expected(run: simsuite.Run) -> dict[str, dict[str, Any]]:
    """The columns of each table by their headers, put together here by hand from the file."""
    with h5py.File(run.directory / "results.h5") as file:
        at = {name: item[...] for name, item in file.items() if isinstance(item, h5py.Dataset)}
        units = {name: file[name].attrs["units"].decode() for name in at if "units" in file[name].attrs}
    if run.summary["solver"] == "heat":
        samples = {"sample_time [s]": at["sample_time"]}
        samples |= {f"{name} [{units[name]}]": at[name] for name in at if name.startswith("energy_")}
        unit = units["probe_temperature"]
        return {
            "samples": samples
            | {f"probe_temperature.{name} [{unit}]": at["probe_temperature"][:, i] for i, name in enumerate((A, B))}
        }
    if run.summary["solver"] == "linear":
        frames, batch = at["time"].size, at["sample"].size
        states = {"time [s]": np.repeat(at["time"], batch), "sample": np.tile(at["sample"], frames)}
        states |= {f"state.{i}": at["state"][:, i].ravel() for i in range(2)}
        modes = {f"eigenvalue_{part} [s-1]": at[f"eigenvalue_{part}"] for part in ("real", "imag")}
        matrix = {f"matrix_magnitude.{i} [s-1]": at["matrix_magnitude"][:, i] for i in range(2)}
        return {
            "states": states,
            "time": {"time [s]": at["time"], "norm": at["norm"]},
            "modes": {"mode": np.arange(2), **modes},
            "matrix": {"row": np.arange(2), **matrix},
            "numbers": {"stability": at["stability"].reshape(1)},
        }
    options: dict[str, Any] = {"option": np.array([A, B], object)}
    assets: dict[str, Any] = {"time [year]": at["time"]}
    paths = {"path_id": np.repeat(at["path_id"], at["time"].size), "time [year]": np.tile(at["time"], 3)}
    counts: dict[str, Any] = {"price_bin": np.arange(len(at["price_histogram"]))}
    for name, values in at.items():
        unit = f" [{units[name]}]" if units.get(name, "1") != "1" else ""
        if name.startswith("option_"):
            columns = {name: values} if values.ndim == 1 else {f"{name}.{A}": values[:, 0], f"{name}.{B}": values[:, 1]}
            options |= {column + unit: numbers for column, numbers in columns.items()}
        elif name == "price_bin":
            continue
        elif name.startswith("price_bin_") or name == "price_histogram":
            counts |= {f"{name}.{asset}{unit}": values[:, k] for k, asset in enumerate((A, B))}
        elif name.startswith("price_quantile"):
            for (i, q), (k, asset) in itertools.product(enumerate(("0.05", "0.5")), enumerate((A, B))):
                assets[f"{name}.{q}.{asset}{unit}"] = values[i, :, k]
        elif name.startswith("price_"):
            assets |= {f"{name}.{asset}{unit}": values[:, k] for k, asset in enumerate((A, B))}
        elif name == "path":
            paths |= {f"path.{asset}{unit}": values[:, :, k].ravel() for k, asset in enumerate((A, B))}
    return {"options": options, "assets": assets, "paths": paths, "price_histogram": counts}


def same(found: Any, wanted: np.ndarray) -> None:
    """Texts alike, numbers bit for bit. found: a column as its reader gives it."""
    if wanted.dtype == object:
        assert list(found) == list(wanted)
        return
    found = np.asarray(found)
    assert found.dtype == wanted.dtype
    assert found.tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.parametrize(("solver", "stopped"), KINDS)
def test_csv_has_every_number(solver: str, stopped: bool, run_of: Runs) -> None:
    run = run_of(solver, stopped)
    wanted = expected(run)
    written = run.export("csv")
    assert {path.name for path in written} == {f"{name}.csv" for name in wanted}
    for path in written:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        columns = wanted[path.stem]
        assert set(header) == set(columns)
        assert len(header) == len(columns)
        for name, cells in zip(header, zip(*rows)):
            texts = columns[name].dtype == object
            same(cells if texts else np.array(cells, np.float64).astype(columns[name].dtype), columns[name])


def test_numbers_in_float32_are_written_with_as_many_digits_as_they_need(run_of: Runs) -> None:
    run = run_of("linear", run__precision="float32")
    run.export("csv", what=["state"])
    with h5py.File(run.directory / "results.h5") as file:
        wanted = file["state"][:, 0].ravel()
        assert wanted.dtype == np.float32
    with (run.directory / "export" / "states.csv").open(encoding="utf-8") as lines:
        cells = [line["state.0"] for line in csv.DictReader(lines)]
    assert max(map(len, cells)) <= 15
    same(np.array(cells, np.float32), wanted)


@pytest.mark.parametrize(("solver", "stopped"), KINDS)
def test_a_table_for_pandas(solver: str, stopped: bool, run_of: Runs) -> None:
    run = run_of(solver, stopped)
    wanted = expected(run)
    main = run.table()
    assert list(main) == list(run.table(next(iter(wanted))))
    for name, columns in wanted.items():
        found = run.table(name)
        assert set(found) == set(columns) == set(found.attrs["units"])
        for column, unit in found.attrs["units"].items():
            assert column.endswith(f" [{unit}]") or unit in ("", "1")
            same(found[column].to_numpy(), columns[column])


@pytest.mark.parametrize(("solver", "stopped"), KINDS)
def test_parquet_has_every_number(solver: str, stopped: bool, run_of: Runs) -> None:
    pytest.importorskip("pyarrow", reason="takes 170 MB: it comes with simsuite[export]")
    import pandas

    run = run_of(solver, stopped)
    for path in run.export("parquet"):
        found, wanted = pandas.read_parquet(path), run.table(path.stem)
        assert list(found) == list(wanted)
        assert found.attrs == wanted.attrs
        for name in wanted:
            same(found[name].to_numpy(), wanted[name].to_numpy())


def test_fields_are_tables_where_they_are_named(run_of: Runs) -> None:
    run = run_of("heat")
    run.export("csv", what=["temperature"])
    with (run.directory / "export" / "fields.csv").open(encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    assert header == ["time [s]", "y [m]", "x [m]", "temperature [K]"]
    found = np.array(rows, np.float64)
    with h5py.File(run.directory / "results.h5") as file:
        time, y, x = (file[name][...] for name in ("time", "y", "x"))
        same(np.ascontiguousarray(found[:, 3]), file["temperature"][...].ravel())
    for column, grid in zip(found.T, np.meshgrid(time, y, x, indexing="ij")):
        np.testing.assert_array_equal(column, grid.ravel())


def test_a_table_is_the_same_in_pieces(run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("gbm")
    whole = run.table("paths")
    monkeypatch.setattr("simsuite.exporting.tables._BLOCK", 1)
    with h5py.File(run.directory / "results.h5") as file:
        assert len(list(tables_of(Contents(run.directory, file))["paths"].blocks())) == 3
    assert run.table("paths").equals(whole)


def test_long_dimensions_make_rows_instead_of_columns(run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsuite.exporting.tables._WIDEST", 1)
    run = run_of("linear")
    found = run.table("states")
    assert list(found) == ["time [s]", "component", "sample", "state"]
    with h5py.File(run.directory / "results.h5") as file:
        same(found["state"].to_numpy(), file["state"][...].ravel())


def test_a_batch_of_one_has_no_rows_of_its_own(run_of: Runs) -> None:
    run = run_of("linear", initial__state=[1.0, 0.0])
    assert list(run.table()) == ["time [s]", "state.0", "state.1", "norm"]


def test_a_table_that_is_not_there(run_of: Runs) -> None:
    run = run_of("gbm")
    with pytest.raises(simsuite.UsageError, match=r"no table 'Option' in .* did you mean options\?"):
        run.table("Option")


def test_rows_that_are_not_complete_are_left_out(run_of: Runs) -> None:
    """As while a run writes: all variables of a row come before its coordinate."""
    run = run_of("heat")
    before = {name: run.table(name) for name in ("samples", "fields")}
    with h5py.File(run.directory / "results.h5", "r+") as file:
        for name in ("time", "temperature", "sample_time", "energy_stored", "probe_temperature"):
            file[name].resize(len(file[name]) + 1, axis=0)
            file[name][-1] = np.nan if name in ("time", "sample_time") else 7.0
    for name, table in before.items():
        assert run.table(name).equals(table)
    (path,) = run.export("csv")
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(before["samples"]) + 1


def test_directories_are_named_in_python_by_paths_or_texts(run_of: Runs, tmp_path: Path) -> None:
    assert run_of("heat").export("csv", str(tmp_path / "one.csv")) == [tmp_path / "one.csv"]
