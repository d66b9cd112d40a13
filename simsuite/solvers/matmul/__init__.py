"""Products of a matrix that stays with matrices that come and go, on every device."""

from __future__ import annotations

import os

_PANEL = 256  # rows, at most, to which kernels fill up
_SLICE = 1024  # rows of the transpose, at most, to which those of a GPU do
_TASK = 256_000  # numbers that a core works on at a time


def product_entries(n: int, p: int) -> int:
    """How many numbers products with a matrix (n, p) hold at most with that matrix, besides the others."""
    return n * p + held_entries(n, p)


def held_entries(n: int, p: int) -> int:
    """The same where that matrix is given away once the products are made: a GPU's hold it, a CPU's its panels."""
    return (n + _PANEL) * (p + _SLICE) + (os.cpu_count() or 1) * (_TASK + 4 * (max(n, p) + _PANEL))
