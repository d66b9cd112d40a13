"""Where text goes: data to stdout, messages to stderr, colour only where someone looks and wants it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsuite.errors import ScenarioError, SimsuiteError, UsageError

PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def wants_colour() -> bool:
    """Whether messages may be coloured (https://no-color.org)."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def error(e: SimsuiteError) -> None:
    """Report an error; scenario errors bring their own report."""
    say(e.report if isinstance(e, ScenarioError) and e.report.startswith(("error", "\033")) else f"error: {e}")


def print_json(data: Mapping[str, Any]) -> None:
    """One JSON object; NaN and Inf, which JSON does not have, become null."""
    from simsuite.io.directory import without_nan

    print(json.dumps(without_nan(data), ensure_ascii=False))


def writable(directory: Path | None) -> None:
    """Make the directory for what a command draws, before minutes of work for it."""
    try:
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {directory}: {error.strerror or error}") from error


def with_prefix(value: float, unit: str) -> str:
    """``1.2e9, "B"`` as "1.2 GB"."""
    for size, prefix in PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def duration(seconds: float) -> str:
    """Seconds for people: "0.42 s", "12 s", "3 min 20 s", "2 h 05 min"."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
