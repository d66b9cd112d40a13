"""Where arrays of any library are in a GPU's memory."""

from __future__ import annotations

from typing import Any


def address(array: Any) -> int:
    """Of the first number of an array in C order. Raises ValueError for any other order, which an address does not
    tell."""
    interface = array.__cuda_array_interface__
    if interface.get("strides") is not None:
        raise ValueError(
            f"an array in C order is needed, not one of shape {interface['shape']} with strides {interface['strides']}"
        )
    return interface["data"][0]
