"""What all roads ask of two factors."""

from __future__ import annotations

import numpy as np

from simsuite.backends.address import OnDevice
from simsuite.errors import UsageError
from simsuite.routes.arrays import checked, dtype_of, on_host, shape_of


def sizes(a: OnDevice, b: OnDevice) -> tuple[int, int, int]:
    """(rows of A, columns of A, columns of B). Raises UsageError, DeviceError for factors that have no product here."""
    return _sizes(shape_of(checked(a, 2)), shape_of(checked(b, 2)), (dtype_of(a), dtype_of(b)))


def host_sizes(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int]:
    """(rows of A, columns of A, columns of B) of NumPy's arrays. Raises UsageError for factors that have no product."""
    return _sizes(on_host(a, 2).shape, on_host(b, 2).shape, (a.dtype, b.dtype))


def _sizes(a: tuple[int, ...], b: tuple[int, ...], dtypes: tuple[np.dtype, np.dtype]) -> tuple[int, int, int]:
    (m, k), (rows, n) = a, b
    if k != rows:
        raise UsageError(f"a matrix of {m} x {k} and one of {rows} x {n} have no product")
    if dtypes[0] != dtypes[1]:
        raise UsageError(f"the factors have numbers of type {dtypes[0]} and {dtypes[1]}; one type is needed")
    return m, k, n
