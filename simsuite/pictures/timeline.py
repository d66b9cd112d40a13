"""The picture of a timeline: a row for each track, a bar for each span, over a part of the run in which copies are
made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from simsuite.pictures.sheet import COLOURS, Sheet, tidy

ROWS = (
    ("compute stream", None, "steps, device"),
    ("main thread", "stretch", "steps queued, host"),
    ("main thread", "snapshot", "snapshots taken"),
    ("copy stream", None, "copies, device"),
    ("writer thread", "copy", "waiting for copies"),
    ("writer thread", "write", "writing files"),
)
MOST = 60  # spans of the row with the most of them in the part that is drawn
HEIGHT = 0.34  # inches of a row


class _Track(Protocol):
    @property
    def name(self) -> str: ...


class _Span(Protocol):
    @property
    def track(self) -> _Track: ...
    @property
    def name(self) -> str: ...
    @property
    def begin(self) -> float: ...
    @property
    def end(self) -> float: ...


class _Timeline(Protocol):
    @property
    def spans(self) -> Sequence[_Span]: ...


@dataclass(frozen=True)
class _Titled:
    title: str
    finished: bool = True


def draw_timeline(path: Path, timeline: _Timeline, title: str, device: str) -> None:
    """Draw the spans of a timeline into `path`. The whole run is drawn, or if that has more than MOST spans of a kind,
    a part around its middle."""
    found = [(label, _of(timeline, track, name)) for track, name, label in ROWS]
    rows = [(label, spans) for label, spans in found if spans]
    every = [spans for _, spans in rows]
    (first, last), (begin, end) = _whole(every), _part(every)
    part = "" if (begin, end) == (first, last) else f"   |   {begin:.2f} to {end:.2f} s of {last:.2f} s"
    sheet = Sheet(_Titled(title), 1.35 + HEIGHT * len(rows), device + part)
    ax = sheet.figure.subplots()
    for k, (_, spans) in enumerate(rows):
        bars = [(a, b - a) for a, b in spans if b >= begin and a <= end]
        ax.broken_barh(bars, (len(rows) - k - 1.35, 0.7), facecolors=COLOURS[k % len(COLOURS)], linewidth=0)
    tidy(ax, "", "seconds since the run began", "")
    ax.set_xlim(begin, end)
    ax.set_yticks([len(rows) - k - 1 for k in range(len(rows))], [label for label, _ in rows])
    sheet.save(path)


def _of(timeline: _Timeline, track: str, name: str | None) -> list[tuple[float, float]]:
    spans = (s for s in timeline.spans if s.track.name == track and name in (None, s.name))
    return sorted((s.begin, s.end) for s in spans)


def _part(rows: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """From when to when the timeline is drawn."""
    most = max(rows, key=len)
    if len(most) <= MOST:
        return _whole(rows)
    first = (len(most) - MOST) // 2
    return most[first][0], most[first + MOST - 1][1]


def _whole(rows: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """From the first begin of a span to the last end."""
    return min(row[0][0] for row in rows), max(max(end for _, end in row) for row in rows)
