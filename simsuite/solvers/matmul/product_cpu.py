"""Matrix products on a CPU, with a constant A and varying X and bias.

A is stored in panels of a few rows, A[k, r] of each in order, as the innermost loops (`registers_cpu`) read it. Tasks
of some rows and columns are distributed over the cores. Each copies a part of X, KEPT rows of its columns, in the order
in which they are read, and multiplies BLOCK rows of A with it, which stay in the second cache: K. Goto and R. van de
Geijn, "Anatomy of high-performance matrix multiplication", ACM Transactions on Mathematical Software 34 (2008) 12.
Unlike there, sums run over all k unless there are too many: fetching and storing partial sums costs more than reading a
few columns of X from the second or third cache, which can be requested early enough.

Small systems, flat matrices and few columns have kernels of their own (`steps_cpu`, `few_cpu`, `column_cpu`), most of
which take many steps at once.

Every entry is computed by sum = fma(A[i, k], X[k, j], sum) over k = 0, 1, .. from 0 on, and then the addition of bias:
the same bits for any number of cores, any number of columns, and however many steps are taken at once. That is the
reason not to call BLAS here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np

from simsuite.core import Backend
from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.column_cpu import column
from simsuite.solvers.matmul.cpu.few_cpu import few
from simsuite.solvers.matmul.cpu.panels_cpu import filled, first_column, in_lines, load, overlapping, pairs_from
from simsuite.solvers.matmul.cpu.registers_cpu import COLUMN, ROWS, STRIP, ahead, move, place, products, tile_product
from simsuite.solvers.matmul.cpu.steps_cpu import depth_of, plan, steps
from simsuite.solvers.matmul.cpu.vectors_cpu import VECTOR

KEPT = 2048  # So many rows of X are multiplied before the next ones.
COLUMNS = 240  # A task has about so many columns.
BLOCK = 96  # So many rows of A are multiplied with all columns of a task before the next ones.
# With fewer multiplications, waking other threads takes longer than they save; with float32 the number is twice as
# large, unless
# memory limits the speed.
SERIAL = 1 << 19
FEW_ROWS = 512  # With up to so many rows, whole columns stay in the second cache from step to step.
_LOADED = 192 << 10  # So many bytes of columns are loaded together for steps: half a second cache.
_FEWEST = 48  # A task has at least so many rows.
_PACKING = 16  # Packing a number takes as long as so many multiplications.
_Launch: TypeAlias = Callable[[Any, Any, int, int, int, Any], None]  # the type of `Multiplier.__call__`


class Tiles(NamedTuple):
    """How A (n, p) is multiplied. A launch passes a plain tuple, from which the kernel makes a Tiles again.

    at: the address of the table that `products` makes. longest: how many vectors a row of a tile has. height: how many
    rows a tile has. panels: those of A. tall: how many rows a task has, a multiple of `height`. across: how many tasks
    lie side by side. alone: whether a single thread does all. work[core]: memory of each core, as numbers.
    """

    at: Any
    longest: Any
    height: Any
    panels: Any
    tall: Any
    across: Any
    alone: Any
    work: Any


@part
def _task(tiles, X, bias, row, out, number, work):
    """Do task `number`. work: the memory of this core."""
    at, longest, height, panels = tiles.at, tiles.longest, tiles.height, tiles.panels
    tall, across = tiles.tall, tiles.across
    (p, m), n = X.shape, len(out)
    lanes = VECTOR // X.itemsize
    vectors, task = -(-m // lanes), number % across
    v0, v1, i0 = task * vectors // across, (task + 1) * vectors // across, number // across * tall
    i1, pairs = min(i0 + tall, n), pairs_from(v0, v1, longest)
    shifts = work[min(KEPT, p) * (v1 - v0) * lanes :]
    edge = place(shifts, tall)
    for i in range(i0, i1):
        shifts[i - i0] = bias[row, i]
    for k0 in range(0, p, KEPT):
        kept = min(KEPT, p - k0)
        first, last, gap = k0 == 0, k0 + kept == p, kept * lanes
        load(X, k0, kept, v0, v1, kept, place(work, 0))
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
                                source = place(out, (i + r) * m + first_column(v + c, lanes, m))
                                move(source, ahead(edge, r * whole + c * lanes), m)
                    tile_product(
                        *(at, long, height, place(panels, i * p + k0 * height)),
                        (place(work, (v - v0) * gap), lanes, gap, (long - 1) * gap),
                        (target, stride, lanes, end),
                        *(kept, first, place(shifts, i - i0), last, 1),
                    )
                    if not inside:
                        for r in range(rows):
                            for c in range(long):
                                target = place(out, (i + r) * m + first_column(v + c, lanes, m))
                                move(ahead(edge, r * whole + c * lanes), target, m)
                v += long


@parallel_for
def _tasks(begin, end, tiles, X, bias, row, out):
    for number in range(begin, end):
        own = tiles.work[0 if tiles.alone else numba.get_thread_id()]
        _task(tiles, X, bias, row, out, number, own)


@kernel
def product(tiles, X, bias, row, stride, n_steps, out):
    """out = A X + b, where b is the given row of `bias`, added to every column. It takes a single step, whatever
    n_steps is. X (p, m); out (n, m).
    """
    tiles = Tiles(*tiles)
    tasks = -(-len(out) // tiles.tall) * tiles.across
    _tasks(tasks, (tiles, X, bias, row, out), 1 if tiles.alone else tasks)


class Multiplier:
    """The product out = A X + b for X of so many columns. A: an array (n, p) of the backend, of which panels are kept.

    most_steps: how many steps one call can take, None for any number.
    """

    def __init__(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        (n, p), self._lanes = A.shape, VECTOR // A.itemsize
        # the number of multiplications of a step
        self._cores, self._work = numba.config.NUMBA_NUM_THREADS, n * p * columns
        self._at, self.most_steps = products(A.dtype).ctypes.data, None
        if columns == 1:
            self._launch = self._column(backend, A)
        elif columns <= min(2 * STRIP, self._lanes - 1) and n >= ROWS[2]:
            self._launch = self._few(backend, A, columns)
        elif max(n, p) <= FEW_ROWS:
            self._launch = self._steps(backend, A, columns)
        else:
            self.most_steps = 1
            flat = n < ROWS[2] and columns > self._lanes
            self._launch = self._steps(backend, A, columns) if flat else self._product(backend, A, columns)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = X after n_steps of X -> A X + b_k, where b_k is row `row` + k `stride` of `bias`."""
        self._launch(X, bias, row, stride, n_steps, out)

    def _column(self, backend: Backend, A: np.ndarray) -> _Launch:
        (n, p), height = A.shape, COLUMN * VECTOR // A.itemsize
        room = -(-max(n, p) // height) * height
        work = [in_lines(backend, (room,), A.dtype) for _ in range(3)]
        alone = self._work < SERIAL  # With several threads, all wait for each other at each step.
        return functools.partial(column, height, filled(backend, A, height), alone, *work)

    def _few(self, backend: Backend, A: np.ndarray, columns: int) -> _Launch:
        n = len(A)
        height = max(self._lanes, ROWS[2]) if n >= self._lanes else ROWS[2]
        panels = overlapping(backend, A, height, height)
        shifts, states = in_lines(backend, (n,), A.dtype), in_lines(backend, (2, n * columns), A.dtype)
        return functools.partial(few, self._at, height, panels, self._work < SERIAL, shifts, states)

    def _steps(self, backend: Backend, A: np.ndarray, columns: int) -> _Launch:
        n, p = A.shape
        longest, height, low, apart, vectors, flat = plan(n, p, columns, A.itemsize)
        panels, depth, once = overlapping(backend, A, height, low), depth_of(n, p, height), flat and n != p
        tasks = 1 if once else -(-vectors // max(_LOADED // (depth * VECTOR), longest + 1))
        shared = min(-(-tasks // self._cores) * self._cores, max(vectors // min(longest, 2), 1))
        most = 0 if once else -(-vectors // tasks) * self._lanes + apart
        room = -(-depth // self._lanes) * self._lanes + 2 * depth * most
        work = in_lines(backend, (self._cores, room), A.dtype)
        enough = -(-SERIAL * 8 // (self._work * A.itemsize))
        return functools.partial(steps, self._at, panels, tasks, shared, enough, work)

    def _product(self, backend: Backend, A: np.ndarray, columns: int) -> _Launch:
        (n, p), longest = A.shape, 3 if columns > self._lanes else 1
        height, vectors = ROWS[longest], -(-columns // self._lanes)
        panels, across = filled(backend, A, height), -(-vectors * self._lanes // COLUMNS)
        tall = self._rows_of_a_task(n, across, height)
        room = (min(KEPT, p) * -(-vectors // across) + height * longest) * self._lanes + tall
        work = in_lines(backend, (self._cores, room), A.dtype)
        alone = self._work * A.itemsize < SERIAL * 8
        shape = {"longest": longest, "height": height, "tall": tall, "across": across}
        return functools.partial(product, tuple(Tiles(at=self._at, panels=panels, alone=alone, work=work, **shape)))

    def _rows_of_a_task(self, n: int, across: int, height: int) -> int:
        """How many rows a task has, so that the cores finish at the same time: with `across` tasks side by side, they
        get equal numbers of tasks. Packing counts too, as each number of X is packed once for each of the tasks below
        each other.
        """

        def cost(parts: int) -> int:
            return -(-parts * across // self._cores) * (-(-n // (parts * height)) * height + _PACKING)

        parts = min(range(1, max(n // _FEWEST, 1) + 1), key=cost)
        return -(-n // (parts * height)) * height


def kinds(shape: tuple[int, int, int]) -> Iterator[tuple[str, type[Multiplier]]]:
    """(name, class that makes the product) for all kernels for (rows, inner) times (inner, columns)."""
    yield "vectors", Multiplier
