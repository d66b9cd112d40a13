"""In which order programs have the numbers of a matrix in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from simsuite.core import Backend


class Layout(Protocol):
    """Equal ones store a matrix in the same way."""

    def stored(self, backend: Backend, A: Any) -> Any:
        """A, an array (n, p) of the backend, in two dimensions."""


@dataclass(frozen=True)
class AsItIs:
    def stored(self, backend: Backend, A: Any) -> Any:
        return A


@dataclass(frozen=True)
class Transposed:
    """Filled up with zeros to multiples of so many columns and rows."""

    columns: int
    rows: int

    def stored(self, backend: Backend, A: Any) -> Any:
        n, p = A.shape
        found = backend.zeros((filled_up(p, self.columns), filled_up(n, self.rows)), A.dtype)
        with backend.arithmetic():
            found[:p, :n] = A.T
        return found


@dataclass(frozen=True)
class Chains:
    """As `chain.cuh` reads it: so many rows of a block together, with all their columns, filled up to a multiple.

    In float32 four columns of each row come together. In float64, for tensor cores, whose lanes 4 g + t have rows g and
    g + 8 and columns t, t + 4 .. of 16 x 16 numbers: a pair of rows by lanes, by fours of columns.
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
    """n, or the next multiple."""
    return -(-n // of) * of
