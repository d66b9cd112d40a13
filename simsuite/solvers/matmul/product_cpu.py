"""Matrix products on a CPU: A stays, X and what is added come and go.

A is kept by panels of a few rows, A[k, r] of each in order, as the innermost loops (`registers_cpu`) read it. Tasks of
some rows and columns are shared out among the cores. Each copies some of X, KEPT rows of its columns, in the order in
which they are read, and multiplies BLOCK rows of A with it, which stay in the second cache: K. Goto and R. van de
Geijn, "Anatomy of high-performance matrix multiplication", ACM Transactions on Mathematical Software 34 (2008) 12.
Unlike there, sums are of all k if there are not too many: to fetch them, and store them again, costs more than it does
that a few columns of X come from the second or third cache, which is known early enough.

Steps of small systems are taken at once: a task keeps some columns in the order in which they are read, which is that
in which they are written, and multiplies again and again. The first step reads small, or flat, X itself, and the last
one of any writes to `out`.

The last vector of columns ends with the last column, so it overlaps the one before it, and the last tile of those
steps likewise overlaps the rows before it: what is there twice gets the same bits twice.

Every entry is fma(A[i, k], X[k, j], sum) over k = 0, 1, .. from 0 on, and then the addition of bias: the same bits for
any number of cores, any number of columns beside it, and however many steps are taken at once. That is the reason not
to call BLAS here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numba
import numpy as np
from numba import njit, prange
from numba.extending import register_jitable

from simsuite.core import Backend
from simsuite.solvers.matmul.column_cpu import column, column_serial
from simsuite.solvers.matmul.registers_cpu import (
    COLUMN,
    VECTOR,
    ahead,
    expect,
    move,
    place,
    rows_of_tiles,
    tile_product,
)

KEPT = 2048  # rows of X that are multiplied before the next ones
COLUMNS = 240  # of a task, about
BLOCK = 96  # rows of A that are multiplied with all columns of a task before the next ones
SERIAL = 1 << 19  # multiplications, below which waking other threads takes longer than they save
FEW_ROWS = 512  # up to so many all rows of some columns stay in the second cache from step to step
_LOADED = 192 << 10  # bytes of columns that are loaded together for steps: half a second cache
_NEAR = 512 << 10  # bytes of X that stays in caches: steps read it where it is
_FLAT = 8  # rows, up to which that is faster for X of any size
_FEWEST = 48  # rows of a task
_PACKING = 16  # multiplications take as long as packing a number
_LINE = 64  # bytes
_Launch: TypeAlias = Callable[[Any, Any, int, int, int, Any], None]  # as `Multiplier.__call__`


@njit(parallel=True, cache=True)
def pack(A, height, last, panels):
    """Panels of `height` rows. The last begins with the row `last`, and is filled up with zeros."""
    n, p = A.shape
    for t in prange(-(-n // height)):
        for k in range(p):
            for r in range(height):
                i = min(t * height, last) + r
                panels[(t * p + k) * height + r] = A[i, k] if i < n else 0


@register_jitable
def _begin(v, lanes, m):
    """The first column of a vector of columns. The last vector ends with the last column, if a vector has no more."""
    return max(min(v * lanes, m - lanes), 0)


@njit(cache=True)
def _load(X, k0, kept, v0, v1, depth, into):
    """Rows k0 .. k0 + kept of the vectors v0 .. v1 of columns. Each has room for `depth` rows. Of fewer columns than a
    vector has, the others stay whatever they are: so do results there, which nobody reads."""
    m, lanes = X.shape[1], VECTOR // X.itemsize
    for k in range(kept):
        for v in range(v0, v1):
            source, target = (k0 + k) * m + _begin(v, lanes, m), ((v - v0) * depth + k) * lanes
            move(place(X, source), place(into, target), m)


@njit(cache=True)
def _store(source, out, v0, v1, depth):
    """The other way round: all rows of some vectors of columns of `out`."""
    m, lanes = out.shape[1], VECTOR // out.itemsize
    for i in range(len(out)):
        for v in range(v0, v1):
            move(place(source, ((v - v0) * depth + i) * lanes), place(out, i * m + _begin(v, lanes, m)), m)


@register_jitable
def _pairs(v0, v1, longest):
    """Where tiles of two vectors a row begin, behind longer ones, such that the last one is full."""
    return v1 - 2 * (-(v1 - v0) % longest)


@njit(cache=True)
def _expect(array, i0, i1, v0, v1):
    """Have rows i0 .. i1 of some vectors of columns brought near."""
    m, lanes = array.shape[1], VECTOR // array.itemsize
    for i in range(i0, i1):
        for v in range(v0, v1):
            expect(place(array, i * m + v * lanes))


@njit(cache=True)
def _task(longest, height, panels, X, bias, row, out, tall, across, number, work):
    """One of the tasks of so many rows, a multiple of the height of a tile, of which so many are beside each other."""
    (p, m), n = X.shape, len(out)
    lanes = VECTOR // X.itemsize
    vectors, task = -(-m // lanes), number % across
    v0, v1, i0 = task * vectors // across, (task + 1) * vectors // across, number // across * tall
    i1, pairs = min(i0 + tall, n), _pairs(v0, v1, longest)
    shifts = work[min(KEPT, p) * (v1 - v0) * lanes :]
    edge = place(shifts, tall)
    for i in range(i0, i1):
        shifts[i - i0] = bias[row, i]
    for k0 in range(0, p, KEPT):
        kept = min(KEPT, p - k0)
        first, last, gap = k0 == 0, k0 + kept == p, kept * lanes
        _load(X, k0, kept, v0, v1, kept, work)
        for i_some in range(i0, i1, BLOCK):
            v = v0
            while v < v1:
                long, j = longest if v < pairs else 2, v * lanes
                for i in range(i_some, min(i_some + BLOCK, i1), height):
                    rows, whole = min(height, n - i), longest * lanes
                    inside = rows == height and m >= lanes
                    target, stride, end = edge, whole, (long - 1) * lanes
                    if inside:
                        target, stride, end = place(out, i * m + j), m, min((long - 1) * lanes, m - lanes - j)
                    else:
                        for r in range(rows):
                            for c in range(long):
                                source = place(out, (i + r) * m + _begin(v + c, lanes, m))
                                move(source, ahead(edge, r * whole + c * lanes), m)
                    tile_product(
                        *(long, height, place(panels, i * p + k0 * height), place(work, (v - v0) * gap)),
                        *(lanes, gap, (long - 1) * gap, target, stride, lanes, end),
                        *(kept, first, place(shifts, i - i0), last),
                    )
                    if not inside:
                        for r in range(rows):
                            for c in range(long):
                                target = place(out, (i + r) * m + _begin(v + c, lanes, m))
                                move(ahead(edge, r * whole + c * lanes), target, m)
                v += long


@njit(parallel=True, cache=True)
def product(longest, height, panels, X, bias, row, out, tall, across, work):
    """out = A X + b, with b the given row of `bias`, added to every column. longest: rows of tiles, in vectors; height:
    rows of tiles; panels: of A (n, p); X (p, m); out (n, m). tall: rows of a task; across: tasks beside each other;
    work[core]: its own memory."""
    for number in prange(-(-len(out) // tall) * across):
        _task(longest, height, panels, X, bias, row, out, tall, across, number, work[numba.get_thread_id()])


@njit(cache=True)
def product_serial(longest, height, panels, X, bias, row, out, tall, across, work):
    """The same bits from one thread. Its own `def`, as Numba's cache mixes up variants of one."""
    for number in range(-(-len(out) // tall) * across):
        _task(longest, height, panels, X, bias, row, out, tall, across, number, work[0])


@register_jitable
def _depth(n, p, height):
    """Rows that vectors of columns have room for: odd, such that they are no multiple of a page apart."""
    return max(n, p, height) | 1


@njit(cache=True)
def _steps(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, number, work):
    """Those of one of so many tasks: of two vectors of columns at least, if tiles are longer than one."""
    (p, m), n = X.shape, len(out)
    lanes = VECTOR // X.itemsize
    vectors = -(-m // lanes)
    v0, v1 = number * vectors // tasks, (number + 1) * vectors // tasks
    pairs, depth = _pairs(v0, v1, longest), _depth(n, p, height)
    gap = depth * lanes
    size = (v1 - v0) * gap
    shifts, direct = work[2 * size :], n >= height and m >= lanes
    if not near:
        _load(X, 0, p, v0, v1, depth, work)
    v = v0
    while v < v1:
        long, j = longest if v < pairs else 2, v * lanes
        end = min((long - 1) * lanes, m - lanes - j)
        if not near:  # what the next task reads and this one writes comes while this one multiplies
            done, after = v - v0, v + long - v0
            _expect(X, done * p // (v1 - v0), after * p // (v1 - v0), v1, min(2 * v1 - v0, vectors))
            _expect(out, done * n // (v1 - v0), after * n // (v1 - v0), v0, v1)
        for s in range(n_steps):
            at = (v - v0) * gap
            now, then = place(work, at + s % 2 * size), place(work, at + (s + 1) % 2 * size)
            from_X, to_out = near and s == 0, direct and s == n_steps - 1
            source = (place(X, j), m, lanes, end) if from_X else (now, lanes, gap, (long - 1) * gap)
            target = (place(out, j), m, lanes, end) if to_out else (then, lanes, gap, (long - 1) * gap)
            for i in range(n):
                shifts[i] = bias[row + s * stride, i]
            for t in range(-(-n // height)):
                i = max(min(t * height, n - height), 0)
                begin = ahead(target[0], i * target[1])
                panel, shift = place(panels, t * height * p), place(shifts, i)
                tile_product(long, height, panel, *source, begin, *target[1:], p, True, shift, True)
        v += long
    if not direct:
        _store(work[n_steps % 2 * size :], out, v0, v1, depth)


@njit(parallel=True, cache=True)
def march(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, work):
    """out = X after n_steps products with A, each plus a row of `bias`: rows row, row + stride .. A of several steps
    is square. tasks: how many there are, of some columns each; near: X is read, and `out` written, where it is."""
    for number in prange(tasks):
        own = work[numba.get_thread_id()]
        _steps(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, number, own)


@njit(cache=True)
def march_serial(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, work):
    """The same bits from one thread."""
    for number in range(tasks):
        _steps(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, number, work[0])


class Multiplier:
    """out = A X + b for X of so many columns. A: an array (n, p) of the backend, of which panels are kept.

    most_steps: how many one call takes at once, None for any number.
    """

    def __init__(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        n, p = A.shape
        self.most_steps = None if columns == 1 or max(n, p) <= FEW_ROWS else 1
        self._cores, self._work = numba.config.NUMBA_NUM_THREADS, n * p * columns
        if columns == 1:
            self._launch = self._column(backend, A)
            return
        self._lanes = VECTOR // A.itemsize
        self._longest = 3 if columns > self._lanes else 1
        self._height, self._vectors = rows_of_tiles(self._longest, n), -(-columns // self._lanes)
        self._launch = self._product(backend, A) if self.most_steps else self._steps(backend, A, columns)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """out = X after n_steps of X -> A X + b_k. b_k: row `row` + k `stride` of `bias`. X that is not in C order, as
        where fields are turned, is copied."""
        self._launch(np.ascontiguousarray(X), bias, row, stride, n_steps, out)

    def _column(self, backend: Backend, A: np.ndarray) -> _Launch:
        n, p = A.shape
        kernel = column_serial if self._work < SERIAL else column  # at each step threads wait for each other
        height = COLUMN * VECTOR // A.itemsize
        panels, room = _panels(backend, A, height, n), -(-max(n, p) // height) * height
        work = [_aligned(backend, (room,), A.dtype) for _ in range(3)]

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            kernel(height, panels, X, bias, row, stride, n_steps, out, *work)

        return launch

    def _steps(self, backend: Backend, A: np.ndarray, columns: int) -> _Launch:
        (n, p), height, longest = A.shape, self._height, self._longest
        panels = _panels(backend, A, height, max(n - height, 0))
        depth, least = _depth(n, p, height), min(longest, 2)
        tasks = -(-self._vectors // max(_LOADED // (depth * VECTOR), longest + 1))
        shared = min(-(-tasks // self._cores) * self._cores, max(self._vectors // least, 1))
        small = p <= _FLAT or p * columns * A.itemsize <= _NEAR
        near = small and n >= height and columns >= self._lanes
        most = -(-self._vectors // tasks)
        work = _aligned(backend, (self._cores, 2 * depth * most * self._lanes + depth), A.dtype)

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            if self._work * n_steps < SERIAL:
                march_serial(longest, height, panels, X, bias, row, stride, n_steps, out, tasks, near, work)
            else:
                march(longest, height, panels, X, bias, row, stride, n_steps, out, shared, near, work)

        return launch

    def _product(self, backend: Backend, A: np.ndarray) -> _Launch:
        (n, p), height, longest = A.shape, self._height, self._longest
        kernel = product_serial if self._work < SERIAL else product
        panels, across = _panels(backend, A, height, n), -(-self._vectors * self._lanes // COLUMNS)
        tall = self._rows_of_a_task(n, across)
        room = (min(KEPT, p) * -(-self._vectors // across) + height * longest) * self._lanes + tall
        work = _aligned(backend, (self._cores, room), A.dtype)

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            kernel(longest, height, panels, X, bias, row, out, tall, across, work)

        return launch

    def _rows_of_a_task(self, n: int, across: int) -> int:
        """Such that all cores are done at the same time, if there are so many tasks beside each other: they get equal
        numbers of tasks. A number of X is packed once for each task below the other."""

        def cost(parts: int) -> int:
            return -(-parts * across // self._cores) * (-(-n // (parts * self._height)) * self._height + _PACKING)

        parts = min(range(1, max(n // _FEWEST, 1) + 1), key=cost)
        return -(-n // (parts * self._height)) * self._height


def kinds(shape: tuple[int, int, int]) -> Iterator[tuple[str, type[Multiplier]]]:
    """(name, what makes it) of all kernels for (rows, inner) times (inner, columns)."""
    yield "vectors", Multiplier


def _panels(backend: Backend, A: np.ndarray, height: int, last: int) -> np.ndarray:
    """last: the row with which the last begins, if not later than after whole ones."""
    n, p = A.shape
    panels = _aligned(backend, (-(-n // height) * height * p,), A.dtype)
    pack(A, height, last, panels)
    return panels


def _aligned(backend: Backend, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros; the last axis begins on a line of the cache."""
    size = np.dtype(dtype).itemsize
    *before, last = shape
    last = -(-last * size // _LINE) * _LINE // size
    raw = backend.zeros(int(np.prod(before)) * last + _LINE // size, dtype)
    begin = -raw.ctypes.data % _LINE // size
    return raw[begin : begin + raw.size - _LINE // size].reshape(*before, last)
