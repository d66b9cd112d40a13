"""Steps of small systems on a CPU, and products with matrices of few rows.

A task keeps some columns in the order in which they are read, which is that in which they are written, and multiplies
again and again. The first step reads small, or flat, X itself, and the last one of any writes to `out`. Columns that
would fill less than half a vector are multiplied by vectors of rows (`few_cpu`).

The last vector of columns ends with the last column, so it overlaps the one before it, and the last tile likewise
overlaps the rows before it where there is none of exactly the rest: what is there twice gets the same bits twice.
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

_NEAR = 512 << 10  # bytes of X that stays in caches: steps read it where it is
_FLAT = 8  # rows, up to which that is faster for X of any size
_TURNS = 16  # rows of X that are multiplied with flat A before the next ones
_AT_ONCE = 128  # rows of three vectors that stay in the first cache, for another panel or step


@register_jitable
def plan(n, p, m, size):
    """How a matrix (n, p) is multiplied with m columns of numbers of so many bytes: (vectors a row of tiles have at
    most, rows of tiles, of the last one, columns that are multiplied by vectors of rows, vectors of the others, whether
    A is so flat that to copy X would take longer)."""
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
    """(row, rows, place in panels) of tile t, the last of which may be lower, and is of the last rows."""
    if (t + 1) * height <= n:
        return t * height, height, t * height * p
    return max(n - low, 0), low, (t + (low < height)) * height * p


@part
def _expect(array, i0, i1, v0, v1):
    """Have rows i0 .. i1 of some vectors of columns brought near."""
    m, lanes = array.shape[1], VECTOR // array.itemsize
    for i in range(i0, i1):
        for v in range(v0, v1):
            expect(place(array, i * m + v * lanes))


@register_jitable
def depth_of(n, p, height):
    """Rows that vectors of columns have room for: odd, such that they are no multiple of a page apart."""
    return max(n, p, height) | 1


@part
def _steps(at, panels, X, bias, course, out, tasks, number, work):
    """Those of one of so many tasks: of two vectors of columns at least, if tiles are longer than one. The last one has
    the columns that are multiplied by vectors of rows besides. course: the row of `bias`, from one to the next,
    and how many steps.

    A single product with a flat matrix is of a few rows of X at a time, and many columns, from end to end."""
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
    kept = place(work, -(-depth // lanes) * lanes)  # behind what is added, on a line of the caches
    if not near:
        load(X, 0, p, v0, v1, depth, kept)
    v = v0
    while v < v1:
        long, j, count = longest if v < pairs else min(2, v1 - v0), v * lanes, 1
        end, next = min((long - 1) * lanes, m - lanes - j), long - 2  # low tiles have the first of two vectors twice
        if flat and v < pairs:  # tiles of a call: as many as stay in the first cache, if they are read again
            count = (min(pairs, m // lanes) - v) // long
            if not once:
                count = min(count, _AT_ONCE // (2 * n))
            elif tiles > 1:
                count = min(count, _AT_ONCE // turns)
            count = max(count, 1)
        if not near:  # what the next task reads and this one writes comes while this one multiplies
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
def march(at, panels, tasks, shared, enough, work, X, bias, row, stride, n_steps, out):
    """out = X after n_steps products with A, each plus a row of `bias`: rows row, row + stride .. A of several steps
    is square. panels: of A (n, p), as it is planned; X (p, m); out (n, m). tasks: how many there are, of some columns
    each, for one thread, and how many are shared out among all from `enough` steps on; work[core]: its own memory, from
    a line of the caches on, as many numbers as are depth_of(n, p, height) in whole vectors, and twice
    depth_of(n, p, height) for each column of a task."""
    alone = n_steps < enough
    count = tasks if alone else shared
    _tasks(count, (at, panels, X, bias, (row, stride, n_steps), out, count, alone, work), 1 if alone else count)
