"""What all roads on the GPU ask of two factors."""

from __future__ import annotations

from simsuite.backends.address import OnDevice
from simsuite.errors import UsageError
from simsuite.routes.arrays import checked, dtype_of, shape_of


def sizes(a: OnDevice, b: OnDevice) -> tuple[int, int, int]:
    """(rows of A, columns of A, columns of B). Raises UsageError, DeviceError for factors that have no product here."""
    (m, k), (rows, n) = shape_of(checked(a, 2)), shape_of(checked(b, 2))
    if k != rows:
        raise UsageError(f"a matrix of {m} x {k} and one of {rows} x {n} have no product")
    if dtype_of(a) != dtype_of(b):
        raise UsageError(f"the factors have numbers of type {dtype_of(a)} and {dtype_of(b)}; one type is needed")
    return m, k, n
