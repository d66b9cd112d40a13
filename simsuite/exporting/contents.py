"""What a result file holds so far: its variables with their dimensions, in rows that are complete."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from simsuite.core import HostArray, JsonObject
from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.digests import FIXED, GROUP, coordinate_of
from simsuite.io.layout import as_text
from simsuite.io.reading import DAMAGED, committed_rows, unreadable
from simsuite.provenance import appended, origin_of
from simsuite.words import meant

# attributes that HDF5 and netCDF keep to themselves, and those of NeXus, which are for viewers of HDF5
_OF_THE_FORMAT = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "NX_class", "signal", "axes")
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


@dataclass(frozen=True)
class Stored:
    """A variable of the file. dims: the names of its axes. shape: without rows that are not complete yet. attrs: texts
    and numbers."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    attrs: Mapping[str, object]
    dataset: h5py.Dataset

    @property
    def unit(self) -> str:
        """The unit as it is stored, "" where there is none; that of numbers without dimension is "1"."""
        return str(self.attrs.get("units", ""))

    @property
    def is_text(self) -> bool:
        return bool(self.dataset.dtype.kind == "O")

    def read(self, *index: slice) -> HostArray:
        """The part of the variable with this index, in its first axes, as it is stored; texts as objects.

        Raises SimsuiteError where the file is damaged."""
        whole = (*index, *(slice(None) for _ in self.shape[len(index) :]))
        try:
            found = self.dataset[tuple(slice(*part.indices(n)) for part, n in zip(whole, self.shape))]
        except DAMAGED as error:
            raise unreadable(Path(self.dataset.file.filename), error) from error
        if self.is_text:
            return np.array([as_text(item) for item in found.ravel()], dtype=object).reshape(found.shape)
        return np.asarray(found)


class Contents:
    """The variables in the open result file of the run, or of the sweep, in `directory`. swept: the dimensions along
    which the members of a sweep lie."""

    def __init__(self, directory: Path, file: h5py.File, swept: tuple[str, ...] = ()) -> None:
        self.directory, self.file, self.swept = directory, file, swept
        self._growing = {dim: coordinate_of(file, dim) for dim in file.get(GROUP, {}) if dim != FIXED}
        self._rows = {dim: committed_rows(file, name) for dim, name in self._growing.items()}
        self.variables = {
            name: self._stored(name, item)
            for name, item in file.items()
            if isinstance(item, h5py.Dataset) and not as_text(item.attrs.get("NAME", "")).startswith(_NO_VARIABLE)
        }

    @property
    def solver(self) -> str:
        return as_text(self.file.attrs.get("solver", ""))

    @property
    def name(self) -> str:
        """What files are called that hold all of the run: as its directory."""
        return self.directory.resolve().name or "run"

    @cached_property
    def attrs(self) -> JsonObject:
        """The attributes of the whole file, as texts and numbers."""
        return _attributes(self.file)

    @cached_property
    def exported_attrs(self) -> JsonObject:
        """The attributes of a file with these contents that is written now."""
        return {**self.attrs, "history": appended(str(self.attrs.get("history", "")), origin_of().line("exported"))}

    def coordinate(self, dim: str) -> Stored | None:
        """The variable that tells where each entry along a dimension is, or what it is called; None without one."""
        return self.variables.get(self._growing.get(dim, dim))

    def chosen(self, what: Sequence[str] | None, tables: Mapping[str, Collection[str]]) -> list[str]:
        """The names of the variables that are meant by `what`, names of variables or of tables; all for None. tables:
        the variables of each. Coordinates are not among them unless they are named.

        Raises UsageError for names that are unknown, with those that they are like."""
        coordinates = {at.name for v in self.variables.values() for dim in v.dims if (at := self.coordinate(dim))}
        if what is None:
            return [name for name in self.variables if name not in coordinates]
        found: dict[str, None] = {}
        for name in what:
            if name not in tables and name not in self.variables:
                said = meant(name, [*tables, *self.variables])
                raise UsageError(f"there is no table or variable {name!r} in {self.directory}: {said}")
            found |= dict.fromkeys([name] if name in self.variables else tables[name])
        if not found:
            raise UsageError("nothing is named that could be exported")
        return list(found)

    def _stored(self, name: str, item: h5py.Dataset) -> Stored:
        attached = [axis[0].name.rpartition("/")[2] if len(axis) else "" for axis in item.dims]
        dims = tuple(dim or (name if item.is_scale else f"{name}_{i}") for i, dim in enumerate(attached))
        shape = tuple(self._rows.get(dim, n) for dim, n in zip(dims, item.shape))
        if any(given > n for given, n in zip(shape, item.shape)):
            raise SimsuiteError(f"{self.file.filename} is damaged: {name} lacks rows")
        return Stored(name, dims, shape, _attributes(item), item)


def _attributes(item: h5py.File | h5py.Dataset) -> JsonObject:
    """Attributes as Python's texts, numbers and lists of these."""
    found: JsonObject = {}
    for name, value in item.attrs.items():
        if name in _OF_THE_FORMAT or name.startswith("_Netcdf4"):
            continue
        if isinstance(value, (bytes, str)):
            found[name] = as_text(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            found[name] = value.tolist()
    return found
