"""The directory of a run: what its files are called, who may write them, and how far the run got."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import stat
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import overload

import tomli_w

from simsuite.core import JsonObject
from simsuite.errors import AFRESH, Advice, SimsuiteError, UsageError
from simsuite.io import checkpoint
from simsuite.io.disk import explained, read_text, replace_text, sync_directory
from simsuite.io.lock import Lock
from simsuite.io.reading import reading

_MARK = b"simsuite\n"  # the contents of the lock file in the directory of a run
_CHECKSUM = "crc32"  # the key in progress.json of the CRC-32 of all other keys
_ANOTHER = Advice(
    "-o DIR writes the run into another directory; or move these files elsewhere",
    "directory=.. writes the run into another directory; or move these files elsewhere",
)


@overload
def without_nan(value: Mapping[str, object]) -> JsonObject: ...


@overload
def without_nan(value: object) -> object: ...


def without_nan(value: object) -> object:
    """The value with None for every NaN and Inf, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class State(Enum):
    """How far the run in a directory got."""

    EMPTY = "empty"
    UNFINISHED = "unfinished"
    FINISHED = "finished"


class RunDirectory:
    """Names and small files of the run in `path`. Reading needs no lock, everything that writes needs `locked`."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.results = self.path / "results.h5"
        self.longer = self.path / "results.longer.h5"  # while the run is made one to a later end
        self.scenario = self.path / "scenario.toml"
        self.summary = self.path / "summary.json"
        self.log = self.path / "log.txt"
        self._lock = Lock(self.path)
        self.progress = self.path / "progress.json"
        self._checkpoints = [self.path / checkpoint.NEWEST, self.path / checkpoint.PREVIOUS]
        replaced = [self.summary, self.results, self.scenario, self.progress, self.longer]
        self._files = [*replaced, self.log, *self._checkpoints]  # all that a run writes, but the lock
        self._files += [path.with_name(path.name + ".new") for path in replaced]
        self._files += [self.path / checkpoint.FRESH, self.path / checkpoint.LEAVING]

    @classmethod
    def of(cls, path: Path | str) -> RunDirectory:
        """The directory of the run that `path` names: itself, one of its files, or a scenario file elsewhere, whose
        runs go to runs/<its name> by default."""
        path = Path(path)
        if not path.is_file():
            return cls(path)
        if path.suffix == ".toml" and not (path.parent / "results.h5").exists():
            return cls(Path("runs") / path.stem)
        return cls(path.parent)

    @property
    def exists(self) -> bool:
        """Whether a run has begun here."""
        return self.results.exists() or self.progress.exists()

    def without(self, name: str = "results.h5") -> str:
        """The words, after the directory's name, for that it holds no run, as the file `name` is not there."""
        found = f"holds no run (no {name} in it)"
        with contextlib.suppress(OSError):
            if self._lock.path.read_bytes() == _MARK:
                return f"{found}: one that began in it ended before it wrote that; the same command begins it again"
        return found

    @contextlib.contextmanager
    def locked(self) -> Iterator[RunDirectory]:
        """Make the directory if need be and keep every other simsuite out of it; a kill releases the lock too.

        Raises UsageError when another process holds it, the directory cannot be made, or it has something else in the
        place of files that a run writes.
        """
        try:
            new = [path for path in (self.path, *self.path.parents) if not path.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
            for path in new:
                sync_directory(path.parent)
        except OSError as error:
            raise self._unusable(error) from error
        with contextlib.ExitStack() as stack:
            try:
                lock = stack.enter_context(self._lock.held())
                self._claim(lock)
            except BlockingIOError:
                raise UsageError(f"another simsuite is running in {self.path}{self._who()}") from None
            except OSError as error:
                raise self._unusable(error) from error
            yield self

    def _claim(self, lock: int) -> None:
        """Mark the directory, by a word in its lock file, as one in which simsuite may overwrite its own files."""
        there = [path for path in self._files if os.path.lexists(path)]
        other = [path.name for path in there if not stat.S_ISREG(path.lstat().st_mode)]
        if other:
            raise UsageError(f"cannot use {self.path} as output directory: {', '.join(other)} in it is no plain file")
        marked = os.pread(lock, len(_MARK) + 1, 0)
        if marked == _MARK:
            return
        foreign = [path.name for path in there]
        if not _MARK.startswith(marked.rstrip(b"\0")):  # as after a kill or a power cut while the mark was written
            foreign.append(self._lock.path.name)
        if foreign and not self._has_results_of_simsuite():
            if not os.fstat(lock).st_size:
                self._lock.path.unlink()
            raise UsageError(
                f"{self.path} has files that a run would overwrite, and simsuite did not write them: "
                f"{', '.join(foreign)}\n  = help: ",
                _ANOTHER,
            )
        os.pwrite(lock, _MARK, 0)
        os.fsync(lock)  # the mark is on the disk before any other file can be
        sync_directory(self.path)

    def _has_results_of_simsuite(self) -> bool:
        """Whether the results file says which simsuite wrote it, as do those of versions that did not mark directories
        yet."""
        with contextlib.suppress(SimsuiteError), reading(self.results) as file:
            return "simsuite_version" in file.attrs
        return False

    def require_own_scenario(self) -> None:
        """Raise UsageError where somebody has written or changed scenario.toml by hand, who would lose that."""
        try:
            text = self.read_scenario()
        except SimsuiteError:  # a damaged file cannot have been meant
            return
        if text is not None and text != tomli_w.dumps(tomllib.loads(text)):
            raise UsageError(
                f"{self.scenario} was written or changed by hand and would be overwritten\n  = help: ", _ANOTHER
            )

    def _unusable(self, error: OSError) -> UsageError:
        where = f" ({error.filename})" if error.filename is not None and Path(error.filename) != self.path else ""
        return UsageError(f"cannot use {self.path} as output directory: {error.strerror}{where}")

    @property
    def in_use(self) -> bool:
        """Whether a simsuite has locked the directory."""
        return self._lock.in_use

    def _who(self) -> str:
        found = self.read_progress()
        return "" if found is None else f" (process {found.get('pid')} on {found.get('host')})"

    def state(self) -> State:
        """A summary that says "complete" marks a finished run; results or a checkpoint an unfinished one."""
        summary = self.read_summary()
        if summary is not None and summary.get("status") == "complete" and self.results.exists():
            return State.FINISHED
        if self.results.exists() or self.has_checkpoint:
            return State.UNFINISHED
        return State.EMPTY

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint, whole or damaged, from which the run would go on."""
        return any(path.exists() for path in self._checkpoints)

    def write_scenario(self, text: str) -> None:
        """Write the fully resolved scenario. Raises SimsuiteError when the disk fails."""
        replace_text(self.scenario, text)

    def read_scenario(self) -> str | None:
        """The resolved scenario; None when there is none. Raises SimsuiteError when it is damaged."""
        try:
            text = read_text(self.scenario)
            tomllib.loads(text)
            return text
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise SimsuiteError(f"{self.scenario} is damaged ({error}); ", AFRESH) from error

    def write_summary(self, summary: Mapping[str, object]) -> None:
        """Write what `run --json` prints. Raises SimsuiteError when the disk fails."""
        replace_text(self.summary, json.dumps(without_nan(summary), indent=2, ensure_ascii=False) + "\n")

    def read_summary(self) -> JsonObject | None:
        """The summary; None when there is none. Raises SimsuiteError when it is damaged."""
        try:
            summary = json.loads(read_text(self.summary))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise SimsuiteError(f"{self.summary} is damaged ({error}); ", AFRESH) from error
        if not isinstance(summary, dict):
            raise SimsuiteError(f"{self.summary} is damaged; ", AFRESH)
        return summary

    def write_progress(self, progress: Mapping[str, object]) -> None:
        """Write how far the run is, such that readers find the old text or the new one at any time. It is of no use
        after a crash of the machine and does not wait for the disk; a disk that fails is no reason to end a run."""
        fresh, note = self.progress.with_name(self.progress.name + ".new"), without_nan(progress)
        with contextlib.suppress(OSError):
            text = json.dumps(note | {_CHECKSUM: _checksum(note)}, ensure_ascii=False)
            fresh.write_text(text + "\n", encoding="utf-8")
            os.replace(fresh, self.progress)

    def read_progress(self) -> JsonObject | None:
        """The note on the run's progress; None where there is none that is as it was written."""
        try:
            found = json.loads(read_text(self.progress))
        except (OSError, ValueError, RecursionError):
            return None
        if isinstance(found, dict) and found.pop(_CHECKSUM, None) == _checksum(found):
            return found
        return None

    def append_log(self, line: str) -> None:
        """Add a line to log.txt, with the date and time. Raises SimsuiteError when the disk fails."""
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        with explained(self.log), self.log.open("a", encoding="utf-8") as file:
            file.write(f"{now} {line}\n")

    def clear(self) -> None:
        """Remove the files of an earlier run, and nothing else that may be in the directory.

        Raises SimsuiteError when the disk fails.
        """
        for path in self._files:
            _remove(path)

    def remove_summary(self) -> None:
        """Remove the summary of an earlier part of the run. Raises SimsuiteError when the disk fails."""
        _remove(self.summary)

    def remove_progress(self) -> None:
        """Remove the note on the run's progress; a disk that fails is no reason to end a run, or to hide why it
        ended."""
        with contextlib.suppress(OSError):
            self.progress.unlink()


def _checksum(note: JsonObject) -> int:
    return zlib.crc32(json.dumps(note).encode())


def _remove(path: Path) -> None:
    with explained(path, "remove"):
        path.unlink(missing_ok=True)
