"""Tables as comma-separated values, in UTF-8, with names and units in the first line."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from simsuite.core import HostArray
from simsuite.exporting.tables import Table


def write_csv(table: Table, path: Path) -> None:
    """Write a table with as many digits as tell each number from all others of its precision; NaN is "nan"."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns())
        for block in table.blocks():
            writer.writerows(zip(*map(_cells, block)))


def _cells(column: HostArray) -> list[object]:
    """The values as Python's own; those in float32 as texts, with fewer digits than in float64."""
    shown: list[object] = (column.astype(str) if column.dtype == np.float32 else column).tolist()
    return shown
