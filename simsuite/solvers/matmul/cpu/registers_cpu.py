"""The innermost loops of matrix products on a CPU, whose sums stay in vector registers.

Numba offers no control over what is kept in registers, so these loops are written in the language of its compiler, with
vectors as long as this CPU's, and as many sums at once as it has registers for. The speed is then limited by how often
each processor can add; LLVM's own vectorising of the same loops reached less than a tenth of it.

Every sum is sum = fma(a, x, sum) in order of the inner index, from 0 on: its bits depend neither on its place in a tile
nor on the length of vectors.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, errors, types
from numba.core.types.misc import CPointer
from numba.extending import intrinsic, register_jitable

from simsuite.solvers.matmul.cpu.vectors_cpu import FUSED, INDEX, LONG, MANY, VECTOR, Vectors

# The rows of a tile whose rows have 1, 2 or 3 vectors. Sums, a row of X and a value of A fill 32 registers, or 16.
# Pairs of
# vectors, which stand beside triples, take the same panels. There are lower tiles for matrices of few rows, and for the
# last rows; and one with rows of a single vector for the panels of the others.
ROWS = (0, 16, 8, 8) if MANY else (0, 8, 4, 4)
LOW = min(4, ROWS[2] - 1)
_TILES = [*enumerate(ROWS)][1:] + [(1, ROWS[2])] + [(3, rows) for rows in range(1, LOW + 1)]
STRIP = 4 if MANY else 2  # With up to so many columns, vectors of rows are faster than vectors of columns.
# So many panels are multiplied at once with few columns, so that their sums hide an addition's latency.
BESIDE = 4 if MANY else 2
_AHEAD = 16, 32  # Rows of X, and those of A, are requested so many rounds early where a vector is a cache line.
COLUMN = 8  # So many vectors of rows are summed at once for a single column: as many as hide an addition's latency.


@register_jitable
def rows_of_tiles(longest, n):
    """The rows of tiles that suit a matrix of n rows, where a tile has up to `longest` vectors a row. All rows of a
    tile lie in the matrix, if possible.
    """
    return ROWS[longest] if n >= ROWS[longest] or longest == 1 else min(n, LOW)


@intrinsic
def place(typing, array, index):
    """A pointer to the number `index` of a contiguous array, valid for as long as the array lives."""
    if array.layout != "C":
        raise errors.TypingError(f"rows one after the other are needed, not {array}")

    def write(context, builder, signature, given):
        return builder.gep(context.make_array(array)(context, builder, given[0]).data, [given[1]])

    return CPointer(array.dtype)(array, types.intp), write


@intrinsic
def ahead(typing, pointer, index):
    """The pointer `index` numbers after `pointer`."""
    return pointer(pointer, types.intp), lambda context, builder, signature, given: builder.gep(given[0], [given[1]])


@functools.cache
def products(dtype: Any) -> np.ndarray:
    """A table of the addresses of the loops below in machine code, for numbers of a type. It is made once, so that
    functions that call these loops share the code.
    """
    table = np.zeros((max(2 * STRIP, *ROWS) + 1) * len(ROWS), np.int64)
    _fill(table, np.dtype(dtype).type(0))
    return table


@njit(cache=True)
def _fill(table, number):
    _store_addresses(table, number)


def _places(given: Any) -> Any:
    """The type of a tuple of a pointer and several distances, with all distances as integers of one type."""
    return types.Tuple((given.types[0], *[types.intp] * (len(given.types) - 1)))  # type: ignore[attr-defined]


@intrinsic
def tile_product(typing, at, vectors, rows, A, of_X, of_out, n, first, bias, last, count):
    """Compute a tile: out[r stride + c] = [out if not first] + sum over k < n of A[k rows + r] X[k x_stride + c] [+
    bias[r] if last], for all rows r and columns c of a tile of `rows` rows of `vectors` vectors.

    of_X: (X, x_stride, x_gap, x_end); of_out: (out, stride, gap, end). The first vector begins at column 0, the next
    one at column gap of `out` and x_gap of X, but the last at `end` and x_end. If tiles are low, `count` of them are
    computed, at the distance that they have if all vectors have that gap. Arguments are pointers and numbers; at: the
    address of the table that `products` makes.
    """
    index = types.intp
    signature = types.void(*[index] * 3, A, _places(of_X), _places(of_out), index, index, bias, index, index)

    def write(context, builder, signature, given):
        table, vectors, rows, A, of_X, of_out, *rest = given
        tile = [A, *(value for places in (of_X, of_out) for value in cgutils.unpack_tuple(builder, places)), *rest]
        return _call(builder, table, vectors, rows, tile)

    return signature, write


@intrinsic
def strip_product(typing, at, columns, height, of_A, of_X, of_out, n, bias):
    """Compute out[r stride + c] = sum over k < n of A[k height + r] X[k x_stride + c] + bias[r] by vectors of rows, for
    few columns c and all rows r of BESIDE panels, which are as high as tiles of two vectors a row, or as vectors are
    long.

    of_A: (A, A_gap); of_X: (X, x_stride); of_out: (out, stride, step, end). The next panel is at A_gap in A, and its
    rows at r = `step`, but those of the last one at `end`. Arguments are pointers and numbers; at: the address of the
    table that `products` makes.
    """
    index = types.intp
    signature = types.void(*[index] * 3, _places(of_A), _places(of_X), _places(of_out), index, bias)

    def write(context, builder, signature, given):
        at, columns, height, *places, n, bias = given
        (A, A_gap), (X, x_stride), (out, stride, step, end) = (cgutils.unpack_tuple(builder, p) for p in places)
        zero, one = INDEX(0), INDEX(1)
        tile = [A, X, x_stride, A_gap, zero, out, stride, step, end, n, one, bias, one, one]
        high = builder.select(builder.icmp_signed("==", height, INDEX(ROWS[2])), zero, INDEX(STRIP))
        return _call(builder, at, zero, builder.add(columns, high), tile)

    return signature, write


def _call(builder: Any, table: Any, vectors: Any, rows: Any, given: Any) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [value.type for value in given]).as_pointer()
    place = builder.add(table, builder.mul(INDEX(8), builder.add(builder.mul(rows, INDEX(len(ROWS))), vectors)))
    builder.call(builder.load(builder.inttoptr(place, kind.as_pointer())), given)
    return ir.Constant(ir.IntType(8).as_pointer(), None)  # This is how Numba represents None.


@intrinsic
def _store_addresses(typing, table, number):
    """Write the functions that multiply tiles, and those that multiply strips, and store their addresses in the table.

    A strip is listed under 0 vectors, with its number of columns as rows, or with STRIP more if its panels are as high
    as vectors are long rather than as tiles are. All functions have the arguments of `tile_product` from A on.
    """

    def write(context, builder, signature, given):
        addresses, pointer = context.make_array(table)(context, builder, given[0]).data, given[1].type.as_pointer()
        module = builder.module
        kind = [pointer, pointer, *[INDEX] * 3, pointer, *[INDEX] * 5, pointer, INDEX, INDEX]
        for vectors, rows in [*_TILES, *((0, columns) for columns in range(1, 2 * STRIP + 1))]:
            function = ir.Function(module, ir.FunctionType(ir.VoidType(), kind), module.get_unique_name("product"))
            function.linkage = "internal"
            body = ir.IRBuilder(function.append_basic_block())
            if vectors:
                _write_tile_product(number, vectors, rows, body, *function.args)
            else:
                lanes = 0 if rows > STRIP else ROWS[2]
                _write_strip_product(Vectors(body, number, lanes), body, (rows - 1) % STRIP + 1, *function.args)
            body.ret_void()
            place = builder.gep(addresses, [INDEX(rows * len(ROWS) + vectors)])
            builder.store(builder.ptrtoint(function, INDEX), place)
        return context.get_dummy_value()

    return types.void(table, number), write


def _write_tile_product(dtype: Any, vectors: int, rows: int, builder: Any, *given: Any) -> None:
    if rows == ROWS[vectors]:
        _write_tile(Vectors(builder, dtype), builder, vectors, rows, *given[:-1])
        return
    A, X, x_stride, x_gap, x_end, out, stride, gap, *others, count = given
    with cgutils.for_range(builder, count) as tile:
        first = builder.mul(tile.index, INDEX(vectors))
        v, in_X, in_out = Vectors(builder, dtype), builder.mul(first, x_gap), builder.mul(first, gap)
        _write_tile(
            v, builder, vectors, rows, A, v.at(X, in_X), x_stride, x_gap, x_end, v.at(out, in_out), stride, gap, *others
        )


def _write_tile(v: Vectors, builder: Any, vectors: int, rows: int, *given: Any) -> None:
    A, X, x_stride, x_gap, x_end, out, stride, gap, end, n, first, bias, last = given

    def of_a_row(begin, gap, end):
        return [*[begin, v.at(begin, gap)][: vectors - 1], v.at(begin, end)]

    def places():
        return [p for r in range(rows) for p in of_a_row(v.at(out, builder.mul(stride, INDEX(r))), gap, end)]

    def row_of_X(k):
        return of_a_row(v.at(X, builder.mul(k, x_stride)), x_gap, x_end)

    def expect(k):
        in_X, in_A = (builder.add(k, INDEX(turns)) for turns in _AHEAD)
        for place in [*row_of_X(in_X), v.at(A, builder.mul(in_A, INDEX(rows)))]:
            v.expect(place, 1)

    def add(k, sums):
        x = [v.load(place) for place in row_of_X(k)]
        row_of_A = v.at(A, builder.mul(k, INDEX(rows)))
        if LONG and rows == ROWS[vectors]:
            expect(k)
        a = (v.all_of(builder.load(v.at(row_of_A, r))) for r in range(rows))
        return [v.fma(value, x[c], sums[r * vectors + c]) for r, value in enumerate(a) for c in range(vectors)]

    first, last = (builder.icmp_signed("!=", flag, INDEX(0)) for flag in (first, last))
    begin = v.either(builder.not_(first), lambda: [v.load(p) for p in places()], [v.zero] * rows * vectors)
    sums = v.sums(begin, n, add)

    def shifted():
        by = [v.all_of(builder.load(v.at(bias, r))) for r in range(rows)]
        return [builder.fadd(s, by[i // vectors]) for i, s in enumerate(sums)]

    for place, value in zip(places(), v.either(last, shifted, sums)):
        v.store(value, place)


def _write_strip_product(v: Vectors, builder: Any, columns: int, *given: Any) -> None:
    A, X, x_stride, gap, _, out, stride, step, end, n, _, bias, _, _ = given

    def add(k, sums):
        rows = v.at(A, builder.mul(k, INDEX(v.lanes)))
        if LONG:
            for t in range(BESIDE):
                v.expect(v.at(rows, builder.add(builder.mul(gap, INDEX(t)), INDEX(_AHEAD[1] * v.lanes))), 1)
        of_A = [v.load(v.at(rows, builder.mul(gap, INDEX(t)))) for t in range(BESIDE)]
        row_of_X = v.at(X, builder.mul(k, x_stride))
        x = [v.all_of(builder.load(v.at(row_of_X, c))) for c in range(columns)]
        return [v.fma(a, value, sums[t * columns + c]) for t, a in enumerate(of_A) for c, value in enumerate(x)]

    sums = v.sums([v.zero] * BESIDE * columns, n, add)
    for t in range(BESIDE):
        row = builder.mul(step, INDEX(t)) if t < BESIDE - 1 else end
        shift = v.load(v.at(bias, row))
        found = [builder.fadd(total, shift) for total in sums[t * columns : (t + 1) * columns]]
        v.store_across(found, v.at(out, builder.mul(stride, row)), stride)


@intrinsic
def move(typing, source, out, most):
    """Copy a vector of numbers from one pointer to another one, or only `most` numbers of it."""

    def write(context, builder, signature, given):
        begin, target, most = given
        v = Vectors(builder, source.dtype)
        with builder.if_else(builder.icmp_signed(">=", most, INDEX(v.lanes))) as (whole, part):
            with whole:
                v.store(v.load(begin), target)
            with part:
                v.move(begin, target, most)
        return context.get_dummy_value()

    return types.void(source, out, types.intp), write


@intrinsic
def expect(typing, pointer):
    """Request that the cache line around a pointer is loaded into the second cache."""

    def write(context, builder, signature, given):
        Vectors(builder, pointer.dtype).expect(given[0], 2)
        return context.get_dummy_value()

    return types.void(pointer), write


@intrinsic
def column_product(typing, A, a, x, n, bias, b, out, at):
    """Compute out[at + r] = sum over k < n of A[a + k rows + r] x[k] + bias[b + r], for COLUMN vectors of rows r."""
    index = types.intp
    signature = types.void(A, index, x, index, bias, index, out, index)

    def write(context, builder, signature, given):
        v = Vectors(builder, A.dtype)

        def start(i, offset):
            array = context.make_array(signature.args[i])(context, builder, given[i])
            return builder.gep(array.data, [given[offset]]) if offset else array.data

        matrix, column, shift, target = start(0, 1), start(2, 0), start(4, 5), start(6, 7)

        def add(k, sums):
            value = v.all_of(builder.load(v.at(column, k)))
            rows = v.at(matrix, builder.mul(k, INDEX(COLUMN * v.lanes)))
            return [v.fma(v.load(v.at(rows, c * v.lanes)), value, s) for c, s in enumerate(sums)]

        for c, total in enumerate(v.sums([v.zero] * COLUMN, given[3], add)):
            v.store(builder.fadd(total, v.load(v.at(shift, c * v.lanes))), v.at(target, c * v.lanes))
        return context.get_dummy_value()

    return signature, write


@intrinsic
def gathered_product(typing, tile, halved, A, rows, begin, end, X, stride, j, out, at):
    """Compute out[at + c] = sum over k = begin .. end - 1 of A[k] X[rows[k] stride + j + c], for the columns c of as
    many vectors as the tuple `tile` is long, each halved as often as the tuple `halved` is long. All arrays have rank
    1; end > begin.
    """
    index = types.intp
    signature = types.void(tile, halved, A, rows, index, index, X, index, index, out, index)

    def write(context, builder, signature, given):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, given[i]).data

        v = Vectors(builder, A.dtype, max(VECTOR // (A.dtype.bitwidth // 8) >> halved.count, 1))
        values, picked, matrix, target = data(2), data(3), data(6), data(9)
        first, after, stride, j, at = given[4], given[5], given[7], given[8], given[10]
        column, corner = builder.gep(matrix, [j]), builder.gep(target, [at])

        def add(turn, sums):
            k = builder.add(first, turn)
            value = v.all_of(builder.load(v.at(values, k)))
            row = builder.load(builder.gep(picked, [k]))
            row = row if row.type == INDEX else builder.sext(row, INDEX)
            x = v.at(column, builder.mul(row, stride))
            return [v.fma(value, v.load(v.at(x, c * v.lanes)), s) for c, s in enumerate(sums)]

        for c, total in enumerate(v.sums([v.zero] * tile.count, builder.sub(after, first), add)):
            v.store(total, v.at(corner, c * v.lanes))
        return context.get_dummy_value()

    return signature, write


@intrinsic
def multiply_add(typing, a, x, total):
    """a x + total for three numbers of one type, rounded as in the products above."""

    def write(context, builder, signature, given):
        a, x, total = given
        return builder.fma(a, x, total) if FUSED else builder.fadd(builder.fmul(a, x), total)

    return a(a, a, a), write
