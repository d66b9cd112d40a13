"""Matrices that a scenario writes out or names a file for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from simsuite.scenario.linear import MatrixFile
from simsuite.scenario.types import FileRef
from simsuite.solvers.arrays import load, numbers, readable, require_plain
from simsuite.solvers.linear.matrices.csv_matrix import read_csv
from simsuite.solvers.linear.matrices.embedding import by_rows
from simsuite.solvers.linear.matrices.sparse_files import read_mtx, read_npz
from simsuite.solvers.matmul.sparse import Matrix

READABLE = ".npy", ".csv", ".mtx", ".npz"
MOST_ROWS = 1 << 26  # At most so many rows, and columns, of a matrix are read.
MOST_DENSE = 1 << 33  # A sparse matrix that is stored with all its zeros may take so many bytes.


def read_matrix(path: Path) -> np.ndarray:
    """The matrix in a file, float64 or complex128; a vector becomes one column.

    .npy: NumPy's format. .csv: numbers separated by commas, a line a row, complex ones as 0.5-0.25j. .mtx: Matrix
    Market, of real, whole or complex numbers or a pattern of ones, general, symmetric, skew or Hermitian. .npz: a
    sparse matrix of SciPy. Raises ValueError, with the reason, for anything else.
    """
    return _dense(_read(path))


def read_system_matrix(source: MatrixFile, base: Path) -> Matrix:
    """The matrix A of a system, read from a file like that of `read_matrix` and stored as its scenario says: where that
    says nothing, sparse by rows if the file lists coordinates, else dense.
    """
    values = _read(source.path(base))
    kept = source.format or ("csr" if issparse(values) else "dense")
    if kept == "csr":
        return readable(lambda: by_rows(values))
    return _dense(values)


def _dense(values: Any) -> np.ndarray:
    kind = np.complex128 if values.dtype.kind == "c" else np.float64
    nbytes = math.prod(values.shape) * np.dtype(kind).itemsize
    if issparse(values) and nbytes > MOST_DENSE:
        raise ValueError(f"takes {nbytes / 1e9:.3g} GB with all its zeros")
    return np.ascontiguousarray(readable(values.toarray) if issparse(values) else values, kind)


def _read(path: Path) -> Any:
    """The array of rank 2 in a file, dense or sparse."""
    values = numbers(readable(lambda: _parsed(path)))
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"holds an array of shape {values.shape}, not a matrix")
    if max(values.shape) > MOST_ROWS:
        raise ValueError(f"holds a matrix of {values.shape[0]} x {values.shape[1]}, at most {MOST_ROWS} are possible")
    return values


def _parsed(path: Path) -> Any:
    suffix = path.suffix.lower()
    require_plain(path)
    if suffix in READABLE and not path.stat().st_size:
        raise ValueError("the file is empty")
    if suffix == ".npy":
        return load(path)
    if suffix == ".csv":
        return read_csv(path)
    if suffix == ".mtx":
        return read_mtx(path)
    if suffix == ".npz":
        return read_npz(path)
    known = f"{', '.join(READABLE[:-1])} and {READABLE[-1]}"
    raise ValueError(f"files named {path.suffix or 'without suffix'} are not known, only {known}")


def matrix_from(source: Sequence[Sequence[complex]] | FileRef, base: Path) -> np.ndarray:
    """A matrix from the values in the scenario or from a file. Raises ValueError, with the reason."""
    if isinstance(source, FileRef):
        return read_matrix(source.path(base))
    return np.array(source)
