"""Fields to modes and back on the device, along either axis. See `modes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simsuite.core import Backend
from simsuite.solvers.heat.modes import Axis


class Products:
    """out = A B for arrays on the device, with the kernels that suit their shapes."""

    def __init__(self, backend: Backend, most_rows: int, dtype: Any) -> None:
        self._backend = backend
        self._nothing = backend.zeros((1, most_rows), dtype)
        self._bias = backend.view(self._nothing)
        self._launchers: dict[tuple[int, int, int], Callable[..., None]] = {}

    def queue(self, A: Any, B: Any, out: Any) -> None:
        shape = (*A.shape, B.shape[1])
        if shape not in self._launchers:
            kernel = self._backend.kernels("simsuite.solvers.matmul").product_kernel(*shape)
            self._launchers[shape] = self._backend.launcher(*kernel)
        self._launchers[shape](A, B, self._bias, 0, out)


class Transform:
    """Along one axis of arrays (y, x); the modes have the place of the cells.

    axis: the number of the arrays' axis. Fast where there is a fast transform for these modes and this backend.
    """

    def __init__(self, backend: Backend, products: Products, cells: Axis, axis: int, dtype: Any) -> None:
        self._products, self._axis = products, axis
        self._fast = backend.kernels("simsuite.solvers.heat.exact").fast_transform(cells.kind)
        # Columns of modes, and their transpose.
        self._held = [] if self._fast else [backend.array(a.astype(dtype)) for a in (cells.matrix, cells.matrix.T)]
        self._views = [backend.view(a) for a in self._held]

    def queue(self, field: Any, out: Any, back: bool) -> None:
        """To the modes, or back from them. field and out: kernel views of different arrays of the same shape."""
        if self._fast:
            self._fast(field, out, self._axis, back)
        elif self._axis == 1:
            self._products.queue(field, self._views[back], out)
        else:
            self._products.queue(self._views[not back], field, out)
