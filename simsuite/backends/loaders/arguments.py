"""Arguments of kernels in a buffer, as the driver takes them."""

from __future__ import annotations

import ctypes
import struct

from simsuite.backends.loaders.loader import Passed


class Arguments:
    """The arguments of launches of one kernel, which are of the same types each time, laid out by the rules of C: each
    at a multiple of its alignment.

    places: the address of an array with the address of each argument in the buffer; known after the first launch.
    """

    places = 0

    def __init__(self) -> None:
        self._layout: struct.Struct | None = None
        self._structs: list[int] = []  # which arguments are structs

    def write(self, arguments: list[Passed]) -> None:
        """Put the arguments into the buffer."""
        layout = self._layout or self._lay_out(arguments)
        layout.pack_into(self._buffer, 0, *self._values(arguments))

    def packed(self, arguments: list[Passed]) -> bytes:
        """What the buffer holds with these arguments."""
        layout = self._layout or self._lay_out(arguments)
        return layout.pack(*self._values(arguments))

    def _values(self, arguments: list[Passed]) -> list[Passed]:
        """The arguments, with the bytes of structs in their places."""
        for i in self._structs:
            arguments[i] = arguments[i].tobytes()  # type: ignore[call-overload]
        return arguments

    def _lay_out(self, arguments: list[Passed]) -> struct.Struct:
        end, offsets, text = 0, list[int](), "="
        for i, argument in enumerate(arguments):
            begin = -(-end // argument.dtype.alignment) * argument.dtype.alignment
            text += f"{begin - end}x"
            if argument.dtype.kind in "iuf":
                text += argument.dtype.char.translate(_OF_ONE_SIZE)
            else:
                text += f"{argument.nbytes}s"
                self._structs.append(i)
            offsets.append(begin)
            end = begin + argument.nbytes
        self._layout = struct.Struct(text)
        self._buffer = ctypes.create_string_buffer(max(1, end))
        first = ctypes.addressof(self._buffer)
        self._places = (ctypes.c_void_p * max(1, len(offsets)))(*(first + offset for offset in offsets))
        self.places = ctypes.addressof(self._places)
        return self._layout


# NumPy has the letters l and L for integers of 8 bytes, where `struct` has q and Q.
_OF_ONE_SIZE = str.maketrans("lL", "qQ")
