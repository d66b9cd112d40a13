"""netCDF files, Zarr stores and ParaView's files, read back by the libraries of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
import xarray as xr
from exported_runs import runs_in
from running import plain

import simsuite

Runs = Callable[..., simsuite.Run]
KINDS = [(solver, stopped) for solver in ("heat", "gbm", "linear") for stopped in (False, True)]
_OF_NEXUS = {"NX_class", "signal", "axes"}


@pytest.fixture
def run_of(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run of a solver, in a directory of its own."""
    return runs_in(tmp_path, tmp_path_factory)


def same_datasets(found: xr.Dataset, wanted: xr.Dataset) -> None:
    """Variables, dimensions, types, attributes and bits."""
    assert set(found.variables) == set(wanted.variables)
    assert set(found.coords) == set(wanted.coords)
    for name in wanted.variables:
        one, other = found[name].variable, wanted[name].variable
        assert (one.dims, one.shape, one.attrs) == (other.dims, other.shape, other.attrs), name
        texts = other.dtype.kind in "OUT"
        assert texts or one.dtype == other.dtype, name
        values = (v.values.astype(object) if texts else v.values for v in (one, other))
        assert plain(next(values)) == plain(next(values)), name


@pytest.fixture
def results() -> Iterator[Callable[[simsuite.Run], xr.Dataset]]:
    """results.h5 as xarray opens it."""
    opened: list[xr.Dataset] = []

    def open_one(run: simsuite.Run) -> xr.Dataset:
        opened.append(run.dataset)
        return run.dataset

    yield open_one
    for each in opened:
        each.close()


@pytest.mark.parametrize(("solver", "stopped"), KINDS)
def test_netcdf_is_what_results_are(solver: str, stopped: bool, run_of: Runs, results: Any) -> None:
    run = run_of(solver, stopped)
    (path,) = run.export("netcdf")
    assert path == run.directory / "export" / f"{solver}.nc"
    with xr.open_dataset(path, engine="h5netcdf") as found:
        same_datasets(found, results(run))
        assert {str(key) for key in run.dataset.attrs} - found.attrs.keys() == _OF_NEXUS
        assert found.attrs.get("title", "") == run.dataset.attrs.get("title", "")
    with h5py.File(path) as file:
        assert all(isinstance(item, h5py.Dataset) for item in file.values()), "no groups"


def test_netcdf_of_a_lossless_run_is_compressed(run_of: Runs, results: Any) -> None:
    run = run_of("heat", output__compression="lossless", grid__nx=128, grid__ny=96)
    (path,) = run.export("netcdf", run.directory / "some.nc", ["temperature"])
    with xr.open_dataset(path, engine="h5netcdf") as found:
        assert set(found.variables) == {"temperature", "time", "y", "x"}
        assert plain(found.temperature.values) == plain(results(run).temperature.values)
    with h5py.File(path) as file:
        assert file["temperature"].compression == "gzip"


def test_netcdf_is_the_same_in_pieces(run_of: Runs, results: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsuite.exporting.arrays._BLOCK", 1)
    run = run_of("heat")
    (path,) = run.export("netcdf")
    with xr.open_dataset(path, engine="h5netcdf") as found:
        same_datasets(found, results(run))


@pytest.mark.parametrize(("solver", "stopped"), KINDS)
def test_zarr_is_what_results_are(solver: str, stopped: bool, run_of: Runs, results: Any) -> None:
    pytest.importorskip("zarr", reason="comes with simsuite[export] and simsuite[test]")
    run = run_of(solver, stopped)
    (path,) = run.export("zarr")
    assert path == run.directory / "export" / f"{solver}.zarr"
    with xr.open_zarr(path) as found:
        same_datasets(found, results(run))
        assert {str(key) for key in run.dataset.attrs} - found.attrs.keys() == _OF_NEXUS
    run.export("zarr", force=True)
    with xr.open_zarr(path) as found:
        same_datasets(found, results(run))
    assert {each.name for each in path.parent.iterdir()} == {path.name}


def read_image(path: Path) -> Any:
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


@pytest.mark.parametrize(("stopped", "precision"), [(False, "float64"), (True, "float64"), (False, "float32")])
def test_vtk_has_every_frame(stopped: bool, precision: str, run_of: Runs) -> None:
    numpy_support = pytest.importorskip("vtkmodules.util.numpy_support", reason="comes with simsuite[test]")
    run = run_of("heat", stopped, run__precision=precision)
    written = run.export("vtk", run.directory / "movie" / "plate.pvd")
    with h5py.File(run.directory / "results.h5") as file:
        time, x, y, wanted = (file[name][...] for name in ("time", "x", "y", "temperature"))
    assert len(time) == (1 if stopped else 4)
    listed = ElementTree.parse(written[-1]).findall("Collection/DataSet")
    assert [float(each.attrib["timestep"]) for each in listed] == time.tolist()
    assert [written[-1].with_name(each.attrib["file"]) for each in listed] == written[:-1]
    for frame, path in zip(wanted, written):
        image = read_image(path)
        found = numpy_support.vtk_to_numpy(image.GetCellData().GetArray("temperature"))
        assert found.dtype == wanted.dtype
        assert plain(found.reshape(len(y), len(x))) == plain(frame)
        np.testing.assert_allclose(image.GetBounds(), [0, 2, 0, 1, 0, 0], atol=1e-15)
        assert numpy_support.vtk_to_numpy(image.GetFieldData().GetArray("TimeValue"))[0] in time


@pytest.mark.parametrize("solver", ["gbm", "linear"])
def test_vtk_is_for_plates(solver: str, run_of: Runs) -> None:
    pytest.importorskip("vtkmodules", reason="comes with simsuite[test]")
    with pytest.raises(simsuite.UsageError, match=f"over a plate, which a {solver} run does not have"):
        run_of(solver).export("vtk")


def test_vtk_of_what_is_no_field(run_of: Runs) -> None:
    pytest.importorskip("vtkmodules", reason="comes with simsuite[test]")
    with pytest.raises(simsuite.UsageError, match="name temperature"):
        run_of("heat").export("vtk", what=["samples"])
