"""Transforms from fields to modes and back on the device, along either axis. See `modes`.

A transform works along the rows of an array (m, n) and leaves its result transposed, (n, m). Two transforms one after
the other, along x and along y, turn a field (ny, nx) into its modes (ny, nx), and all memory is read and written in
order.

Modes of sines and cosines are computed by Fourier transforms of the device's library (`trigonometric`), some rows at a
time, so that what lies between the steps stays in the cache: n log n operations a row, and one pass over memory. All
other modes are products with the matrix of modes, 2 n² operations a row, by the device's library where it has one; a
single cell is its own mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from simsuite.core import Backend, Fourier, Products
from simsuite.errors import LibraryMissing
from simsuite.solvers.heat.exact.modes import Axis
from simsuite.solvers.heat.exact.trigonometric import Moved, Paired, recipe
from simsuite.solvers.matmul import host_entries
from simsuite.solvers.matmul.product import product

LARGEST = 1 << 21  # the largest CHUNK of any device
# The number of rows in a part is a multiple of this, so that transposed rows fill whole sectors of memory.
_ALIGNED = 32
_KERNELS = "simsuite.solvers.heat.exact.trigonometric"


class Fast:
    """Transforms to modes by Fourier transforms. These must not have length 1."""

    note: str | None = None

    def __init__(self, backend: Backend, library: Fourier, cells: Axis, dtype: Any) -> None:
        self._backend, self._fourier, self._cells, self._dtype = backend, library, cells, np.dtype(dtype)
        self._kernels = backend.kernels(_KERNELS)
        self._work: list[Any] = [backend.zeros(0, dtype)] * 2
        self._held: list[Any] = []
        self.libraries = {library.name}

    def bind(self, source: Any, target: Any, back: bool) -> Callable[[], None]:
        """A function that queues the transform of a device array (m, n) to the modes, or back from them, into another
        array (n, m)."""
        m, n = source.shape
        made = recipe(self._cells.kind, n, back)
        rows = rows_at_once(m, n, self._kernels.CHUNK)
        real = (rows, n)
        half = (rows, made.length if made.kind == "complex" else n // 2 + 1, 2)
        shapes = {"real": (real, half), "back": (half, real), "complex": (half, half)}[made.kind]
        work = [self._part(i, shape) for i, shape in enumerate(shapes)]
        transform = self._fourier.plan(made.kind, rows, made.length, self._dtype)
        before, after = self._launcher(made.before, rows, n), self._launcher(made.after, rows, n, turned=True)
        views = [self._backend.view(a) for a in (source, *work, target)]
        tables = [[self._table(a) for a in (step.places, step.factors)] for step in (made.before, made.after)]
        complex_ = [self._complex(a) if a.ndim == 3 else a for a in work]

        def steps() -> Iterator[Callable[[], None]]:
            for first in range(0, m, rows):
                yield functools.partial(before, views[0], first, *tables[0], views[1])
                yield functools.partial(transform, *complex_)
                yield functools.partial(after, views[2], *tables[1], first, views[3])

        return functools.partial(_queue, list(steps()))

    def _part(self, i: int, shape: tuple[int, ...]) -> Any:
        """Memory for what lies between the steps of a transform. All transforms share it; a transform that was bound
        before keeps its memory."""
        size = int(np.prod(shape))
        if self._work[i].size < size:
            self._work[i] = self._backend.zeros(size, self._dtype)
        return self._work[i][:size].reshape(shape)

    def _complex(self, array: Any) -> Any:
        return array.reshape(len(array), -1).view(np.result_type(self._dtype, np.complex64))

    def _table(self, host: np.ndarray) -> Any:
        exact = np.uint32 if host.dtype.kind == "i" else self._dtype
        self._held.append(self._backend.array(host.astype(exact)))
        return self._backend.view(self._held[-1])

    def _launcher(self, step: Moved | Paired, rows: int, n: int, turned: bool = False) -> Callable[..., None]:
        k = self._kernels
        if isinstance(step, Moved):
            return self._backend.launcher(k.turn if turned else k.move, *k.tiles_of(rows, n))
        return self._backend.launcher(k.unpair if turned else k.pair, *k.tiles_of(rows, step.places.shape[1]))


class Single:
    """Transforms along an axis of one cell, whose only mode is 1."""

    note: str | None = None

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.libraries: set[str] = set()

    def bind(self, source: Any, target: Any, back: bool) -> Callable[[], None]:
        """As `Fast.bind`."""
        return functools.partial(self._backend.copy, source.T, target)


class Dense:
    """Transforms by products of the device's library with the matrix of modes."""

    note: str | None = None

    def __init__(self, backend: Backend, library: Products, cells: Axis, dtype: Any) -> None:
        self._multiply, self._modes = library.multiply, backend.array(cells.matrix.astype(dtype))
        self.libraries = {library.name}

    def bind(self, source: Any, target: Any, back: bool) -> Callable[[], None]:
        """As `Fast.bind`."""
        return functools.partial(self._multiply, source, self._modes.T if back else self._modes, target.T)


class Turned:
    """Transforms by our own products with the matrix of modes, of rows that are transposed first."""

    note: str | None = None

    def __init__(self, backend: Backend, cells: Axis, dtype: Any) -> None:
        self._backend, self._modes = backend, cells.matrix.astype(dtype)
        self._no_bias = backend.zeros((1, cells.n), dtype)
        self._turned: dict[int, Any] = {}
        self._multipliers: dict[tuple[bool, int], Any] = {}
        self.libraries: set[str] = set()

    def bind(self, source: Any, target: Any, back: bool) -> Callable[[], None]:
        """As `Fast.bind`."""
        b, (m, n) = self._backend, source.shape
        if m not in self._turned:
            self._turned[m] = b.zeros((n, m), source.dtype)
        if (back, m) not in self._multipliers:
            self._multipliers[back, m], _ = product(b, b.array(self._modes if back else self._modes.T), m)
        X, no_bias, out = map(b.view, (self._turned[m], self._no_bias, target))
        turn = functools.partial(b.copy, source.T, self._turned[m])
        multiply = functools.partial(self._multipliers[back, m], X, no_bias, 0, 0, 1, out)
        return functools.partial(_queue, [turn, multiply])


def transform(backend: Backend, cells: Axis, dtype: Any) -> Fast | Single | Dense | Turned:
    """The best transform that there is for these cells on this device. Its `note` is what users should know about how
    it works."""
    if cells.n == 1:
        return Single(backend)
    notes = []
    if is_fast(cells):
        try:
            return Fast(backend, backend.fourier(), cells, dtype)
        except LibraryMissing as reason:
            notes.append(f"matrix products instead of Fourier transforms: {reason}")
    library = None
    try:
        library = backend.products()
    except LibraryMissing as reason:
        notes.append(f"matrix products may be slow: {reason}")
    made = Turned(backend, cells, dtype) if library is None else Dense(backend, library, cells, dtype)
    made.note = "; ".join(notes) or None
    return made


def is_fast(cells: Axis) -> bool:
    """Whether there is a fast transform to the modes of these cells."""
    return cells.kind != "" and recipe(cells.kind, cells.n, False).length > 1


def transform_entries(cells: Axis, m: int) -> int:
    """How many numbers a transform of m rows holds at most."""
    n = cells.n
    if n == 1:
        return 0
    if not is_fast(cells):
        # There are transforms to the modes and back for the field, transforms back for the lines along the edges, and a
        # transposed field. A GPU's library holds only the modes.
        return 2 * host_entries(n, n, m) + host_entries(n, n, 2) + n * n + n + n * (m + 2)
    between = rows_at_once(m, n, LARGEST) * (n + 2)
    # Transforms to the modes and back have a plan each, which may need 8 complex numbers for each number (cuFFT's
    # documentation, 13.0, section 2.6); so have those for the two lines along the edges.
    return 2 * between + 2 * 16 * between + 16 * 2 * (n + 2) + 16 * n


def rows_at_once(m: int, n: int, chunk: int) -> int:
    """How many of m rows of n numbers, about `chunk` numbers in all, in parts of equal size."""
    parts = -(-m // max(1, chunk // n))
    rows = -(-m // parts)
    return min(m, -(-rows // _ALIGNED) * _ALIGNED)


def _queue(steps: list[Callable[[], None]]) -> None:
    for step in steps:
        step()
