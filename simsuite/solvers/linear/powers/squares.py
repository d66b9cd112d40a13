"""The square matrices on a device of which powers are made: whole, or a panel of rows in each of several processes (see
`matmul.shared_rows`).

The product of panels takes rows of one matrix and all of the other, of which processes gather some columns at a time:
none of them ever holds a whole matrix. That is n² numbers that are exchanged, for 2 n³ operations that are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend
from simsuite.solvers.linear.powers.estimate import Estimate
from simsuite.solvers.matmul.product import Products
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Panel, SharedRows, Sharing

_WIDTH = 256  # Some columns of a matrix are at least so many, if it has them.
Times: TypeAlias = Callable[[Any], Any]  # Any: arrays of a backend


class Squares:
    """Of n rows and columns, float64, all of them in this process. kernel: as `product` takes it.

    vectors, states: how products with single vectors and with the states of the run are shared. decided: what the first
    process says of an estimate."""

    vectors: Sharing = ALL_ROWS
    states: Sharing = ALL_ROWS

    def __init__(self, backend: Backend, n: int, kernel: str) -> None:
        self._backend, self._wide = backend, Products(backend, n, kernel, biased=False)
        self._zero = backend.zeros((1, n), np.float64)

    def on_device(self, A: np.ndarray) -> Any:
        """The rows of A that this process has."""
        return self._backend.array(A)

    def rows_of(self, S: Any) -> Any:
        """The columns of S (q, n) that belong to these rows."""
        return S

    def times(self, P: Any) -> Times:
        """A function that multiplies P with another matrix."""
        backend, (product, _) = self._backend, self._wide(P)

        def times(other: Any) -> Any:
            found = backend.zeros(other.shape, np.float64)
            product(backend.view(other), backend.view(self._zero), 0, 0, 1, backend.view(found))
            return found

        return times

    def on_host(self, P: Any) -> np.ndarray:
        """All of P."""
        return self._backend.to_host(P)

    def decided(self, estimate: Estimate) -> Estimate:
        return estimate


class SquarePanels(Squares):
    """Of n rows and columns, of which each process has a panel. m, dtype: of the states of the run."""

    def __init__(
        self, backend: Backend, panel: Panel, m: int, dtype: Any, kernel: str, communicator: Communicator
    ) -> None:
        self._panel, self._communicator = panel, communicator
        self._width = width_of(panel)
        super().__init__(backend, self._width, kernel)
        self.vectors = SharedRows(backend, panel, 1, np.float64, communicator)
        self.states = SharedRows(backend, panel, m, dtype, communicator)
        self._some = SharedRows(backend, panel, self._width, np.float64, communicator)
        self._columns = backend.zeros((panel.n, self._width), np.float64)
        self._view = backend.view(self._columns)
        self._some.remember([self._columns], [self._view])
        self._zero = backend.zeros((1, panel.height), np.float64)

    def on_device(self, A: np.ndarray) -> Any:
        return self._backend.array(A[self._panel.held])

    def rows_of(self, S: Any) -> Any:
        with self._backend.arithmetic():
            return S[:, self._panel.held].copy()

    def times(self, P: Any) -> Times:
        backend, (product, _) = self._backend, self._wide(P)

        def times(other: Any) -> Any:
            found = backend.zeros(other.shape, np.float64)
            for columns in self._gathered(other):
                product(self._view, backend.view(self._zero), 0, 0, 1, self._some.rows)
                backend.copy(self._some.array, found[:, columns])
            return found

        return times

    def on_host(self, P: Any) -> np.ndarray:
        found = np.empty((self._panel.n, self._panel.n))
        for columns in self._gathered(P):
            found[:, columns] = self._backend.to_host(self._columns)
        return found

    def decided(self, estimate: Estimate) -> Estimate:
        return self._communicator.from_first(lambda: estimate)

    def _gathered(self, P: Any) -> Iterator[slice]:
        """Some columns after others, all of whose rows are gathered, as `_view`. The last ones overlap those before."""
        n = self._panel.n
        for begin in range(0, n, self._width):
            first = min(begin, n - self._width)
            columns = slice(first, first + self._width)
            self._backend.copy(P[:, columns], self._some.array)
            self._some.gather(self._view)
            yield columns


def width_of(panel: Panel) -> int:
    return min(panel.n, max(panel.height, _WIDTH))
