"""Steps of small systems on a CPU, and products with matrices of few rows.

A task keeps some columns in the order in which they are read, which is also that in which they are written, and
multiplies them again and again. If X is small, or A flat, the first step reads X itself; the last step always writes to
`out`. Columns that would fill less than half a vector are multiplied by vectors of rows (`few_cpu`).

The last vector of columns ends with the last column, so it overlaps the one before it. Likewise the last tile overlaps
the rows before it, unless there is a tile of exactly the remaining rows. Overlapping entries get the same bits twice.
"""

from __future__ import annotations

import numba
from numba.extending import register_jitable

from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.few_cpu import strips
from simsuite.solvers.matmul.cpu.panels_cpu import load, pairs_from, store
from simsuite.solvers.matmul.cpu.registers_cpu import (
    LOW,
    ROWS,
    STRIP,
    ahead,
    expect,
    place,
    rows_of_tiles,
    tile_product,
)
from simsuite.solvers.matmul.cpu.vectors_cpu import VECTOR

_NEAR = 512 << 10  # X of up to so many bytes stays in the caches, and steps read it where it is.
_FLAT = 8  # With up to so many rows, reading X where it is is faster for X of any size.
_TURNS = 16  # So many rows of X are multiplied with a flat A before the next ones.
_AT_ONCE = 128  # So many rows of three vectors stay in the first cache, for another panel or step.


@register_jitable
def plan(n, p, m, size):
    """How a matrix (n, p) is multiplied with m columns of numbers of `size` bytes.

    Returns (the most vectors that a row of a tile has, the rows of a tile, the rows of the last tile, the columns that
    are multiplied by vectors of rows, the vectors of the other columns, whether A is so flat that copying X would take
    longer).
    """
    lanes = VECTOR // size
    longest = 3 if m > lanes else 1
    height = rows_of_tiles(longest, n)
    rest, few = n % height, m % lanes
    if few > STRIP or m < lanes or height < ROWS[2] or longest == 1:
        few = 0
    vectors = -(-(m - few) // lanes)
    low = rest if 0 < rest <= LOW and vectors > 1 else height
    return longest, height, low, few, vectors, height < ROWS[longest]


@register_jitable
def _tile(t, height, low, n, p):
    """(row, rows, place in panels) of tile t. The last tile may have fewer rows, and ends with the last row."""
    if (t + 1) * height <= n:
        return t * height, height, t * height * p
    return max(n - low, 0), low, (t + (low < height)) * height * p


@part
def _expect(array, i0, i1, v0, v1):
    """Request that rows i0 .. i1 of the vectors v0 .. v1 of columns are loaded into a cache."""
    m, lanes = array.shape[1], VECTOR // array.itemsize
    for i in range(i0, i1):
        for v in range(v0, v1):
            expect(place(array, i * m + v * lanes))


@register_jitable
def depth_of(n, p, height):
    """How many rows vectors of columns have room for: an odd number, lest their distance be a multiple of a page."""
    return max(n, p, height) | 1


@part
def _steps(at, panels, X, bias, course, out, tasks, number, work):
    """Take the steps of task `number` out of `tasks`, which has at least two vectors of columns if tiles are longer
    than one. The last task also has the columns that are multiplied by vectors of rows. course: the first row of
    `bias`, the distance to the next row, and how many steps.

    A single product with a flat matrix takes a few rows of X at a time, and many columns, from end to end.
    """
    row, stride, n_steps = course
    (p, m), n, lanes = X.shape, len(out), VECTOR // X.itemsize
    longest, height, low, few, vectors, flat = plan(n, p, m, X.itemsize)
    v0, v1 = number * vectors // tasks, (number + 1) * vectors // tasks
    once, direct = flat and n_steps == 1, n >= height and m >= lanes
    turns = min(_TURNS, p) if once else p
    near = direct and (once or p <= _FLAT or p * m * X.itemsize <= _NEAR)
    pairs, tiles, depth = pairs_from(v0, v1, longest), -(-n // height), depth_of(n, p, height)
    gap = depth * lanes
    size = (v1 - v0) * gap
    # The columns are kept behind the biases, from the beginning of a cache line on.
    kept = place(work, -(-depth // lanes) * lanes)
    if not near:
        load(X, 0, p, v0, v1, depth, kept)
    v = v0
    while v < v1:
        long, j, count = longest if v < pairs else min(2, v1 - v0), v * lanes, 1
        # Low tiles process the first of two vectors twice.
        end, next = min((long - 1) * lanes, m - lanes - j), long - 2
        if flat and v < pairs:  # A call processes as many tiles as stay in the first cache, if they are read again.
            count = (min(pairs, m // lanes) - v) // long
            if not once:
                count = min(count, _AT_ONCE // (2 * n))
            elif tiles > 1:
                count = min(count, _AT_ONCE // turns)
            count = max(count, 1)
        # Numbers that the next task reads, and those that this one writes, are loaded while this one multiplies.
        if not near:
            done, after = v - v0, v + long * count - v0
            _expect(X, done * p // (v1 - v0), after * p // (v1 - v0), v1, min(2 * v1 - v0, vectors))
            _expect(out, done * n // (v1 - v0), after * n // (v1 - v0), v0, v1)
        for s in range(n_steps):
            own = ahead(kept, (v - v0) * gap)
            now, then = ahead(own, s % 2 * size), ahead(own, (s + 1) % 2 * size)
            from_X, to_out = near and s == 0, direct and s == n_steps - 1
            source = (place(X, j), m, next * lanes, end) if from_X else (now, lanes, next * gap, (long - 1) * gap)
            target = (place(out, j), m, next * lanes, end) if to_out else (then, lanes, next * gap, (long - 1) * gap)
            for i in range(n):
                work[i] = bias[row + s * stride, i]
            for k in range(0, p, turns):
                begin, more = ahead(source[0], k * source[1]), min(turns, p - k)
                for t in range(tiles):
                    i, rows, at_A = _tile(t, height, low, n, p)
                    wide = 3 if rows < ROWS[longest] and long == 2 else long
                    tile_product(
                        *(at, wide, rows, place(panels, at_A + k * rows)),
                        (begin, *source[1:]),
                        (ahead(target[0], i * target[1]), *target[1:]),
                        *(more, k == 0, place(work, i), k + more == p, count),
                    )
        v += long * count
    if not direct:
        store(ahead(kept, n_steps % 2 * size), out, v0, v1, depth)
    if few > 0 and number == tasks - 1:
        for s in range(n_steps):
            now, then = ahead(kept, s % 2 * n * few), ahead(kept, (s + 1) % 2 * n * few)
            begin, x_stride = (place(X, m - few), m) if s == 0 else (now, few)
            goal, goal_stride = (place(out, m - few), m) if s == n_steps - 1 else (then, few)
            for i in range(n):
                work[i] = bias[row + s * stride, i]
            strips(at, few, height, panels, begin, x_stride, goal, goal_stride, work, (n, p), 0, tiles)


@parallel_for
def _tasks(begin, end, at, panels, X, bias, course, out, tasks, alone, work):
    for number in range(begin, end):
        own = work[0 if alone else numba.get_thread_id()]
        _steps(at, panels, X, bias, course, out, tasks, number, own)


@kernel
def steps(at, panels, tasks, shared, enough, work, X, bias, row, stride, n_steps, out):
    """out = X after n_steps products with A, to each of which a row of `bias` is added: rows row, row + stride .. A
    must be square if there are several steps.

    panels: those of A (n, p), as `plan` says; X (p, m); out (n, m). tasks: how many tasks of some columns a single
    thread does; shared: how many tasks are distributed over all threads, from `enough` steps on. work[core]: memory of
    each core that begins with a cache line, with room for depth_of(n, p, height) numbers in whole vectors, and twice
    depth_of(n, p, height) for each column of a task.
    """
    alone = n_steps < enough
    count = tasks if alone else shared
    _tasks(count, (at, panels, X, bias, (row, stride, n_steps), out, count, alone, work), 1 if alone else count)
