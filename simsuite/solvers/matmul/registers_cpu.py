"""The innermost loops of matrix products on a CPU, whose sums stay in vector registers.

Numba gives no say in what is kept in registers, so these loops are written in the language of its compiler: vectors as
long as those of this CPU, and as many sums at once as it has registers for. How often each processor can add is then
what limits them; LLVM's own vectorising of the same loops reached less than a tenth of it.

Every sum is fma(a, x, sum) in order of the inner index, from 0 on: its bits depend neither on where in a tile it is nor
on the length of vectors.
"""

from __future__ import annotations

import platform
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.types.misc import CPointer
from numba.extending import intrinsic

_FEATURES = llvm.get_host_cpu_features()
_LONG = bool(_FEATURES.get("avx512f"))
_MANY = _LONG or platform.machine() in ("aarch64", "arm64")
VECTOR = 64 if _LONG else 32 if _FEATURES.get("avx") else 16  # bytes
# Rows of a tile of 1, 2 and 3 vectors a row. Sums, a row of X and a value of A fill 32 registers, or 16; pairs of
# vectors, which stand beside triples, take the same panels. Of both there are lower ones, for matrices of few rows.
_ROWS = (0, 16, 8, 8) if _MANY else (0, 8, 4, 4)
_TILES = [*enumerate(_ROWS)][1:] + [
    (vectors, rows) for vectors in (2, 3) for rows in (1, 2, 4) if rows < _ROWS[vectors]
]
_FUSED = bool(_FEATURES.get("fma")) or platform.machine() not in ("x86_64", "AMD64", "i686")
_AHEAD = 16, 32  # turns that rows of X, and those of A, are asked for early where a vector is a line of the caches
COLUMN = 8  # vectors of rows that are summed at once against a single column: as many as hide an addition's latency

_INDEX, _INT = ir.IntType(64), ir.IntType(32)


class _Vectors:
    """Writes operations on vectors of a type of numbers."""

    def __init__(self, builder: Any, dtype: Any, halvings: int = 0) -> None:
        """halvings: how often those of this CPU are halved."""
        self._builder = builder
        self.size = dtype.bitwidth // 8
        self.lanes = max(VECTOR // self.size >> halvings, 1)
        self.real = ir.DoubleType() if self.size == 8 else ir.FloatType()
        self.type = ir.VectorType(self.real, self.lanes)
        self.zero = ir.Constant(self.type, None)

    def at(self, pointer: Any, index: Any) -> Any:
        return self._builder.gep(pointer, [_INDEX(index) if isinstance(index, int) else index])

    def load(self, pointer: Any) -> Any:
        found = self._builder.load(self._builder.bitcast(pointer, self.type.as_pointer()))
        found.align = self.size
        return found

    def store(self, value: Any, pointer: Any) -> None:
        self._builder.store(value, self._builder.bitcast(pointer, self.type.as_pointer())).align = self.size

    def expect(self, pointer: Any, level: int) -> None:
        """Have the line of the caches around a pointer brought to the first or to the second one."""
        line = ir.IntType(8).as_pointer()
        function = ir.FunctionType(ir.VoidType(), [line, _INT, _INT, _INT])
        prefetch = cgutils.get_or_insert_function(self._builder.module, function, "llvm.prefetch.p0")
        reads, locality, data = _INT(0), _INT(4 - level), _INT(1)
        self._builder.call(prefetch, [self._builder.bitcast(pointer, line), reads, locality, data])

    def all_of(self, number: Any) -> Any:
        """The number in every place."""
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self._builder.insert_element(undefined, number, _INT(0))
        zeros = ir.Constant(ir.VectorType(_INT, self.lanes), [0] * self.lanes)
        return self._builder.shuffle_vector(first, undefined, zeros)

    def fma(self, a: Any, x: Any, total: Any) -> Any:
        if not _FUSED:  # else a call of a function of libm for each number
            return self._builder.fadd(self._builder.fmul(a, x), total)
        function = ir.FunctionType(self.type, [self.type] * 3)
        name = f"llvm.fma.v{self.lanes}f{8 * self.size}"
        return self._builder.call(cgutils.get_or_insert_function(self._builder.module, function, name), [a, x, total])

    def sums(self, begin: list[Any], n: Any, add: Any) -> list[Any]:
        """Vectors after the turns 0 .. n - 1, n > 0, of a loop in which `add(k, sums)` gives the next ones."""
        builder = self._builder
        before = builder.block
        loop, after = (builder.append_basic_block(name) for name in ("turn", "end"))
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(_INDEX)
        k.add_incoming(_INDEX(0), before)
        sums = [builder.phi(self.type) for _ in begin]
        for phi, value in zip(sums, begin):
            phi.add_incoming(value, before)
        following = add(k, sums)
        k_next = builder.add(k, _INDEX(1))
        k.add_incoming(k_next, loop)
        for phi, value in zip(sums, following):
            phi.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", k_next, n), loop, after)
        builder.position_at_end(after)
        return following

    def either(self, condition: Any, if_so: Any, otherwise: list[Any]) -> list[Any]:
        """What the function `if_so` writes gives, where the condition holds, or else these."""
        builder = self._builder
        before = builder.block
        with builder.if_then(condition):
            found = if_so()
            inside = builder.block
        chosen = [builder.phi(self.type) for _ in otherwise]
        for phi, a, b in zip(chosen, found, otherwise):
            phi.add_incoming(a, inside)
            phi.add_incoming(b, before)
        return chosen


def rows_of_tiles(longest: int, n: int) -> int:
    """That suit a matrix of n rows, in tiles of up to so many vectors a row: all are rows of it, if it is possible."""
    return max((rows for vectors, rows in _TILES if vectors == longest and rows <= n), default=_ROWS[longest])


@intrinsic
def place(typing, array, index):
    """Where the number `index` of an array is, whose numbers follow each other: a pointer for as long as it lives."""
    if array.layout != "C":
        raise errors.TypingError(f"rows one after the other are needed, not {array}")

    def write(context, builder, signature, given):
        return builder.gep(context.make_array(array)(context, builder, given[0]).data, [given[1]])

    return CPointer(array.dtype)(array, types.intp), write


@intrinsic
def ahead(typing, pointer, index):
    """So many numbers after a pointer."""
    return pointer(pointer, types.intp), lambda context, builder, signature, given: builder.gep(given[0], [given[1]])


@intrinsic
def tile_product(typing, vectors, rows, A, X, x_stride, x_gap, x_end, out, stride, gap, end, n, first, bias, last):
    """out[r stride + c] = [out if not first] + sum over k < n of A[k rows + r] X[k x_stride + c] [+ bias[r] if last],
    for all rows r and columns c of a tile of so many rows of so many vectors. The first vector begins at column 0, the
    next one at column gap of `out` and x_gap of X, but the last at `end` and x_end. Pointers and numbers."""
    index, flag = types.intp, types.boolean
    signature = types.void(index, index, A, X, *[index] * 3, out, *[index] * 4, flag, bias, flag)

    def write(context, builder, signature, given):
        kinds = [value.type for value in given[2:]]
        after = builder.append_basic_block("after")
        choice = builder.switch(builder.add(builder.mul(given[1], _INDEX(len(_ROWS))), given[0]), after)
        for vectors, rows in _TILES:
            function = ir.Function(
                builder.module, ir.FunctionType(ir.VoidType(), kinds), builder.module.get_unique_name("tile_product")
            )
            function.linkage = "internal"
            function.attributes.add("noinline")  # compiles in less time, and is no slower
            body = ir.IRBuilder(function.append_basic_block())
            _write_tile_product(body, A.dtype, vectors, rows, *function.args)
            body.ret_void()
            block = builder.append_basic_block()
            choice.add_case(_INDEX(rows * len(_ROWS) + vectors), block)
            builder.position_at_end(block)
            builder.call(function, given[2:])
            builder.branch(after)
        builder.position_at_end(after)
        return context.get_dummy_value()

    return signature, write


def _write_tile_product(builder: Any, dtype: Any, vectors: int, rows: int, *given: Any) -> None:
    A, X, x_stride, x_gap, x_end, out, stride, gap, end, n, first, bias, last = given
    v = _Vectors(builder, dtype)

    def of_a_row(begin, gap, end):
        return [*[begin, v.at(begin, gap)][: vectors - 1], v.at(begin, end)]

    def places():
        return [place for r in range(rows) for place in of_a_row(v.at(out, builder.mul(stride, _INDEX(r))), gap, end)]

    def row_of_X(k):
        return of_a_row(v.at(X, builder.mul(k, x_stride)), x_gap, x_end)

    def expect(k):
        in_X, in_A = (builder.add(k, _INDEX(turns)) for turns in _AHEAD)
        for place in [*row_of_X(in_X), v.at(A, builder.mul(in_A, _INDEX(rows)))]:
            v.expect(place, 1)

    def add(k, sums):
        x = [v.load(place) for place in row_of_X(k)]
        row_of_A = v.at(A, builder.mul(k, _INDEX(rows)))
        if _LONG:
            expect(k)
        a = (v.all_of(builder.load(v.at(row_of_A, r))) for r in range(rows))
        return [v.fma(value, x[c], sums[r * vectors + c]) for r, value in enumerate(a) for c in range(vectors)]

    begin = v.either(builder.not_(first), lambda: [v.load(p) for p in places()], [v.zero] * rows * vectors)
    sums = v.sums(begin, n, add)

    def shifted():
        by = [v.all_of(builder.load(v.at(bias, r))) for r in range(rows)]
        return [builder.fadd(s, by[i // vectors]) for i, s in enumerate(sums)]

    for place, value in zip(places(), v.either(last, shifted, sums)):
        v.store(value, place)


@intrinsic
def move(typing, source, out, most):
    """A vector of numbers from one pointer to another one, or only so many numbers."""

    def write(context, builder, signature, given):
        begin, target, most = given
        v = _Vectors(builder, source.dtype)
        with builder.if_else(builder.icmp_signed(">=", most, _INDEX(v.lanes))) as (whole, part):
            with whole:
                v.store(v.load(begin), target)
            with part:
                cgutils.raw_memcpy(builder, target, begin, most, v.size)
        return context.get_dummy_value()

    return types.void(source, out, types.intp), write


@intrinsic
def expect(typing, pointer):
    """Have the line of the caches around a pointer brought to the second one."""

    def write(context, builder, signature, given):
        _Vectors(builder, pointer.dtype).expect(given[0], 2)
        return context.get_dummy_value()

    return types.void(pointer), write


@intrinsic
def column_product(typing, A, a, x, n, bias, b, out, at):
    """out[at + r] = sum over k < n of A[a + k rows + r] x[k] + bias[b + r], for COLUMN vectors of rows r."""
    index = types.intp
    signature = types.void(A, index, x, index, bias, index, out, index)

    def write(context, builder, signature, given):
        v = _Vectors(builder, A.dtype)

        def start(i, offset):
            array = context.make_array(signature.args[i])(context, builder, given[i])
            return builder.gep(array.data, [given[offset]]) if offset else array.data

        matrix, column, shift, target = start(0, 1), start(2, 0), start(4, 5), start(6, 7)

        def add(k, sums):
            value = v.all_of(builder.load(v.at(column, k)))
            rows = v.at(matrix, builder.mul(k, _INDEX(COLUMN * v.lanes)))
            return [v.fma(v.load(v.at(rows, c * v.lanes)), value, s) for c, s in enumerate(sums)]

        for c, total in enumerate(v.sums([v.zero] * COLUMN, given[3], add)):
            v.store(builder.fadd(total, v.load(v.at(shift, c * v.lanes))), v.at(target, c * v.lanes))
        return context.get_dummy_value()

    return signature, write


@intrinsic
def gathered_product(typing, tile, halved, A, rows, begin, end, X, stride, j, out, at):
    """out[at + c] = sum over k = begin .. end - 1 of A[k] X[rows[k] stride + j + c], for the columns c of as many
    vectors as `tile` is long, which are halved as often as `halved` is long. All arrays are of rank 1; end > begin."""
    index = types.intp
    signature = types.void(tile, halved, A, rows, index, index, X, index, index, out, index)

    def write(context, builder, signature, given):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, given[i]).data

        v = _Vectors(builder, A.dtype, halved.count)
        values, picked, matrix, target = data(2), data(3), data(6), data(9)
        first, after, stride, j, at = given[4], given[5], given[7], given[8], given[10]
        column, corner = builder.gep(matrix, [j]), builder.gep(target, [at])

        def add(turn, sums):
            k = builder.add(first, turn)
            value = v.all_of(builder.load(v.at(values, k)))
            row = builder.load(builder.gep(picked, [k]))
            row = row if row.type == _INDEX else builder.sext(row, _INDEX)
            x = v.at(column, builder.mul(row, stride))
            return [v.fma(value, v.load(v.at(x, c * v.lanes)), s) for c, s in enumerate(sums)]

        for c, total in enumerate(v.sums([v.zero] * tile.count, builder.sub(after, first), add)):
            v.store(total, v.at(corner, c * v.lanes))
        return context.get_dummy_value()

    return signature, write


@intrinsic
def multiply_add(typing, a, x, total):
    """a x + total, for three numbers of one type: rounded as in the products above."""

    def write(context, builder, signature, given):
        a, x, total = given
        return builder.fma(a, x, total) if _FUSED else builder.fadd(builder.fmul(a, x), total)

    return a(a, a, a), write
