"""The results of a run: one HDF5 file that grows row by row, and opens at any moment of its life.

A row is written in three steps, each flushed before the next begins: the data, then the series' coordinate (its length
is what counts as committed), then VTKHDF's `NSteps`. HDF5's single-writer mode (SWMR) keeps the file's metadata in a
state that readers understand in between. After every flush the superblock's "open for writing" flags are cleared, so
that readers need no special option while the run writes, nor after it was killed.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import h5py
import numpy as np

from simsuite.core import HostArray, Layout
from simsuite.errors import AFRESH, SimsuiteError
from simsuite.io.digests import FIXED, GROUP, FixedDigests, SeriesDigests, damages, in_words
from simsuite.io.disk import abandon, explained, require_room, require_whole, sync_directory
from simsuite.io.foreign import refuse_foreign
from simsuite.io.layout import (
    LIBVER,
    SMALL_CHUNK,
    STATUS_BYTES,
    Column,
    as_text,
    build,
    growing_axis,
    history_type,
    plain_variables,
    require_layout,
    restore_fixed,
)
from simsuite.io.metadata import MetadataCopy, chunk_places, contiguous_place
from simsuite.io.reading import DAMAGED
from simsuite.io.superblock import clear_flags
from simsuite.provenance import HISTORY_BYTES, appended

# bytes of chunks that HDF5 keeps for each array: the one that is being filled. Its default, 8 MiB, would keep all rows
# of small arrays, so that the memory of a run grew with its frames.
_CHUNK_CACHE = 2 * SMALL_CHUNK
RUN_ID = "run_id"  # the attribute that tells the file from that of any other run


class ResultsFile:
    """The file results.h5 for its writer. It is made by `create` or `reopen` and used by one thread at a time.

    Every method that writes raises SimsuiteError when the disk is full or fails; the file on disk then still holds
    every committed row, and this object can only be closed.
    """

    def __init__(self, path: Path, file: h5py.File, layout: Layout) -> None:
        self._path, self._file = path, file
        self._columns: dict[str, dict[str, Column]] = {s.dim: {} for s in layout.series}
        self._coordinates = {s.dim: Column(file[s.coordinate.name], 0) for s in layout.series}
        self._lengths = {s.dim: file[s.dim] for s in layout.series if s.dim != s.coordinate.name}
        self._fixed: dict[str, h5py.Dataset] = {}
        for variable in plain_variables(layout):
            growing = growing_axis(variable, layout)
            if growing is None:
                self._fixed[variable.name] = file[variable.name]
            else:
                self._columns[growing[0]][variable.name] = Column(file[variable.name], growing[1])
        self._picture = None
        if layout.image is not None:
            image = next(v for v in layout.variables if v.name == layout.image.variable)
            self._picture = image.dims[0]
        self._rows = {s.dim: self._committed(s.dim) for s in layout.series}
        self._fixed_digests = FixedDigests(file[GROUP][FIXED])
        self._digests = {dim: SeriesDigests(file[GROUP][dim]) for dim in self._rows}
        self._fd = os.open(path, os.O_RDWR)
        self._open = True

    @classmethod
    def create(
        cls,
        path: Path,
        layout: Layout,
        attributes: Mapping[str, str | int | float],
        compression: str = "none",
        history: str = "",
    ) -> ResultsFile:
        """A new file without rows, in place of any at `path`. compression: "none" or "lossless" (shuffle and gzip).
        history: see `appended`, of at most `HISTORY_BYTES`.

        Raises ValueError when the layout contradicts itself, SimsuiteError when the disk fails.
        """
        fresh = path.with_name(path.name + ".new")  # a kill before the file is whole leaves nothing at `path`
        with explained(path):
            file = h5py.File(fresh, "w", libver=LIBVER, rdcc_nbytes=_CHUNK_CACHE, track_order=True)
            try:
                build(file, layout, {**attributes, RUN_ID: uuid.uuid4().hex}, compression, history)
                file.swmr_mode = True
                results = cls(fresh, file, layout)
            except BaseException:
                abandon(file)
                fresh.unlink(missing_ok=True)
                raise
            results.flush_to_disk()
            try:
                os.replace(fresh, path)
                sync_directory(path.parent)
            except BaseException:
                results.close()
                raise
        results._path = path
        return results

    @classmethod
    def reopen(
        cls, path: Path, layout: Layout, rows: Mapping[str, int], copy: MetadataCopy, line: str = ""
    ) -> ResultsFile:
        """Continue the file of an interrupted run from where `copy` was made and it had `rows` rows in each series,
        whatever was written since then. line: is added to its history.

        Raises SimsuiteError when it is another file, of another layout, or damaged where that cannot be put right.
        """
        try:
            copy.restore(path)
            file = _open_for_writing(path)
            try:
                refuse_foreign(file)
                require_layout(file, layout)
                restore_fixed(file, layout)
                file.swmr_mode = True  # switched on at once: a kill during ordinary writing could ruin the file
                results = cls(path, file, layout)
                require_whole(file, path)
                if results.all_rows() != rows:
                    raise ValueError(f"it has {results.all_rows()} rows, its checkpoint {dict(rows)}")
                if any(len(results._digests[dim].dataset) != n for dim, n in rows.items()):
                    raise ValueError("it has not as many digests as rows")
                if changed := in_words(file, damages(file)):
                    raise ValueError(f"{changed} changed since it was written")
            except BaseException:
                with contextlib.suppress(OSError, ValueError):
                    clear_flags(file.id.get_vfd_handle())
                abandon(file)
                raise
        except DAMAGED as error:
            raise damaged(path, error) from error
        try:
            results.set_status("running")
            if line:
                results.add_history(line)
        except SimsuiteError:
            results.close()
            raise
        return results

    def rows(self, series_dim: str) -> int:
        """Committed rows of the series that grows along `series_dim`."""
        return self._rows[series_dim]

    def all_rows(self) -> dict[str, int]:
        """Committed rows of every series, by dimension."""
        return dict(self._rows)

    def append(self, series_dim: str, rows: Mapping[str, HostArray]) -> None:
        """Commit one row: for every variable that grows along `series_dim`, its coordinate included, an array of the
        variable's shape without that dimension.

        Raises ValueError when a variable is missing or has another shape.
        """
        n, columns = self._rows[series_dim], self._columns[series_dim]
        coordinate = self._coordinates[series_dim]
        name = coordinate.dataset.name[1:]
        missing = (columns.keys() | {name}) - rows.keys()
        if missing:
            raise ValueError(f"a row of series {series_dim} lacks {', '.join(sorted(missing))}")
        require_room(self._path.parent, sum(c.row_bytes for c in columns.values()))
        with self._writing():
            found = {key: column.write(n, rows[key]) for key, column in columns.items()}
            if series_dim in self._lengths:
                self._lengths[series_dim].resize(n + 1, axis=0)
            self._publish()
            found[name] = coordinate.write(n, rows[name])
            self._publish()
            self._digests[series_dim].add(found)
            self._count_frames(series_dim, n + 1)
        self._rows[series_dim] = n + 1

    def write_totals(self, totals: Mapping[str, HostArray]) -> None:
        """Fill in fixed variables that are known at the end of the run.

        Raises ValueError for a name that is no fixed variable, or another shape.
        """
        for name, values in totals.items():
            if name not in self._fixed:
                raise ValueError(f"{name} is no variable of fixed size")
            if np.shape(values) != self._fixed[name].shape:
                raise ValueError(f"{name} has shape {self._fixed[name].shape}, not {np.shape(values)}")
        with self._writing():
            for name, values in totals.items():
                self._fixed[name][...] = values
                self._fixed_digests.store(name, np.asarray(values, self._fixed[name].dtype))
            self._publish()

    def set_status(self, status: str) -> None:
        """Set the root attribute `status`: "running", "complete" or "stopped", in place."""
        if len(status) > STATUS_BYTES:
            raise ValueError(f"status {status!r} is longer than {STATUS_BYTES} bytes")
        with self._writing():
            self._file.attrs.modify("status", np.array(status.encode(), f"S{STATUS_BYTES}"))
            self._publish()

    def add_history(self, line: str) -> None:
        """Add a line to the root attribute `history`, in place. Files of earlier versions have none."""
        if "history" not in self._file.attrs:
            return
        history = appended(as_text(self._file.attrs["history"]), line, HISTORY_BYTES)
        with self._writing():
            self._file.attrs.modify("history", np.array(history.encode(), history_type()))
            self._publish()

    def flush_to_disk(self) -> None:
        """Return when everything written so far is on the disk itself.

        Raises SimsuiteError also when the file is no longer at its place.
        """
        with self._writing():
            self._store_digests()
            self._publish()
            os.fsync(self._fd)
        self._require_place()

    def copy_metadata(self) -> MetadataCopy:
        """What `reopen` needs to continue from here; of use only if all is on the disk."""
        with self._writing():
            rows = [place for d in self._fixed.values() if (place := contiguous_place(d)) is not None]
            for dim, columns in self._columns.items():
                for column in (*columns.values(), self._coordinates[dim]):
                    rows += chunk_places(column.dataset, column.axis, self._rows[dim])
                rows += chunk_places(self._digests[dim].dataset, 0, self._rows[dim])
            return MetadataCopy.of(self._fd, str(self._file.attrs[RUN_ID]), np.array(rows, np.int64).reshape(-1, 2))

    def close(self) -> None:
        """Close the file and return when it is on the disk; closing it again does nothing."""
        if self._open:
            with self._writing():
                self._store_digests()
                self._publish()
                os.fsync(self._fd)
            self._release()

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _require_place(self) -> None:
        """Raise SimsuiteError if the name of the file now belongs to another file, or to none."""
        try:
            same = os.path.samestat(os.stat(self._path), os.fstat(self._fd))
        except OSError:
            same = False
        if not same:
            raise SimsuiteError(
                f"{self._path} was deleted, moved or replaced while the run was writing it; put it back and run again "
                "to continue from the last checkpoint, or ",
                AFRESH,
            )

    def _store_digests(self) -> None:
        for digests in self._digests.values():
            digests.store()

    def _publish(self) -> None:
        self._file.flush()
        clear_flags(self._fd)

    def _count_frames(self, dim: str, n: int) -> None:
        if dim == self._picture:
            self._file["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(n))
            self._publish()

    def _committed(self, dim: str) -> int:
        """The number of rows whose coordinate has been written; a row without one was being written when the writer was
        killed."""
        coordinate = self._coordinates[dim].dataset[...]
        unset = np.flatnonzero(np.isnan(coordinate))
        return min([unset[0] if unset.size else len(coordinate), *map(len, self._columns[dim].values())])

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        if not self._open:
            raise SimsuiteError(f"{self._path} was closed after an error")
        try:
            with explained(self._path):
                yield
        except SimsuiteError:
            self._release()
            raise

    def _release(self) -> None:
        self._open = False  # h5py may take a file for open whose closing failed
        abandon(self._file)
        os.close(self._fd)


def _open_for_writing(path: Path) -> h5py.File:
    """Open the file for writing without HDF5's lock, which readers such as ParaView may hold; the lock of the run's
    directory keeps other writers out."""
    try:
        return h5py.File(path, "r+", libver=LIBVER, rdcc_nbytes=_CHUNK_CACHE)
    except BlockingIOError:
        return h5py.File(path, "r+", libver=LIBVER, rdcc_nbytes=_CHUNK_CACHE, locking=False)


def damaged(path: Path, error: Exception) -> SimsuiteError:
    """The error for a results file with which a run cannot be continued."""
    return SimsuiteError(f"{path} cannot be continued ({error}); bring the file back from a copy, or ", AFRESH)
