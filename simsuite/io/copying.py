"""Rows of one results file in another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simsuite.core import Layout
from simsuite.io.digests import damages, in_words
from simsuite.io.layout import growing_axis, plain_variables, require_layout
from simsuite.io.reading import DAMAGED, reading
from simsuite.io.results_file import ResultsFile, damaged


def copy_rows(path: Path, layout: Layout, target: ResultsFile, rows: Mapping[str, int]) -> None:
    """Append the first rows of each series of the file at `path` to `target`, a file without rows. layout: of both.

    Raises SimsuiteError where the file has other variables, fewer rows, or was damaged since it was written, and where
    the disk fails.
    """
    with reading(path) as file:
        try:
            require_layout(file, layout)
            if changed := in_words(file, damages(file)):
                raise ValueError(f"{changed} changed since it was written")
        except DAMAGED as error:
            raise damaged(path, error) from error
        for series in layout.series:
            axes = {series.coordinate.name: 0}
            for variable in plain_variables(layout):
                growing = growing_axis(variable, layout)
                if growing is not None and growing[0] == series.dim:
                    axes[variable.name] = growing[1]
            for k in range(rows.get(series.dim, 0)):
                row = {name: file[name][(slice(None),) * axis + (k,)] for name, axis in axes.items()}
                target.append(series.dim, row)
