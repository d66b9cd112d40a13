"""Arrays with names and coordinates: those of a run, or that of another program's file."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.directory import RunDirectory
from simsuite.io.layout import as_text
from simsuite.io.reading import DAMAGED, reading, unreadable
from simsuite.scenario.load import leaves

_TABLES = {".csv": ",", ".tsv": "\t", ".txt": None, ".dat": None}
_LEFT_OUT = ("sample_time", "energy_residual")
_HDF5 = (".h5", ".hdf5", ".nc", ".nc4")


@dataclass(frozen=True)
class Axis:
    """One dimension of an array. points: numbers along it, or names; None where there are none."""

    name: str
    points: np.ndarray | None


@dataclass
class Array:
    """An array of numbers. read: gives its values when they are needed. unit: "" where none is known."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    unit: str
    dataset: Any  # Any: an h5py dataset or an array

    def values(self) -> np.ndarray:
        return np.asarray(self.dataset[...], np.complex128 if np.iscomplexobj(self.dataset) else np.float64)


@dataclass
class Source:
    """What is compared. label: as it was named. arrays: by name. keys: of its scenario, dotted, where it is a run."""

    label: str
    arrays: Mapping[str, Array]
    keys: Mapping[str, object] = field(default_factory=dict)
    is_run: bool = True


@contextlib.contextmanager
def opened(path: Path, variable: str | None) -> Iterator[Source]:
    """A run, by its directory or a file in it, or a file of another program, whose array counts as `variable`. Raises
    UsageError, or SimsuiteError for a damaged file."""
    suffix = path.suffix.lower()
    if path.is_file() and (suffix == ".npy" or suffix in _TABLES):
        yield _foreign(path, _array_of(path, suffix), variable)
        return
    run = RunDirectory.of(path)
    if path.is_file() and suffix in _HDF5 and path != run.results:
        with _foreign_hdf5(path, variable) as source:
            yield source
        return
    if not run.results.exists():
        raise UsageError(
            f"{path} {run.without()}" if not path.is_file() else f"{path} holds neither a run nor an array"
        )
    with reading(run.results) as file:
        arrays = {name: _of_run(name, file) for name in _names(file)}
        yield Source(str(path), arrays, _keys(as_text(file.attrs.get("scenario", ""))))


def _array_of(path: Path, suffix: str) -> np.ndarray:
    try:
        if suffix == ".npy":
            found: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with path.open(encoding="utf-8-sig") as file:
                first = file.readline().split(_TABLES[suffix])
            header = all(_is_name(field.strip().strip("\"'")) for field in first)
            found = np.loadtxt(path, delimiter=_TABLES[suffix], skiprows=int(header), ndmin=1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} holds no array of numbers: {error}") from error
    if found.dtype.kind not in "biufc":
        raise UsageError(f"{path} holds {found.dtype}, not numbers")
    return found


def _is_name(field: str) -> bool:
    """Whether a field of a table is the name of a column and no number."""
    return field[:1].isalpha() and field.lower() not in ("nan", "inf", "infinity", "j")


def _foreign(path: Path, array: np.ndarray, variable: str | None) -> Source:
    if variable is None:
        raise UsageError(
            f"say which of the variables the array in {path} is\n  = help: for example --variable temperature"
        )
    name = variable.rpartition(":")[2]
    axes = tuple(Axis(f"dimension {i}", None) for i in range(array.ndim))
    return Source(str(path), {name: Array(name, array.shape, axes, "", array)}, is_run=False)


@contextlib.contextmanager
def _foreign_hdf5(path: Path, variable: str | None) -> Iterator[Source]:
    theirs, _, ours = (variable or "").partition(":")
    try:
        with h5py.File(path) as file:
            if not theirs or not isinstance(file.get(theirs), h5py.Dataset):
                names: list[str] = []
                file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
                listed = ", ".join(names[:12])
                missing = f"{path} has no dataset `{theirs}`" if theirs else f"say which dataset of {path} is meant"
                raise UsageError(f"{missing}; it has {listed}\n  = help: --variable THEIRS:OURS for different names")
            dataset = file[theirs]
            yield _foreign(path, dataset, ours or theirs)
    except DAMAGED as error:
        raise unreadable(path, error) from error


def _names(file: h5py.File) -> list[str]:
    """The variables of a run that hold numbers and are neither coordinates nor rounding errors."""
    return [
        name
        for name, item in file.items()
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fc" and item.shape
        if not item.is_scale and name not in _LEFT_OUT
    ]


def _of_run(name: str, file: h5py.File) -> Array:
    dataset = file[name]
    axes = []
    for i, length in enumerate(dataset.shape):
        scale = dataset.dims[i][0] if len(dataset.dims[i]) else None
        of = "" if scale is None else str(scale.name).rpartition("/")[2]
        axes.append(Axis(of, _points(file, of, scale, length)))
    return Array(name, dataset.shape, tuple(axes), as_text(dataset.attrs.get("units", "")), dataset)


def _points(file: h5py.File, name: str, scale: h5py.Dataset | None, length: int) -> np.ndarray | None:
    """The coordinate of a dimension: that of its scale, or of the variable `NAME_time` that goes with it."""
    if name == "sample" and "sample_time" in file:
        return np.asarray(file["sample_time"][:length], np.float64)
    if scale is None or scale.shape != (length,):
        return None
    if scale.dtype.kind in "fiu":
        return np.asarray(scale[...], np.float64)
    return np.array([as_text(item) for item in scale[...]])


def _keys(text: str) -> dict[str, object]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SimsuiteError(f"the scenario that is stored is damaged: {error}") from error
    return {".".join(map(str, name)): value for name, value in leaves(table, ())}
