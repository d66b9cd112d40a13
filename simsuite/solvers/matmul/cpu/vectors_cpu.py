"""Operations on vectors of numbers, written in the language of Numba's compiler (LLVM)."""

from __future__ import annotations

import platform
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils

_FEATURES = llvm.get_host_cpu_features()
LONG = bool(_FEATURES.get("avx512f"))
MANY = LONG or platform.machine() in ("aarch64", "arm64")  # whether there are 32 vector registers rather than 16
VECTOR = 64 if LONG else 32 if _FEATURES.get("avx") else 16  # bytes
FUSED = bool(_FEATURES.get("fma")) or platform.machine() not in ("x86_64", "AMD64", "i686")

INDEX, INT = ir.IntType(64), ir.IntType(32)


class Vectors:
    """Writes operations on vectors of a type of numbers in the compiler's language."""

    def __init__(self, builder: Any, dtype: Any, lanes: int = 0) -> None:
        """lanes: how many numbers a vector has; 0 for as many as this CPU's vectors have."""
        self._builder = builder
        self.size = dtype.bitwidth // 8
        self.lanes = lanes or VECTOR // self.size
        self.real = ir.DoubleType() if self.size == 8 else ir.FloatType()
        self.type = ir.VectorType(self.real, self.lanes)
        self.zero = ir.Constant(self.type, None)

    def at(self, pointer: Any, index: Any) -> Any:
        return self._builder.gep(pointer, [INDEX(index) if isinstance(index, int) else index])

    def load(self, pointer: Any) -> Any:
        found = self._builder.load(self._builder.bitcast(pointer, self.type.as_pointer()))
        found.align = self.size
        return found

    def store(self, value: Any, pointer: Any) -> None:
        self._builder.store(value, self._builder.bitcast(pointer, self.type.as_pointer())).align = self.size

    def expect(self, pointer: Any, level: int) -> None:
        """Request that the cache line around a pointer is loaded into the first or second cache."""
        line = ir.IntType(8).as_pointer()
        function = ir.FunctionType(ir.VoidType(), [line, INT, INT, INT])
        prefetch = cgutils.get_or_insert_function(self._builder.module, function, "llvm.prefetch.p0")
        reads, locality, data = INT(0), INT(4 - level), INT(1)
        self._builder.call(prefetch, [self._builder.bitcast(pointer, line), reads, locality, data])

    def move(self, source: Any, target: Any, most: Any) -> None:
        """Copy `most` numbers, fewer than a vector has."""
        builder, lanes = self._builder, self.lanes
        whole = ir.VectorType(INDEX, lanes)
        limit = self._all_of(most, whole)
        mask = builder.icmp_signed("<", ir.Constant(whole, [INDEX(i) for i in range(lanes)]), limit)
        pointer, kind = self.type.as_pointer(), f"v{lanes}f{8 * self.size}.p0"
        load = ir.FunctionType(self.type, [pointer, INT, mask.type, self.type])
        store = ir.FunctionType(ir.VoidType(), [self.type, pointer, INT, mask.type])
        function = cgutils.get_or_insert_function(builder.module, load, f"llvm.masked.load.{kind}")
        found = builder.call(function, [builder.bitcast(source, pointer), INT(self.size), mask, self.zero])
        function = cgutils.get_or_insert_function(builder.module, store, f"llvm.masked.store.{kind}")
        builder.call(function, [found, builder.bitcast(target, pointer), INT(self.size), mask])

    def store_across(self, values: list[Any], pointer: Any, stride: Any) -> None:
        """Store number r of each of the given vectors, side by side, at `pointer` + r `stride`."""
        builder, row = self._builder, ir.VectorType(self.real, len(values))
        for r in range(self.lanes):
            across: Any = ir.Constant(row, ir.Undefined)
            for c, value in enumerate(values):
                across = builder.insert_element(across, builder.extract_element(value, INT(r)), INT(c))
            place = self.at(pointer, builder.mul(stride, INDEX(r)))
            builder.store(across, builder.bitcast(place, row.as_pointer())).align = self.size

    def all_of(self, number: Any) -> Any:
        """A vector that has the number in every place."""
        return self._all_of(number, self.type)

    def _all_of(self, number: Any, type: ir.VectorType) -> Any:
        undefined = ir.Constant(type, ir.Undefined)
        first = self._builder.insert_element(undefined, number, INT(0))
        zeros = ir.Constant(ir.VectorType(INT, self.lanes), [0] * self.lanes)
        return self._builder.shuffle_vector(first, undefined, zeros)

    def fma(self, a: Any, x: Any, total: Any) -> Any:
        if not FUSED:  # Otherwise LLVM would call a function of libm for each number.
            return self._builder.fadd(self._builder.fmul(a, x), total)
        function = ir.FunctionType(self.type, [self.type] * 3)
        name = f"llvm.fma.v{self.lanes}f{8 * self.size}"
        return self._builder.call(cgutils.get_or_insert_function(self._builder.module, function, name), [a, x, total])

    def sums(self, begin: list[Any], n: Any, add: Any) -> list[Any]:
        """The vectors after the rounds k = 0 .. n - 1, n > 0, of a loop in which `add(k, sums)` gives the next vectors
        from the last ones; `begin` holds the first.
        """
        builder = self._builder
        before = builder.block
        loop, after = (builder.append_basic_block(name) for name in ("turn", "end"))
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(INDEX)
        k.add_incoming(INDEX(0), before)
        sums = [builder.phi(self.type) for _ in begin]
        for phi, value in zip(sums, begin):
            phi.add_incoming(value, before)
        following = add(k, sums)
        k_next = builder.add(k, INDEX(1))
        k.add_incoming(k_next, loop)
        for phi, value in zip(sums, following):
            phi.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", k_next, n), loop, after)
        builder.position_at_end(after)
        return following

    def either(self, condition: Any, if_so: Any, otherwise: list[Any]) -> list[Any]:
        """The values that the code written by the function `if_so` gives where the condition holds, else those of
        `otherwise`.
        """
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
