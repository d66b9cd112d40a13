"""Results as arrays with named dimensions, for xarray: netCDF-4 files and Zarr stores.

results.h5 is netCDF-4 already. A netCDF file made here differs in that rows that are not complete yet are left out,
and that it has nothing but variables: no digests, no groups for ParaView and H5Web. netCDF files are written piece by
piece; for a Zarr store each variable has to fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import h5py

from simsuite.exporting.contents import Contents, Stored
from simsuite.exporting.steady_file import SteadyFile
from simsuite.io.layout import LIBVER

if TYPE_CHECKING:
    import h5netcdf
    import xarray

_BLOCK = 1 << 22  # numbers that are copied at once


def write_netcdf(contents: Contents, chosen: Sequence[str], path: Path) -> None:
    """Write the chosen variables, and the coordinates that they need, as netCDF-4. Raises OSError where the disk
    fails."""
    import h5netcdf

    with SteadyFile(path) as steady:
        try:
            with (
                h5py.File(steady, "w", libver=LIBVER, track_order=True) as file,
                h5netcdf.File(file, "w") as written,
            ):
                written.attrs.update(contents.exported_attrs)
                for stored in _with_coordinates(contents, chosen):
                    _copy(stored, written)
        finally:
            steady.require_written()


def _copy(stored: Stored, written: h5netcdf.File) -> None:
    """Copy a variable, piece by piece along its first axis."""
    for dim, n in zip(stored.dims, stored.shape):
        if dim not in written.dimensions:
            written.dimensions[dim] = n
    lossless = stored.dataset.compression is not None and all(stored.shape)
    options = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if lossless else {}
    dtype = h5py.string_dtype() if stored.is_text else stored.dataset.dtype
    copy = written.create_variable(stored.name, stored.dims, dtype, **options)
    copy.attrs.update(stored.attrs)
    if not stored.shape:
        copy[...] = stored.read()
        return
    row = max(1, math.prod(stored.shape[1:]))
    for start in range(0, stored.shape[0], step := max(1, _BLOCK // row)):
        part = slice(start, min(start + step, stored.shape[0]))
        copy[part] = stored.read(part)


def write_zarr(contents: Contents, chosen: Sequence[str], path: Path) -> None:
    """Write the chosen variables, and the coordinates that they need, as a Zarr store of version 2, which all readers
    of Zarr know, with all metadata in one place."""
    import zarr

    for i, (name, dataset) in enumerate(_datasets(contents, chosen)):
        encoding = {name: {"_FillValue": None}}
        dataset.to_zarr(path, mode="a" if i else "w", zarr_format=2, consolidated=False, encoding=encoding)
    zarr.consolidate_metadata(str(path), zarr_format=2)


def _datasets(contents: Contents, chosen: Sequence[str]) -> Iterator[tuple[str, xarray.Dataset]]:
    """Each variable in a dataset of its own, coordinates first."""
    import xarray

    for stored in _with_coordinates(contents, chosen):
        values = xarray.Variable(stored.dims, stored.read(), dict(stored.attrs))
        yield stored.name, xarray.Dataset({stored.name: values}, attrs=contents.exported_attrs)


def _with_coordinates(contents: Contents, chosen: Sequence[str]) -> list[Stored]:
    """The chosen variables, after the coordinates of all of their dimensions."""
    dims = dict.fromkeys(dim for name in chosen for dim in contents.variables[name].dims)
    coordinates = [found.name for dim in dims if (found := contents.coordinate(dim)) is not None]
    return [contents.variables[name] for name in dict.fromkeys([*coordinates, *chosen])]
