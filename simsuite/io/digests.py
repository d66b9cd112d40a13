"""A digest of each row of a results file, by which a row that was changed since it was written is found.

Disks and cables change bits now and then, and copies end early; HDF5 has checksums of its metadata only, and its own
for data (fletcher32) would be wrong for a moment whenever a chunk of several rows is written again, which readers of a
running file would see. Digests lie beside the data, in the group `digests`: for each series an array [row, variable],
uint64, written when the file is synced, not with each row; and `fixed`, an array [variable] for those that do not grow,
with 0 for what is not known yet.

The digest of up to 64 KiB is their CRC-32; that of more is BLAKE2b of the sums, modulo 2⁶⁴, of the 512 numbers of each
page of 4096 bytes, and of the bytes beyond the last page. That runs at the speed of the memory. It finds any one
number of a page that was changed and any page that is another, but not numbers of one page that changed places.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import h5py
import numpy as np

from simsuite.core import HostArray
from simsuite.words import counted

GROUP, FIXED = "digests", "fixed"
_PAGE = 4096
_SMALL = 1 << 16  # the CRC-32 of so many bytes takes less time than the calls for the other digest
TOGETHER = 256  # rows of digests in a chunk
_READ = 1 << 24  # bytes read at once


@dataclass(frozen=True)
class Damage:
    """Rows of a variable, along the series' dimension `dim`, that are not what was written. dim: None for a variable
    that does not grow, for which `rows` is empty."""

    variable: str
    dim: str | None
    rows: list[int]


def digest(values: HostArray) -> int:
    """The digest of the bytes of an array in C order."""
    values = np.ascontiguousarray(values)
    if values.nbytes <= _SMALL:
        return zlib.crc32(values.data)
    data = values.reshape(-1).view(np.uint8)
    whole = data.size // _PAGE * _PAGE
    found = hashlib.blake2b(data[:whole].view(np.uint64).reshape(-1, _PAGE // 8).sum(axis=1), digest_size=8)
    found.update(data[whole:].data)
    return int.from_bytes(found.digest(), "little")


class FixedDigests:
    """The digests of variables that do not grow, for the writer of a file. dataset: as `create` makes it."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.dataset = dataset
        self._names = list(json.loads(dataset.attrs["variables"]))

    @staticmethod
    def create(file: h5py.File, values: Mapping[str, HostArray | None]) -> h5py.Dataset:
        """Make the dataset of these digests in a new file. values: the values of the variables, as they are stored;
        None where they are not known yet."""
        digests = [0 if found is None else _fixed_digest(found) for found in values.values()]
        dataset = file.require_group(GROUP).create_dataset(FIXED, data=np.array(digests, np.uint64))
        dataset.attrs["variables"] = json.dumps(list(values))
        return dataset

    def store(self, name: str, values: HostArray) -> None:
        self.dataset[self._names.index(name)] = np.uint64(_fixed_digest(values))


def _fixed_digest(values: HostArray) -> int:
    """The digest of an array of numbers or strings; it is never 0."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        texts = [item.decode(errors="replace") if isinstance(item, bytes) else str(item) for item in values.ravel()]
        values = np.frombuffer("\0".join(texts).encode(errors="replace") or b"\0", np.uint8)
    return digest(values) or 1


class SeriesDigests:
    """The digests of one series, for the writer of a file. dataset: has the digests of all rows so far; `create` makes
    it."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.dataset = dataset
        self._names = list(self.variables(dataset))
        self._waiting: array[int] = array("Q")  # of rows that are not stored yet, one after the other

    @staticmethod
    def create(file: h5py.File, dim: str, variables: Mapping[str, int]) -> h5py.Dataset:
        """Make the dataset of these digests in a new file. variables: those that grow along `dim`, each with the axis
        that grows."""
        n = len(variables)
        dataset = file.require_group(GROUP).create_dataset(
            dim, (0, n), np.uint64, maxshape=(None, n), chunks=(TOGETHER, n)
        )
        dataset.attrs["variables"] = json.dumps(variables)
        return dataset

    @staticmethod
    def variables(dataset: h5py.Dataset) -> dict[str, int]:
        return {str(name): int(axis) for name, axis in json.loads(dataset.attrs["variables"]).items()}

    def add(self, digests: Mapping[str, int]) -> None:
        """Add the digests of the next row, by the names of its variables."""
        self._waiting.extend(digests[name] for name in self._names)

    def store(self) -> None:
        """Write the digests that were added since the last call."""
        if self._waiting:
            rows = np.array(self._waiting, np.uint64).reshape(-1, len(self._names))
            stored = len(self.dataset)
            self.dataset.resize(stored + len(rows), axis=0)
            self.dataset[stored:] = rows
            self._waiting = array("Q")


def damages(file: h5py.File) -> Iterator[Damage]:
    """All that is not what was written, among the rows that have digests. Raises what h5py raises where the file is
    damaged in other ways."""
    for dim, dataset in file[GROUP].items() if GROUP in file else ():
        known = dataset[...]
        if dim == FIXED:
            names = json.loads(dataset.attrs["variables"])
            changed = [
                name for name, wanted in zip(names, known) if wanted and _fixed_digest(file[name][...]) != wanted
            ]
            yield from (Damage(name, None, []) for name in changed)
            continue
        for number, (name, axis) in enumerate(SeriesDigests.variables(dataset).items()):
            rows = _changed(file[name], axis, known[:, number])
            if rows:
                yield Damage(name, dim, rows)


def in_words(file: h5py.File, found: Iterable[Damage]) -> str:
    """ "temperature at time = 0.5 (and 3 more rows)"; "" where nothing is damaged."""
    found = list(found)
    if not found:
        return ""
    first, more = found[0], sum(max(len(damage.rows), 1) for damage in found) - 1
    at = first.variable
    if first.dim is not None:
        coordinate = coordinate_of(file, first.dim)
        at += f" at {coordinate} = {file[coordinate][first.rows[0]]:.9g}"
    return at + (f" (and {counted(more, 'more row')})" if more else "")


def coordinate_of(file: h5py.File, dim: str) -> str:
    """The name of the variable that has the coordinate of each row of a series."""
    return next(iter(SeriesDigests.variables(file[GROUP][dim])))


def _changed(column: h5py.Dataset, axis: int, known: HostArray) -> list[int]:
    """The indices of the rows whose digests differ from the known ones, and of those that cannot be read."""
    rows = min(len(known), column.shape[axis])
    row_bytes = max(column.dtype.itemsize * column.size // max(column.shape[axis], 1), 1)
    together = max(1, min(1024, _READ // row_bytes))
    found = []
    for start in range(0, rows, together):
        part = slice(start, min(start + together, rows))
        try:
            values = column[(slice(None),) * axis + (part,)]
        except (OSError, RuntimeError):  # an error in compressed rows
            if together > 1:
                raise
            found.append(start)
            continue
        whole = np.moveaxis(values, axis, 0)
        found += [start + k for k in range(len(whole)) if digest(whole[k]) != known[start + k]]
    return found
