"""Matrices that a scenario writes out or names a file for."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simsuite.scenario.types import FileRef
from simsuite.solvers.arrays import read_npy, real_numbers

READABLE = ".npy, .csv and .mtx"


def read_matrix(path: Path) -> np.ndarray:
    """The matrix in a file, float64; a vector becomes one column.

    .npy: NumPy's format. .csv: numbers separated by commas, a line a row. .mtx: Matrix Market, dense or sparse.
    Raises ValueError, with the reason, for anything else.
    """
    values = read_npy(path) if path.suffix.lower() == ".npy" else real_numbers(lambda: _read(path))
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"holds an array of shape {values.shape}, not a matrix")
    return np.ascontiguousarray(values, np.float64)


def _read(path: Path) -> np.ndarray:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return np.loadtxt(path, delimiter=",", ndmin=2)
    if suffix == ".mtx":
        import scipy.io

        matrix = scipy.io.mmread(path)
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    raise ValueError(f"files named {path.suffix or 'without suffix'} are not known, only {READABLE}")


def matrix_from(source: list[list[float]] | FileRef, base: Path) -> np.ndarray:
    """A matrix written out in the scenario or in a file. Raises ValueError, with the reason."""
    if isinstance(source, FileRef):
        return read_matrix(source.path(base))
    return np.array(source, np.float64)
