"""Checkpoints: the newest two states of a run, at least one of them whole at every instant.

A checkpoint is an HDF5 file with a checksum (fletcher32) on every array; HDF5 itself checks its metadata. Everything
that is no array is kept as JSON in the dataset `meta`, because string attributes would have no checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np

from simsuite.core import HostArray, JsonObject, Snapshot
from simsuite.errors import AFRESH, NumericalFailure, SimsuiteError
from simsuite.io.disk import abandon, explained, require_room, sync_directory, sync_file
from simsuite.io.foreign import refuse_foreign
from simsuite.io.metadata import MetadataCopy
from simsuite.io.superblock import clear_flags
from simsuite.version import FORMAT_VERSION

if TYPE_CHECKING:
    import numpy.typing as npt

NEWEST, PREVIOUS = "checkpoint.h5", "checkpoint.previous.h5"
# a checkpoint that is being written, and the newest one while it becomes the previous one
FRESH, LEAVING = "checkpoint.new.h5", "checkpoint.leaving.h5"
_BLOCK = 1 << 20  # elements
_DAMAGED = (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError)


@dataclass(frozen=True)
class Checkpoint:
    """What `read_checkpoint` found. results: the metadata of the results file when the checkpoint was made; None if
    that file had no rows. note: what was wrong with a newer checkpoint, when there was one."""

    snapshot: Snapshot
    rows: Mapping[str, int]
    meta: Mapping[str, str | int | float]
    results: MetadataCopy | None
    note: str | None = None


def write_checkpoint(
    directory: Path,
    snapshot: Snapshot,
    rows: Mapping[str, int],
    meta: Mapping[str, str | int | float],
    unbounded: Collection[str] = (),
    results: MetadataCopy | None = None,
) -> None:
    """Make `snapshot` the newest checkpoint in `directory`, and the one that was newest the previous one.

    rows: the number of committed rows of each series at that step. results: the metadata of the results file, which has
    these rows on the disk, so that a run can go on from there. Raises NumericalFailure when the state has a NaN, or an
    Inf in other arrays than those that are `unbounded`, and SimsuiteError when the disk is full or fails; either way
    the checkpoints there stay as they are.
    """
    for name, array in snapshot.arrays.items():
        _require(np.isfinite if name not in unbounded else _is_number, name, np.asarray(array))
    require_room(directory, sum(np.asarray(a).nbytes for a in snapshot.arrays.values()))
    fresh = directory / FRESH
    with explained(directory / NEWEST):
        try:
            _write(fresh, snapshot, rows, meta, results)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        _rotate(directory)


def read_checkpoint(directory: Path) -> Checkpoint | None:
    """The newest checkpoint in `directory` that is whole, or None when there is none at all.

    Raises SimsuiteError when there are checkpoints, but all of them are damaged.
    """
    notes = []
    for name in (NEWEST, PREVIOUS):
        if (directory / name).is_file():
            try:
                found = _read(directory / name)
            except _DAMAGED as error:
                notes.append(f"{name} is damaged ({error})")
            else:
                return Checkpoint(*found, note="; ".join(notes) or None)
    if notes:
        raise SimsuiteError(f"in {directory} {' and '.join(notes)}; ", AFRESH)
    return None


def forget_previous(directory: Path) -> None:
    """Remove the checkpoint before the newest one. Raises SimsuiteError when the disk fails."""
    with explained(directory / PREVIOUS, "remove"):
        (directory / PREVIOUS).unlink(missing_ok=True)


def read_about(directory: Path) -> tuple[int, Mapping[str, str | int | float]] | None:
    """The step and the `meta` of the newest checkpoint whose record can be read, without its arrays: quick however
    large the state is. None where there is none; whether the arrays are whole only `read_checkpoint` knows."""
    for name in (NEWEST, PREVIOUS):
        if not (directory / name).is_file():
            continue
        with contextlib.suppress(*_DAMAGED, SimsuiteError), h5py.File(directory / name, "r", locking=False) as file:
            refuse_foreign(file)
            about = _about(file)
            return int(about["step"]), about["meta"]
    return None


def _is_number(values: HostArray) -> npt.NDArray[np.bool_]:
    numbers: npt.NDArray[np.bool_] = ~np.isnan(values)
    return numbers


def stored_bytes(array: HostArray) -> int:
    """The bytes that an array takes in a checkpoint, in which all chunks are whole."""
    chunk = min(max(array.size, 1), _BLOCK)
    return -(-array.size // chunk) * chunk * array.itemsize


def _require(good: Callable[[HostArray], npt.NDArray[np.bool_]], name: str, array: HostArray) -> None:
    """Raise NumericalFailure unless all numbers of an array are `good`. Blocks are looked at one by one, since a mask
    of the whole array could need too much memory."""
    if array.dtype.kind not in "fc":
        return
    flat = np.ascontiguousarray(array).reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        found = good(flat[start : start + _BLOCK])
        if not found.all():
            index = np.unravel_index(start + int(np.argmin(found)), array.shape)
            place = f" at index ({', '.join(map(str, index))})" if index else ""
            raise NumericalFailure(f"{name} is not finite{place}")


def _write(
    path: Path,
    snapshot: Snapshot,
    rows: Mapping[str, int],
    meta: Mapping[str, str | int | float],
    results: MetadataCopy | None,
) -> None:
    file = h5py.File(path, "w", libver=("v110", "v110"), locking=False)
    try:
        kept = []  # a dataset whose closing fails cannot be abandoned: none is closed before all is written
        shapes = {}
        for i, (name, array) in enumerate(snapshot.arrays.items()):
            shapes[name] = np.shape(array)
            kept.append(_store(file, f"array{i}", np.ascontiguousarray(array).reshape(-1)))
        about = {"format_version": FORMAT_VERSION, "step": int(snapshot.step), "shapes": shapes}
        about |= {"rows": dict(rows), "meta": dict(meta)}
        if results is not None:
            about["results"] = {"mark": results.mark, "size": results.size, "places": results.places.tolist()}
            kept.append(_store(file, "results", results.content))
        about["digest"] = _digest(about)
        kept.append(_store(file, "meta", np.frombuffer(json.dumps(about).encode(), np.uint8)))
        file.flush()
        clear_flags(file.id.get_vfd_handle())
    finally:
        abandon(file)
    sync_file(path)


def _store(file: h5py.File, name: str, flat: HostArray) -> h5py.Dataset:
    if flat.size == 0:
        return file.create_dataset(name, data=flat)  # HDF5 has no chunks, and so no checksum, for an empty array
    chunk = min(flat.size, _BLOCK)
    dataset = file.create_dataset(name, flat.shape, flat.dtype, chunks=(chunk,), fletcher32=True, fill_time="never")
    for start in range(0, flat.size, chunk):
        dataset[start : start + chunk] = flat[start : start + chunk]
    return dataset


def _rotate(directory: Path) -> None:
    """Make the fresh checkpoint the newest one, and the newest the previous one. At every instant either the whole one
    of before or the new one is there, also if the newest is damaged."""
    newest, leaving = directory / NEWEST, directory / LEAVING
    leaving.unlink(missing_ok=True)
    if newest.exists():
        try:
            os.link(newest, leaving)
        except OSError:  # the file system has no hard links
            os.replace(newest, directory / PREVIOUS)
    os.replace(directory / FRESH, newest)
    with contextlib.suppress(FileNotFoundError):
        os.replace(leaving, directory / PREVIOUS)
    sync_directory(directory)


def _read(path: Path) -> tuple[Snapshot, dict[str, int], dict[str, str | int | float], MetadataCopy | None]:
    """Raises one of `_DAMAGED` when anything is not as `_write` wrote it."""
    with h5py.File(path, "r", locking=False) as file:
        refuse_foreign(file)
        about = _about(file)
        arrays = {}
        for i, (name, shape) in enumerate(about["shapes"].items()):
            arrays[name] = _load(file, f"array{i}").reshape(shape)
        return Snapshot(int(about["step"]), arrays), about["rows"], about["meta"], _results(file, about.get("results"))


def _about(file: h5py.File) -> JsonObject:
    """What the checkpoint says of itself. Raises SimsuiteError where that is of another version of simsuite."""
    about: JsonObject = json.loads(_load(file, "meta").tobytes())
    version = about.get("format_version", 1)
    if version != FORMAT_VERSION:
        raise SimsuiteError(
            f"{file.filename} was written by a simsuite whose files have format {version}, not {FORMAT_VERSION}; "
            "continue the run with that one, or ",
            AFRESH,
        )
    if about.pop("digest") != _digest(about):
        raise ValueError("what it says of itself was changed")
    return about


def _digest(about: JsonObject) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _results(file: h5py.File, about: JsonObject | None) -> MetadataCopy | None:
    if about is None:
        return None
    places = np.array(about["places"], np.int64).reshape(-1, 2)
    return MetadataCopy(str(about["mark"]), int(about["size"]), places, _load(file, "results"))


def _load(file: h5py.File, name: str) -> HostArray:
    dataset = file[name]
    if dataset.dtype.kind not in "biufc" or dataset.ndim != 1:
        raise ValueError(f"{name} is no flat array of numbers")
    if dataset.size and (not dataset.fletcher32 or dataset.compression is not None):
        raise ValueError(f"{name} has no checksum")
    if dataset.id.get_storage_size() < math.prod(dataset.shape) * dataset.dtype.itemsize:
        raise ValueError(f"{name} is incomplete")
    values: HostArray = dataset[...]
    return values
