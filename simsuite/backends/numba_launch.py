"""Launches of Numba's CUDA kernels that take the host a sixth of the time of Numba's own.

Numba looks at the type of every argument at each launch and makes objects of them one by one, which takes 50 to 100
microseconds: longer than a kernel takes for a field of a million cells. Here the first launch with arguments of given
types is Numba's. It compiles the kernel, and tells how it wants its arguments: an array as two zeros, the number of
elements, the bytes of one, the address, the shape and the strides; a number as itself; a tuple as its elements
(`_Kernel._prepare_args` of numba-cuda). Later launches with arguments of the same types write these into one buffer,
8 bytes each, and hand it to the driver.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Hashable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simsuite.core import DeviceArray, Kernel
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    from numba import cuda

_SIGNED = np.int8, np.int16, np.int32, np.int64
_UNSIGNED = np.uint8, np.uint16, np.uint32, np.uint64
_NUMBERS = frozenset((int, float, bool, np.bool_, *_SIGNED, *_UNSIGNED, np.float32, np.float64))
# the formats of `struct` for signed integers, by bits; those of unsigned ones have capitals
_OF_INTEGERS = {8: "b7x", 16: "h6x", 32: "i4x", 64: "q"}
# a number for each of Numba's types of arrays, and for each combination of types in a group
_KINDS: dict[Hashable, int] = {}
_GROUPS = 32  # how many groups (tuples of arrays) a launch keeps

Argument: TypeAlias = Any
"""An argument of a kernel: a number, an array of Numba's, or a tuple of arguments. Any: the host tells them apart by
`type(argument)`, which checkers do not follow; `isinstance` would take longer, at every launch."""
Kind: TypeAlias = type | int | tuple[int]
"""What stands for the type of an argument: the type of a number, the length of a tuple that begins with a number, or,
in a tuple of its own, the number that `_KINDS` has for an array or for a tuple that begins with one."""
Launch: TypeAlias = Callable[..., None]
Groups: TypeAlias = dict[int, tuple[tuple[Argument, ...], tuple[int], list[object]]]
"""Tuples of arguments by their `id`: the tuple itself, its kind, and its values."""


class NumbaLaunch:
    """`kernel` bound to a grid of blocks and a stream.

    kernel: what `cuda.jit` made. grid, block: the numbers of blocks, and of threads in each, x first. stream: the
    stream as Numba and as the driver represent it. driver: CuPy's module for the driver. Raises DeviceError if a launch
    fails, and what Numba raises while it compiles.
    """

    def __init__(
        self,
        kernel: Kernel,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        stream: tuple[cuda.Stream, int],
        driver: ModuleType,
    ) -> None:
        self._kernel, self._driver = kernel, driver
        self._by_numba: Launch = kernel[grid, block, stream[0]]
        no_shared_memory = 0
        self._how = (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], no_shared_memory, stream[1])
        # by types of arguments; None where Numba itself has to launch
        self._known: dict[tuple[Kind, ...], Launch | None] = {}
        # the addresses of arguments in buffers, kept alive because the driver reads them
        self._places: list[ctypes.Array[ctypes.c_void_p]] = []
        self._groups: Groups = {}

    def __call__(self, *arguments: Argument) -> None:
        types: list[Kind] = []
        values: list[object] = []
        if not _flatten(arguments, types, values, self._groups):
            self._by_numba(*arguments)
            return
        launch = self._known.get(key := tuple(types))
        if launch is not None:
            launch(*values)
            return
        self._by_numba(*arguments)
        if key not in self._known:
            self._known[key] = self._packed(arguments)

    def _packed(self, arguments: tuple[Argument, ...]) -> Launch | None:
        """A function that launches the kernel with the flattened values of arguments of these types; None where only
        Numba can launch it."""
        types = tuple(map(self._kernel.typeof_pyval, arguments))
        compiled = self._kernel.overloads.get(types)
        text = None if compiled is None else _format(types)
        if text is None or compiled.debug or compiled.extensions or compiled.cooperative:
            return None
        return self._by_driver(compiled, struct.Struct(f"<{text}"))

    def _by_driver(self, compiled: Kernel, layout: struct.Struct) -> Launch:
        buffer = ctypes.create_string_buffer(layout.size)
        begin = ctypes.addressof(buffer)
        places = (ctypes.c_void_p * (layout.size // 8))(*range(begin, begin + layout.size, 8))
        function = int(compiled._codelibrary.get_cufunc().handle)
        how = (function, *self._how, ctypes.addressof(places), 0)
        pack, launch, failed = layout.pack_into, self._driver.launchKernel, self._driver.CUDADriverError
        name = self._kernel.py_func.__name__

        def go(*values: object) -> None:
            pack(buffer, 0, *values)
            try:
                launch(*how)
            except failed as e:
                raise DeviceError(f"{name} cannot be launched: {e}") from e

        self._places.append(places)

        return go


def _flatten(arguments: Iterable[Argument], types: list[Kind], values: list[object], groups: Groups) -> bool:
    """Append to `types` what identifies the types of arguments, and to `values` their values as kernels take them.
    Returns whether all types are known. groups: tuples that have been looked at, by their `id`: those of arrays are
    made once and come again with every launch."""
    for argument in arguments:
        kind = type(argument)
        if kind in _NUMBERS:
            types.append(kind)
            values.append(argument)
        elif kind is tuple:
            group = groups.get(id(argument))
            if group is not None:
                types.append(group[1])
                values += group[2]
            elif argument and type(argument[0]) in _NUMBERS:
                types.append(len(argument))
                if not _flatten(argument, types, values, groups):
                    return False
            elif not _flatten_group(argument, types, values, groups):
                return False
        elif hasattr(kind, "_numba_type_"):
            of_array, fields = _fields(argument)
            types.append((of_array,))
            values += fields
        else:
            return False
    return True


def _flatten_group(group: tuple[Argument, ...], types: list[Kind], values: list[object], groups: Groups) -> bool:
    """Do what `_flatten` does for a tuple that begins with an array, and keep the result in `groups`."""
    own_types: list[Kind] = []
    own_values: list[object] = []
    if not _flatten(group, own_types, own_values, groups):
        return False
    kind = (_KINDS.setdefault(tuple(own_types), len(_KINDS)),)
    if len(groups) >= _GROUPS:
        groups.clear()
    groups[id(group)] = group, kind, own_values
    types.append(kind)
    values += own_values
    return True


def _fields(view: DeviceArray) -> tuple[int, tuple[int, ...]]:
    """A number for the type of one of Numba's device arrays, and the fields of the array that kernels take. They are
    found once and kept as an attribute of the array."""
    found = getattr(view, "_simsuite_fields", None)
    if found is None:
        kind = _KINDS.setdefault(view._numba_type_, len(_KINDS))
        address = view.device_ctypes_pointer.value or 0
        found = kind, (0, 0, view.size, view.dtype.itemsize, address, *view.shape, *view.strides)
        view._simsuite_fields = found
    return found


def _format(kinds: Iterable[object]) -> str | None:
    """The format, for `struct`, of a buffer with arguments of Numba's types; None if one of them is no array, number,
    or tuple of these."""
    from numba.core import types

    of_numba: ModuleType = types  # Numba's stubs do not have all of its types
    text = ""
    for kind in kinds:
        if isinstance(kind, of_numba.Array):
            text += "qqqqQ" + "q" * (2 * kind.ndim)
        elif isinstance(kind, of_numba.Boolean):
            text += "?7x"
        elif isinstance(kind, of_numba.Integer):
            letters = _OF_INTEGERS[kind.bitwidth]
            text += letters if kind.signed else letters[0].upper() + letters[1:]
        elif kind in (of_numba.float32, of_numba.float64):
            text += "f4x" if kind is of_numba.float32 else "d"
        elif isinstance(kind, of_numba.BaseTuple):
            inner = _format(kind)
            if inner is None:
                return None
            text += inner
        else:
            return None
    return text
