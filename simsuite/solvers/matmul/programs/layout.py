"""The orders in which programs store the numbers of a matrix in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from simsuite.core import Backend


class Layout(Protocol):
    """An order in which a matrix is stored. Layouts that compare equal store a matrix in the same way."""

    def stored(self, backend: Backend, A: Any) -> Any:
        """A copy of A, an array (n, p) of the backend, in this layout, as an array of two dimensions."""


@dataclass(frozen=True)
class AsItIs:
    def stored(self, backend: Backend, A: Any) -> Any:
        return A


@dataclass(frozen=True)
class Panels:
    """The layout that `sums.cuh` reads: panels of `rows` rows, transposed, and filled up with zeros to a multiple of
    `columns` columns.

    In float64, number i of what was column k is stored at i ^ 4 (k mod 4), so that numbers that tensor cores read at
    once lie in different banks of shared memory.
    """

    columns: int
    rows: int

    def stored(self, backend: Backend, A: Any) -> Any:
        n, p = A.shape
        deep, whole = filled_up(p, self.columns), n // self.rows
        found = backend.zeros((-(-n // self.rows), deep, self.rows), A.dtype)
        places = np.arange(self.rows)
        with backend.arithmetic():
            for c in range(min(4, p)):
                mixed = places ^ 4 * c if A.dtype.itemsize == 8 else places
                panels = A[: whole * self.rows, c::4].reshape(whole, self.rows, filled_up(p - c, 4) // 4)
                found[:whole, c:p:4, mixed] = panels.swapaxes(1, 2)
                for rest in found[whole:]:
                    rest[c:p:4, mixed[: n % self.rows]] = A[whole * self.rows :, c::4].T
            return found.reshape(len(found), -1)


@dataclass(frozen=True)
class RowSums:
    """The layout that `row_sums.cuh` reads: `rows` rows of a block together, with all their columns, whose number is
    filled up to a multiple of `columns`.

    In float32 four columns of each row are stored together. The float64 layout is for tensor cores, whose lane 4 g + t
    needs rows g and g + 8 and columns t, t + 4 .. of 16 x 16 numbers: pairs of rows are stored lane by lane, by fours
    of columns.
    """

    columns: int
    rows: int

    def stored(self, backend: Backend, A: Any) -> Any:
        n, p = A.shape
        blocks, deep = -(-n // self.rows), filled_up(p, self.columns)
        found = backend.zeros((blocks * self.rows, deep), A.dtype)
        with backend.arithmetic():
            found[:n, :p] = A
            if A.dtype.itemsize == 4:
                found = found.reshape(blocks, self.rows, deep // 4, 4).transpose(0, 2, 1, 3)
            else:
                pieces = found.reshape(blocks, self.rows // 16, 2, 8, deep // 16, 4, 4)
                found = pieces.transpose(0, 4, 1, 5, 3, 6, 2)
            return found.reshape(blocks, -1)


def filled_up(n: int, of: int) -> int:
    """The least multiple of `of` that is not less than n."""
    return -(-n // of) * of
