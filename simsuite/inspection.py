"""What a run's directory tells of the run, whoever looks: running, killed, stopped, failed or complete.

Looking disturbs nothing: small files are replaced whole, the result file opens while its writer writes, and of
checkpoints only the record of their step is read.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.checkpoint import read_about, read_checkpoint
from simsuite.io.digests import FIXED, GROUP, coordinate_of, damages
from simsuite.io.directory import RunDirectory
from simsuite.io.layout import as_text
from simsuite.io.reading import reading

_NAMED = 8  # how many runs an error message names
# a run on another machine, whose lock may not be seen from here, counts as running for so many seconds after its last
# note
_FRESH = 60.0
_ATTRIBUTES = ("solver", "status", "device", "device_name", "title", "stepper", "stepper_reason", "precision", "kernel")
_ORIGIN = ("date_created", "host", "command_line", "overrides", "versions", "git_commit", "git_dirty", "history")
_AT = ("steps", "time", "time_unit", "end", "percent", "seconds_left", "host", "pid", "started")


def inspect(run: RunDirectory) -> dict[str, Any]:
    """What `simsuite info --json` prints of a run.

    status: "running", "killed", "stopped", "failed" or "complete". time_unit: of all its times, if they have one.
    steps, time, end, percent, seconds_left, host, pid, started: of a run that is running or was killed, as it wrote
    them `updated` seconds ago; percent also of one that was stopped. failure: what ended a run that failed. datasets:
    the shape of each array in the result file. origin: when, where and how its run began, with `history`, a line for
    each part of the run. checkpoint: steps and time of the newest one, and its stage, in words,
    where these do not tell it; None of a run that is complete and needs none any more. resume: the command that
    continues the run, where it can be. summary: what `run --json` printed at its end, None while there is none.

    Raises UsageError where there is no run, SimsuiteError where its files are damaged.
    """
    in_use, live = run.in_use, run.read_progress()
    if not (run.exists or in_use):
        raise UsageError(f"{run.path} {run.without()}{runs_nearby(run.path)}")
    found: dict[str, Any] = {"directory": str(run.path), **_of_results(run)}
    if live is not None:
        found = {name: live[name] for name in ("solver", "device", "device_name") if name in live} | found
    alive = in_use or (live is not None and _speaks(live))
    if alive:
        found["status"] = "running"
    elif found.get("status", "running") == "running":
        found["status"] = "killed"
    if live is not None and found["status"] in ("running", "killed"):
        found |= {name: live[name] for name in _AT if name in live}
        found["updated"] = max(time.time() - float(live.get("updated", 0.0)), 0.0)
    # from the last checkpoint of a Monte Carlo run more paths go on
    over = found["status"] == "complete" and found.get("solver") != "gbm"
    about = None if over else read_about(run.path)
    found["checkpoint_step"] = None if about is None else about[1].get("steps", about[0])
    if about is not None and found["status"] in ("running", "killed"):
        found |= _later(found, found["checkpoint_step"], about[1].get("time"))
    found["checkpoint"] = None if about is None else _checkpoint(*about)
    if found["status"] in ("killed", "stopped", "failed") and run.scenario.exists():
        found["resume"] = f"simsuite resume {run.path}"
    if found["status"] == "failed" and (reason := _failure(run)):
        found["failure"] = reason
    found["summary"] = None if alive else run.read_summary()
    if found["status"] == "stopped" and "percent" in (found["summary"] or {}):
        found["percent"] = found["summary"]["percent"]
    return found


def _checkpoint(step: int, meta: Mapping[str, Any]) -> dict[str, Any]:
    """What `inspect` tells of a checkpoint."""
    found = {"step": meta.get("steps", step), "time": meta.get("time")}
    return found | ({"stage": meta["stage"]} if "stage" in meta else {})


def look_through(run: RunDirectory) -> dict[str, Any]:
    """Whether the files of a run are as they were written: all rows of its results, which takes as long as reading
    them, and its checkpoints.

    rows: by series, those that were looked at. damaged: variable, coordinate, value of that, for each row that changed
    since it was written; coordinate and value are None for a variable that does not grow. checkpoint: as of
    `inspect`, of the newest that is whole, None where there is none. note: what is wrong with newer ones.

    Raises SimsuiteError where the results cannot be read, or no checkpoint is whole.
    """
    run.read_scenario()
    run.read_summary()
    damaged: list[dict[str, Any]] = []
    with reading(run.results) as file:
        file.visititems(_read_metadata)
        rows = {dim: len(digests) for dim, digests in file.get(GROUP, {}).items() if dim != FIXED}
        for damage in damages(file):
            if damage.dim is None:
                damaged.append({"variable": damage.variable, "coordinate": None, "at": None})
                continue
            coordinate = coordinate_of(file, damage.dim)
            for row in damage.rows:
                at = float(file[coordinate][row])
                damaged.append({"variable": damage.variable, "coordinate": coordinate, "at": at})
    found = read_checkpoint(run.path)
    checkpoint, note = None, None
    if found is not None:
        checkpoint, note = _checkpoint(found.snapshot.step, found.meta), found.note
    return {"directory": str(run.path), "rows": rows, "damaged": damaged, "checkpoint": checkpoint, "note": note}


def _read_metadata(name: str, item: h5py.Group | h5py.Dataset) -> None:
    """Read the attributes of an object; HDF5 raises an error where its metadata do not match their checksums."""
    dict(item.attrs)


def _later(found: Mapping[str, Any], steps: int, at: Any) -> dict[str, Any]:
    """The position of a run by its newest checkpoint, if that is later than its last note on its progress."""
    if found.get("solver") == "gbm" or at is None or not found.get("end") or steps <= found.get("steps", steps):
        return {}
    position = {"steps": steps, "time": at, "percent": max(100.0 * at / found["end"], found.get("percent", 0.0))}
    # Of a run that goes on, the last note is about a second old, and the time left that it tells still holds.
    return position if found["status"] == "running" else position | {"seconds_left": None}


def runs_in(directory: Path) -> list[RunDirectory]:
    """The runs in the folders of a directory, by name."""
    if not directory.is_dir():
        return []
    runs = [RunDirectory(path) for path in sorted(directory.iterdir()) if path.is_dir()]
    return [run for run in runs if run.exists]


def runs_below(directory: Path) -> Iterator[RunDirectory]:
    """The runs in a directory, itself or any folder below it, by name; not what lies in the folder of a run, nor the
    members of a sweep, whose directory comes in their place."""
    run = RunDirectory(directory)
    if run.exists or (directory / "sweep.json").is_file():
        yield run
        return
    try:
        below = sorted(path for path in directory.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:  # a folder that may not be read
        return
    for path in below:
        yield from runs_below(path)


def bytes_in(directory: Path) -> int:
    """What the files in a directory and below it take."""
    found = 0
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):  # a file that is replaced just now
            found += path.lstat().st_size if path.is_file() and not path.is_symlink() else 0
    return found


def _failure(run: RunDirectory) -> str | None:
    """The text of the last failure in the log; None if there is none."""
    if not run.log.is_file():
        return None
    lines = run.log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(" failed: ")[2] for line in reversed(lines) if " failed: " in line), None)


def runs_nearby(path: Path) -> str:
    """Names of runs near `path` that may have been meant, as the end of a message."""
    for place in (path.parent, Path("runs")):
        found = [str(run.path) for run in runs_in(place)]
        if found:
            left = len(found) - _NAMED
            more = f" and {left} more: `simsuite info {place}` lists them" if left > 0 else ""
            are = "is" if len(found) == 1 else "are"
            return f"\n  = help: there {are} {', '.join(found[:_NAMED])}{more}"
    return ""


def _speaks(live: dict[str, Any]) -> bool:
    """Whether a process on another machine has lately written how far it is."""
    return live.get("host") != socket.gethostname() and time.time() - float(live.get("updated", 0.0)) < _FRESH


def _of_results(run: RunDirectory) -> dict[str, Any]:
    """Attributes of the result file, the unit of its times and the shapes of its arrays."""
    if not run.results.exists():
        return {"datasets": {}}
    try:
        return _read(run)
    except SimsuiteError:
        if run.in_use:  # the file is being written, and looks damaged in between
            return {"datasets": {}}
        raise


def _read(run: RunDirectory) -> dict[str, Any]:
    with reading(run.results) as file:
        attributes = {name: as_text(file.attrs[name]) for name in _ATTRIBUTES if name in file.attrs}
        shapes = {name: list(item.shape) for name, item in file.items() if isinstance(item, h5py.Dataset)}
        if "time" in shapes and "units" in file["time"].attrs:
            attributes["time_unit"] = as_text(file["time"].attrs["units"])
        origin = {name: as_text(file.attrs[name]) for name in _ORIGIN if name in file.attrs}
    return {**attributes, "datasets": shapes, **({"origin": _as_written(origin)} if origin else {})}


def _as_written(origin: dict[str, str]) -> dict[str, Any]:
    """What the result file tells of its origin; lists and tables, which it has as JSON, as such."""
    found: dict[str, Any] = dict(origin)
    for name in ("overrides", "versions"):
        with contextlib.suppress(KeyError, ValueError):
            found[name] = json.loads(origin[name])
    if "git_dirty" in origin:
        found["git_dirty"] = origin["git_dirty"] == "yes"
    return found
