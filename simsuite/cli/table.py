"""The results of a run as comma-separated values: one number a line, with its name and unit."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from simsuite.summaries.units import rows
from simsuite.words import printable


def print_csv(summary: Mapping[str, Any]) -> None:
    """Print the results as lines of name, value, unit. Names are the keys of the JSON object joined by dots, with
    indices in lists from 0 on."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "value", "unit"))
    for row in rows(summary):
        writer.writerow([printable(cell) if isinstance(cell, str) else cell for cell in row])


def print_runs_csv(runs: Sequence[Mapping[str, Any]]) -> None:
    """A line for each run in a directory: where it is and how far it came. runs: as `inspect` tells of them."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("directory", "status", "solver", "steps", "time", "time_unit"))
    for run in runs:
        at = {**(run.get("summary") or {}), **run}
        cells = (at.get(name) for name in ("directory", "status", "solver", "steps", "time", "time_unit"))
        writer.writerow(["" if c is None else printable(c) if isinstance(c, str) else c for c in cells])
