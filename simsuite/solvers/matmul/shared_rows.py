"""Products whose rows several processes share: each holds a panel of rows of A, and all of X.

A process computes its rows of A X + b, gives them to all others, and takes theirs: for a product (n, m), processes
exchange n m numbers.

Bits: every entry is a chain of fused multiply-adds along a row of A (see `matmul.product`), which none of the other
rows are part of, so that a panel has the bits of the whole. All panels have the same number of rows, hence the same
kernels: where rows do not divide, the last panels begin early enough to have as many, and rows that two panels have
are those of the former. With fewer rows than processes the last ones hold the last row, and give nothing.

Exchange and product follow each other. A product sums from the first row of X on, whose place in the order is part of
the bits, so it cannot begin with rows that happen to be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from simsuite.communication.communicator import Communicator
from simsuite.communication.unrecorded import Unrecorded
from simsuite.core import Backend, Recorder
from simsuite.solvers.matmul.product_protocol import Product
from simsuite.solvers.matmul.sparse import SparseProduct

P = TypeVar("P", bound=Product)


@dataclass(frozen=True)
class Panel:
    """The rows that one of so many processes holds, of n."""

    n: int
    process: int
    processes: int

    @property
    def height(self) -> int:
        """How many rows each process holds."""
        return -(-self.n // self.processes)

    @property
    def first(self) -> int:
        return min(self.process * self.height, self.n - self.height)

    @property
    def held(self) -> slice:
        return slice(self.first, self.first + self.height)

    def own(self, process: int) -> slice:
        """The rows that are those of a process, which has them from no other."""
        return slice(min(process * self.height, self.n), min((process + 1) * self.height, self.n))


class Sharing(Protocol):
    """How the processes of a run share products."""

    def completing(self, product: P) -> P:
        """A product that computes all rows, by one for the rows of this process."""

    def remember(self, arrays: Sequence[Any], views: Sequence[Any]) -> None:
        """Which views, of at least n rows and m columns, may be given to such products as base or result, and of which
        arrays they are. Any: as the backend has them."""

    def recorder(self, backend: Backend) -> Recorder:
        """What records launches with such products among them."""

    def seen(self, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those of some arrays that this process tells of."""


class AllRows:
    """The `Sharing` of a process that computes all rows itself."""

    def completing(self, product: P) -> P:
        return product

    def remember(self, arrays: Sequence[Any], views: Sequence[Any]) -> None: ...

    def recorder(self, backend: Backend) -> Recorder:
        return backend.recorder()

    def seen(self, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        return arrays


ALL_ROWS = AllRows()


class SharedRows:
    """The `Sharing` of one of several processes with a panel each, for m states of this precision."""

    def __init__(self, backend: Backend, panel: Panel, m: int, dtype: Any, communicator: Communicator) -> None:
        self._backend, self._panel, self._communicator = backend, panel, communicator
        self._targets: dict[int, _Target] = {}  # by the identities of views, which are kept with them
        self.array = backend.zeros((panel.height, m), dtype)  # rows of this panel, from where others get them
        self.rows = backend.view(self.array)

    def completing(self, product: Any) -> Any:
        """Any: mypy cannot know that all that is asked of the product is there."""
        return _Completed(product, self)

    def remember(self, arrays: Sequence[Any], views: Sequence[Any]) -> None:
        panel = self._panel
        for array, view in zip(arrays, views, strict=True):
            parts = [array[panel.own(process)] for process in range(panel.processes)]
            self._targets[id(view)] = _Target(view, parts, self._backend.view(array[panel.held]))

    def recorder(self, backend: Backend) -> Recorder:
        return Unrecorded()

    def seen(self, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        return arrays if self._panel.process == 0 else {}

    def held_of(self, view: Any) -> Any:
        """The rows of this panel, of a view that is remembered, as a view."""
        return self._targets[id(view)].held

    def gather(self, view: Any) -> None:
        """Queue that all rows of `view` are written: those of this panel from `array`, the others
        by the other processes."""
        parts, own = self._targets[id(view)].parts, self._panel.own(self._panel.process)
        if own.stop > own.start:
            begin = own.start - self._panel.first
            self._backend.copy(self.array[begin : begin + own.stop - own.start], parts[self._panel.process])
        self._communicator.allgather(parts)


@dataclass(frozen=True)
class _Target:
    """A view of a state, its rows as arrays, process by process, and the rows of this panel as a view."""

    view: Any
    parts: Sequence[Any]
    held: Any


class _Completed:
    """A `SparseProduct`, or a `Product`, whose rows are computed by several processes."""

    most_steps: int | None = 1

    def __init__(self, product: SparseProduct, shared: SharedRows) -> None:
        self._product, self._shared = product, shared

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        self._product(X, bias, row, stride, 1, self._shared.rows)
        self._shared.gather(out)

    def add(self, X: Any, bias: Any, row: int, base: Any, scale: Any, out: Any) -> None:
        self._product.add(X, bias, row, self._shared.held_of(base), scale, self._shared.rows)
        self._shared.gather(out)
