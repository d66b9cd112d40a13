"""Where arrays of any library are in a GPU's memory."""

from __future__ import annotations

from typing import Protocol, TypedDict


class Interface(TypedDict, total=False):
    """The entries of the CUDA array interface, version 3, that are used here. strides: in bytes; None, or left out, for
    an array in C order. data: the address of the first number, and whether the array is read only."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    data: tuple[int, bool]


class OnDevice(Protocol):
    """An array in a GPU's memory, of CuPy, Numba or any other library that has the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> Interface: ...


def address(array: OnDevice) -> int:
    """The address of the first number of an array in C order. Raises ValueError for any other order, which an address
    alone does not tell."""
    interface = array.__cuda_array_interface__
    if interface.get("strides") is not None:
        raise ValueError(
            f"an array in C order is needed, not one of shape {interface['shape']} with strides {interface['strides']}"
        )
    return interface["data"][0]
