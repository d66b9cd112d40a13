"""The directory of a run: what its files are called, who may write them, and how far the run got."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io import checkpoint
from simsuite.io.disk import explained, replace_text


def without_nan(value: Any) -> Any:
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
        self.scenario = self.path / "scenario.toml"
        self.summary = self.path / "summary.json"
        self.log = self.path / "log.txt"
        self.lock = self.path / "lock"
        self._checkpoints = [self.path / checkpoint.NEWEST, self.path / checkpoint.PREVIOUS]

    @contextlib.contextmanager
    def locked(self) -> Iterator[RunDirectory]:
        """Make the directory if need be and keep every other simsuite out of it; a kill releases the lock too.

        Raises UsageError when another process holds it, or the directory cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UsageError(f"cannot use {self.path} as output directory: {error.strerror}") from error
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another simsuite is running in {self.path}") from None
            yield self
        finally:
            os.close(fd)

    def state(self) -> State:
        """A summary that says "complete" marks a finished run; results or a checkpoint an unfinished one."""
        summary = self.read_summary()
        if summary is not None and summary.get("status") == "complete" and self.results.exists():
            return State.FINISHED
        if any(path.exists() for path in [self.results, *self._checkpoints]):
            return State.UNFINISHED
        return State.EMPTY

    def write_scenario(self, text: str) -> None:
        """The fully resolved scenario. Raises SimsuiteError when the disk fails."""
        replace_text(self.scenario, text)

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """What `run --json` printed. Raises SimsuiteError when the disk fails."""
        replace_text(self.summary, json.dumps(without_nan(summary), indent=2, ensure_ascii=False) + "\n")

    def read_summary(self) -> dict[str, Any] | None:
        """None when there is none. Raises SimsuiteError when it is damaged."""
        try:
            summary = json.loads(self.summary.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise SimsuiteError(f"{self.summary} is damaged ({error}); start the run again with --fresh") from error
        if not isinstance(summary, dict):
            raise SimsuiteError(f"{self.summary} is damaged; start the run again with --fresh")
        return summary

    def append_log(self, line: str) -> None:
        """Add a line to log.txt, with the date and time. Raises SimsuiteError when the disk fails."""
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        with explained(self.log), self.log.open("a", encoding="utf-8") as file:
            file.write(f"{now} {line}\n")

    def clear(self) -> None:
        """Remove the files of an earlier run, and nothing else that may be in the directory."""
        made = [self.summary, self.results, self.scenario, self.log, *self._checkpoints]
        made += [path.with_name(path.name + ".new") for path in (self.summary, self.results, self.scenario)]
        made += [self.path / checkpoint.FRESH, self.path / checkpoint.LEAVING]
        for path in made:
            path.unlink(missing_ok=True)
