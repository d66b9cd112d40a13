"""How a run stands, found out by looking at its small files again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simsuite.errors import SimsuiteError
from simsuite.inspection import failure_of, liveness
from simsuite.io.directory import RunDirectory

WAITING, STARTING, RUNNING = "waiting", "starting", "running"
COMPLETE, STOPPED, FAILED, KILLED = "complete", "stopped", "failed", "killed"
OVER = (COMPLETE, STOPPED, FAILED, KILLED)
QUIET = 2.5  # seconds without a new note on the progress, which comes every second, after which the lock is tested


@dataclass(frozen=True)
class Standing:
    """phase: one of the words above. note: the last note on the progress that could be read, empty where there was
    none. lock: see `inspection.liveness`; None where there was no reason to test it. silent: seconds since the note.
    summary: what `run --json` printed at the end, if it ended in order. failure: what ended a run that failed."""

    phase: str
    note: Mapping[str, Any] = field(default_factory=dict)
    lock: str | None = None
    silent: float = 0.0
    summary: Mapping[str, Any] | None = None
    failure: str | None = None

    @property
    def over(self) -> bool:
        return self.phase in OVER


class Watched:
    """A run under observation. The lock is tested only where its notes have stopped coming, so as not to get in the way
    of who wants to take it."""

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        self.run, self._clock = run, clock
        self._note: Mapping[str, Any] | None = None
        self._seen: tuple[int, int] | None = None  # which note was read last
        self._since = clock()  # when it was first seen
        self._fresh = False  # whether the last look found a note that was not there before

    def look(self, status: str | None = None) -> Standing:
        """How the run stands now. status: what its results file says of it, where that is known."""
        there = self._read()
        silent = self._clock() - self._since
        if there and self._fresh and silent < QUIET:
            return self._alive(there, None, silent)
        lock, alive = liveness(self.run, self._note if there else None)
        if alive:
            return self._alive(there, lock, silent)
        return self._ended(lock, there, status)

    def _read(self) -> bool:
        """Read the note on the progress if it is a new one; returns whether there is any."""
        try:
            about = self.run.progress.stat()
        except OSError:
            return False
        seen = (about.st_ino, about.st_mtime_ns)
        if seen != self._seen:
            note = self.run.read_progress()
            if note is not None or self._seen is None:
                # of the note that is there at the first look nobody knows how long it has been
                self._fresh, self._since = self._seen is not None and note is not None, self._clock()
            self._note, self._seen = note or self._note, seen
        return True

    def _alive(self, there: bool, lock: str | None, silent: float) -> Standing:
        note = self._note or {}
        starting = not there or note.get("phase") == "starting"
        return Standing(STARTING if starting else RUNNING, note, lock, silent)

    def _ended(self, lock: str, there: bool, status: str | None) -> Standing:
        note = self._note or {}
        try:
            summary = None if there else self.run.read_summary()
        except SimsuiteError:
            summary = None
        if summary is not None:
            return Standing(str(summary.get("status", COMPLETE)), note, lock, summary=summary)
        begun = status is not None or self.run.results.exists()
        if not there and (status == FAILED or (note and not begun)):
            return Standing(FAILED, note, lock, failure=failure_of(self.run))
        if there or begun:
            return Standing(KILLED, note, lock)
        return Standing(WAITING)
