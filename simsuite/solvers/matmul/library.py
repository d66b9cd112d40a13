"""Products that the device's library computes: cuBLAS on a GPU."""

from __future__ import annotations

from typing import Any

from simsuite.core import Backend
from simsuite.errors import DeviceError, LibraryMissing


class LibraryProduct:
    """A `Product` by the device's library. A: an array (n, p) of the backend, which is kept. biased: False if the bias
    will always be zero.

    The order in which the library adds depends on the shape. It is used where a scenario asks for it, or where its bits
    are those of the other kernels (see `trial`). Raises DeviceError where there is no library.
    """

    name = "cublas"
    most_steps: int | None = 1
    recipe = None

    def __init__(self, backend: Backend, A: Any, columns: int, biased: bool = True) -> None:
        try:
            library = backend.products()
        except LibraryMissing as reason:
            raise DeviceError(str(reason)) from None
        if library is None:
            raise DeviceError(f'kernel = "cublas" needs a CUDA GPU, and this run is on {backend.name}')
        self._array, self._A, self._add = A, backend.view(A), library.multiply_add
        self._spread = None
        if biased:
            kernel = backend.kernels("simsuite.solvers.matmul.product").spread
            self._spread = backend.launcher(kernel, (columns, len(A)), (128, 1))

    def __str__(self) -> str:
        return self.name

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        if self._spread is not None:
            self._spread(bias, row, out)
        self._add(self._A, X, out, self._spread is not None)
