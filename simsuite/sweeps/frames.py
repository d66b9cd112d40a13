"""Frames of the members of a sweep in sweep.h5: their last ones, or all, with the keys that vary as first dimensions.

A variable of a member's results that grows along `time` becomes one with the dimensions of the sweep before its own.
Coordinates are those of the first member; where they differ between members, as those of plates of several sizes do, a
variable `x_coordinate` has them for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np

from simsuite.core import HostArray
from simsuite.exporting.contents import Contents, Stored
from simsuite.io.reading import reading

WHICH = ("last", "all")
_TIME = "time"
_JOINED, _OF_MEMBER = "joined", "member_"  # the dimension, and the prefix, of what each of those that run together has
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


class Frames:
    """Frames that are written into an open sweep.h5. scales: the dimensions of the sweep; shape: their lengths. which:
    one of `WHICH`. left_out: names of variables whose shapes differ between members, which are not written."""

    def __init__(self, file: h5py.File, scales: Sequence[h5py.Dataset], shape: tuple[int, ...], which: str) -> None:
        self._file, self._swept, self._shape, self._all = file, list(scales), shape, which == "all"
        self._taken = set(file)  # names of results
        self._variables: dict[str, h5py.Dataset] = {}
        self._coordinates: dict[str, tuple[h5py.Dataset, HostArray]] = {}
        self._differing: dict[str, h5py.Dataset] = {}
        self.left_out: list[str] = []

    def add(self, runs: Mapping[int, tuple[Path, int]]) -> None:
        """Write the frames of members. runs: by place among all members, the directory of the run, and which of those
        that share it the member is; runs that have been removed are left out. Raises SimsuiteError where results are
        damaged."""
        by_directory: dict[Path, list[tuple[int, int]]] = {}
        for member, (directory, place) in sorted(runs.items()):
            by_directory.setdefault(directory, []).append((member, place))
        for directory, members in by_directory.items():
            if not (directory / "results.h5").exists():
                continue
            with reading(directory / "results.h5") as file:
                contents = Contents(directory, file)
                for member, place in members:
                    self._add(contents, member, place)

    def _add(self, contents: Contents, member: int, place: int) -> None:
        at = np.unravel_index(member, self._shape)
        of_member = contents.variables.get("member")
        samples = None if of_member is None else np.flatnonzero(of_member.read() == place)
        joined = contents.coordinate(_JOINED)
        for variable, dims in self._growing(contents):
            name = variable.name
            values = variable.read() if self._all else variable.read(slice(variable.shape[0] - 1, None))[0]
            if samples is not None:
                if joined is not None and _JOINED in dims:
                    values = values[..., np.flatnonzero(joined.read() == place)[0]]
                    dims, name = dims[:-1], name.removeprefix(_OF_MEMBER)
                elif "sample" in dims:
                    values = np.take(values, samples, dims.index("sample"))
                else:  # it is of all members together
                    continue
            if name not in self._variables and name not in self.left_out:
                self._variables[name] = self._new(contents, variable, name, dims, values)
            there = self._variables.get(name)
            if there is None:
                continue
            if there.shape[len(self._shape) :] != values.shape:
                self.left_out.append(name)
                del self._variables[name], self._file[there.name]
                continue
            there[at] = values
        for dim in list(self._coordinates):
            self._compare(contents, dim, at, samples)

    def _growing(self, contents: Contents) -> Iterator[tuple[Stored, tuple[str, ...]]]:
        """The variables that grow along time, with the dimensions that they have in sweep.h5 behind those of the
        sweep."""
        time = contents.coordinate(_TIME)
        for variable in contents.variables.values():
            if variable.dims[:1] == (_TIME,) and variable.shape[0] and not (time and variable.name == time.name):
                yield variable, variable.dims if self._all else variable.dims[1:]

    def _new(
        self, contents: Contents, variable: Stored, name: str, dims: tuple[str, ...], values: HostArray
    ) -> h5py.Dataset:
        scales = [self._scale(contents, dim, n) for dim, n in zip(dims, values.shape)]
        dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        name = name if name not in self._taken else f"frame_{name}"
        made = self._file.create_dataset(self._free(name), (*self._shape, *values.shape), dtype, fillvalue=np.nan)
        self._attach(made, scales, variable)
        return made

    def _scale(self, contents: Contents, dim: str, n: int) -> h5py.Dataset:
        """The dimension of the file, with the coordinate of the first member."""
        if dim in self._coordinates and len(self._coordinates[dim][0]) == n:
            return self._coordinates[dim][0]
        coordinate = contents.coordinate(dim)
        values = None if coordinate is None else _read(coordinate, n)
        name = self._free(dim)
        if coordinate is None or values is None:
            scale = self._file.create_dataset(name, (n,), np.float32)
            scale.make_scale(f"{_NO_VARIABLE}{n:10d}")
            values = np.empty(0)
        else:
            data = values if values.dtype.kind != "O" else values.astype(h5py.string_dtype())
            scale = self._file.create_dataset(name, data=data)
            scale.make_scale(name)
            _describe(scale, coordinate)
        self._coordinates.setdefault(dim, (scale, values))
        return scale

    def _compare(self, contents: Contents, dim: str, at: tuple[np.intp, ...], samples: HostArray | None) -> None:
        """Write the coordinate of a member where it is not that of the first."""
        scale, first = self._coordinates[dim]
        coordinate = contents.coordinate(dim)
        if coordinate is None or first.dtype.kind not in "fiu" or (dim == "sample" and samples is not None):
            return
        values = coordinate.read()
        if values.shape != first.shape or (dim not in self._differing and np.array_equal(values, first)):
            return
        if dim not in self._differing:
            made = self._file.create_dataset(self._free(f"{dim}_coordinate"), (*self._shape, len(first)), np.float64)
            made[...] = first
            self._attach(made, [scale], coordinate)
            self._differing[dim] = made
        self._differing[dim][at] = values

    def _attach(self, made: h5py.Dataset, scales: Sequence[h5py.Dataset], like: Stored) -> None:
        for i, scale in enumerate([*self._swept, *scales]):
            made.dims[i].attach_scale(scale)
        _describe(made, like)

    def _free(self, name: str) -> str:
        while name in self._file:
            name += "_"
        return name


def _read(coordinate: Stored, n: int) -> HostArray | None:
    """The values of a coordinate; None where they are not n, as those of states that several members have."""
    values = coordinate.read()
    return values if len(values) == n else np.arange(n) if coordinate.name == "sample" else None


def _describe(made: h5py.Dataset, like: Stored) -> None:
    for name in ("units", "long_name"):
        if name in like.attrs:
            made.attrs[name] = like.attrs[name]
