"""Where a run comes from, as far as its directory tells."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from simsuite.io.directory import RunDirectory
from simsuite.reporting.markup import details, escaped, facts
from simsuite.version import VERSION
from simsuite.words import with_prefix

Pair = tuple[str, str]
_LOG = 200  # lines of the log that are shown
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) ")


def of_run(run: RunDirectory, attributes: dict[str, str]) -> str:
    """Facts on a run, and its log. attributes: those of its results file, as texts."""
    log = run.log.read_text(encoding="utf-8", errors="replace").splitlines() if run.log.is_file() else []
    stamps = [found[1] for line in log if (found := _STAMP.match(line))]
    pairs: list[Pair] = [("directory", str(run.path.resolve()))]
    pairs += [("begun", stamps[0]), ("last logged", stamps[-1])] if stamps else []
    note = run.read_progress() or {}
    pairs += [("host", str(note["host"]))] if "host" in note else []
    names = {
        "simsuite_version": "simsuite",
        "format_version": "format of results.h5",
        "run_id": "run",
        "device": "device",
        "device_name": "device model",
        "precision": "precision",
        "kernel": "kernels",
        "seed": "seed",
    }
    pairs += [(name, attributes[key]) for key, name in names.items() if attributes.get(key)]
    if attributes.get("input_files", "{}") != "{}":
        pairs.append(("input files", attributes["input_files"]))
    pairs.append(("command", f"simsuite run {run.scenario.resolve()}: the resolved scenario, in the same directory"))
    pairs += _files(run.path, ("results.h5", "summary.json", "scenario.toml", "log.txt"))
    return facts([*pairs, *_here()]) + _log(log)


def of_sweep(directory: Path) -> str:
    """Facts on a sweep."""
    pairs = [("directory", str(directory.resolve()))]
    return facts([*pairs, *_files(directory, ("sweep.json", "members.jsonl", "sweep.h5")), *_here()])


def _files(directory: Path, names: tuple[str, ...]) -> Iterator[Pair]:
    for name in names:
        path = directory / name
        if path.is_file():
            found = path.stat()
            written = datetime.datetime.fromtimestamp(found.st_mtime).astimezone().isoformat(timespec="seconds")
            yield name, f"{with_prefix(found.st_size, 'B')}, written {written}"


def _here() -> Iterator[Pair]:
    """What made the report."""
    libraries = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "h5py", "matplotlib"))
    machine = f"{platform.system()} {platform.machine()}, host {platform.node()}"
    yield "this report", f"simsuite {VERSION}, Python {platform.python_version()}, {libraries}; {machine}"


def _log(lines: list[str]) -> str:
    if not lines:
        return ""
    shown = "\n".join(lines[-_LOG:])
    of = f"the last {_LOG} of {len(lines)} lines" if len(lines) > _LOG else f"{len(lines)} lines"
    return details(f"log.txt, {of}", f'<pre tabindex="0" role="region" aria-label="log">{escaped(shown)}</pre>\n')
