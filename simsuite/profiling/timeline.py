"""Spans of time on tracks, and the file that they are written to: JSON in Chrome's trace format, which Perfetto
(https://ui.perfetto.dev) and chrome://tracing open.

The format is an object with `traceEvents`; an event of phase "X" has a name, a process and a thread, and begins at `ts`
for `dur`, both in microseconds; events of phase "M" give names to processes and threads (Google, "Trace Event Format").
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST = 200_000  # spans that are kept; later ones are counted only


@dataclass(frozen=True)
class Track:
    """A row of the timeline. process: a group of rows, the host or a device."""

    process: str
    name: str


MAIN, WRITER = Track("host", "main thread"), Track("host", "writer thread")
COMPUTE, COPY = Track("device", "compute stream"), Track("device", "copy stream")
TRACKS = (MAIN, WRITER, COMPUTE, COPY)


@dataclass(frozen=True)
class Span:
    """Something that took time. begin, end: seconds since the profile began. about: what else is known of it."""

    track: Track
    name: str
    begin: float
    end: float
    about: Mapping[str, float | int | str] = field(default_factory=dict)


class Timeline:
    """Spans from any thread. left_out: how many were not kept, see MOST."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.left_out = 0
        self._lock = threading.Lock()

    def add(self, span: Span) -> None:
        with self._lock:
            if len(self.spans) < MOST:
                self.spans.append(span)
            else:
                self.left_out += 1

    def on(self, track: Track, name: str | None = None) -> list[tuple[float, float]]:
        """The times at which spans on a track begin and end, in order; of all names, or of one."""
        return sorted((s.begin, s.end) for s in self.spans if s.track == track and name in (None, s.name))

    def write(self, path: Path, about: Mapping[str, float | int | str]) -> None:
        """Write the file. about: facts about the run, beside the spans."""
        processes = list(dict.fromkeys(track.process for track in TRACKS))
        place = {track: (processes.index(track.process) + 1, k + 1) for k, track in enumerate(TRACKS)}
        events: list[dict[str, object]] = []
        for track, (process, thread) in place.items():
            whose = {"ph": "M", "pid": process, "tid": thread}
            events.append({"name": "process_name", "args": {"name": track.process}, **whose})
            events.append({"name": "thread_name", "args": {"name": track.name}, **whose})
        for span in sorted(self.spans, key=lambda s: (s.begin, -s.end)):
            process, thread = place[span.track]
            times = {"ts": 1e6 * span.begin, "dur": 1e6 * (span.end - span.begin)}
            events.append(
                {"name": span.name, "ph": "X", "pid": process, "tid": thread, **times, "args": dict(span.about)}
            )
        whole = {"traceEvents": events, "displayTimeUnit": "ms", "otherData": dict(about)}
        path.write_text(json.dumps(whole), encoding="utf-8")


def total(spans: Iterable[tuple[float, float]]) -> float:
    """The seconds in which at least one of the spans lasts."""
    return sum(end - begin for begin, end in merged(spans))


def merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The spans as intervals that do not touch each other, increasing."""
    found: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def overlap(some: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]) -> float:
    """The seconds in which a span of each of two kinds lasts."""
    return total(some) + total(others) - total([*some, *others])
