"""How a watched run stands, in lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simsuite.inspection import elsewhere, resuming
from simsuite.io.directory import RunDirectory
from simsuite.watching.newest import Newest
from simsuite.watching.standing import COMPLETE, FAILED, KILLED, OVER, STARTING, STOPPED, WAITING, Standing
from simsuite.words import duration, measured, steps_in_words, with_prefix

_LATE = 5.0  # seconds without news from which on it is said how old the news are


def headline(run: RunDirectory, standing: Standing) -> str:
    """ "runs/heat: heat run, running, on cpu (Intel ..)"."""
    about = {**standing.note, **(standing.summary or {})}
    if standing.phase == WAITING:
        return f"{run.path}: no run yet, waiting for it to begin"
    device = f", on {about['device']} ({about.get('device_name', 'unknown')})" if "device" in about else ""
    kind = f"{about['solver']} run, " if "solver" in about else ""
    return f"{run.path}: {kind}{standing.phase}{device}"


def progress_lines(standing: Standing) -> list[str]:
    """Where the run is, or was, and how long it will still take."""
    note = standing.note
    if standing.summary is not None:
        return _ended(standing.summary)
    if standing.phase == FAILED:  # which says itself where it was; the note may be older
        return []
    if standing.phase == STARTING:
        return ["starting: kernels are being compiled", *_whereabouts(standing)]
    if "steps" not in note:
        unread = ["how far it is cannot be read: progress.json is damaged, or is none of this version"]
        return [] if standing.phase in (WAITING, *OVER) else unread
    return [reached(standing), *_whereabouts(standing)]


def reached(standing: Standing) -> str:
    """ "step 312, t = 31.2 of 100 s, 31.2 %, 4.2 Mcell-steps/s, about 12 s left"."""
    note, parts = standing.note, []
    if note.get("solver") != "gbm":  # there steps begin anew with every batch of paths
        parts.append(f"step {note['steps']}")
        parts.append(f"t = {note['time']:.4g} of {measured(format(note['end'], '.4g'), note.get('time_unit', ''))}")
    parts.append(f"{note['percent']:.1f} %")
    if note.get("stage"):
        parts.append(str(note["stage"]))
    if standing.phase in OVER:
        return ", ".join(parts)
    if note.get("rate"):
        parts.append(with_prefix(note["rate"], note["rate_unit"]))
    left = note.get("seconds_left")
    if left is not None:
        parts.append(f"about {duration(max(left - standing.silent, 0.0))} left")
    if standing.silent > _LATE:
        parts.append(f"as of {duration(standing.silent)} ago")
    return ", ".join(parts)


def _whereabouts(standing: Standing) -> list[str]:
    note = standing.note
    if not elsewhere(note or None):
        return []
    return [f"running on another host, {note['host']}, as process {note['pid']}"]


def _ended(summary: Mapping[str, Any]) -> list[str]:
    unit = summary.get("units", {}).get("time", "")
    steps = steps_in_words(summary["steps"], summary.get("dt"), unit)
    at = f"{steps}, to t = {measured(format(summary['time'], '.6g'), unit)}"
    if summary.get("stepper") == "steady":
        at = "steady state"
    if summary["status"] == STOPPED and "percent" in summary:
        at += f", {summary['percent']:.1f} %"
    return [f"{at}; took {duration(summary['wall_seconds'])}"]


def ending(run: RunDirectory, standing: Standing) -> list[str]:
    """How the run ended and what continues it; no lines while it goes on."""
    again = f"continue with `{resuming(run)}`, or the command that it was started with"
    if standing.phase == KILLED:
        at = f" at {where}" if (where := _step(standing.note)) else ""
        lines = [f"killed{at}: {again}"]
        if standing.lock == "untestable":
            lines.append("its lock cannot be tested here: see first whether its process is gone")
        return lines
    if standing.phase == FAILED:
        reason = standing.failure or "before it wrote any results"
        return [f"failed: {reason}", f"once that is put right, `{resuming(run)}` goes on, and --fresh begins again"]
    if standing.phase == STOPPED:
        by = (standing.summary or {}).get("stopped_by")
        return [f"stopped early{f' ({by})' if by else ''}: {again}"]
    return [f"complete: results in {run.results}"] if standing.phase == COMPLETE else []


def _step(note: Mapping[str, Any]) -> str:
    """ "step 312, 31.2 %", or what is known of that."""
    if "percent" not in note:
        return ""
    step = "" if note.get("solver") == "gbm" else f"step {note['steps']}, "
    return f"{step}{note['percent']:.1f} %"


def number_lines(newest: Newest, width: int, most: int) -> list[str]:
    """Names and values side by side, as many as fit into `most` lines; the last ones are left out first."""
    if most <= 0 or not newest.numbers:
        return []
    cells = [f"{name} {value}" for name, value in newest.numbers]
    widest = max(map(len, cells))
    columns = max((width + 3) // (widest + 3), 1)
    rows: Sequence[Sequence[str]] = [cells[i : i + columns] for i in range(0, len(cells), columns)]
    return ["   ".join(cell.ljust(widest) for cell in row).rstrip() for row in rows[:most]]
