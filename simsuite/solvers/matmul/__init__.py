"""Products of a matrix that stays with matrices that come and go, on every device."""

from __future__ import annotations

import os

_PANEL = 128  # rows, at most, to which a CPU's kernels fill up
_TASK = 256_000  # numbers that a core works on at a time


def product_entries(n: int, p: int) -> int:
    """How many numbers products with a matrix (n, p) hold at most with that matrix, besides the others."""
    return n * p + held_entries(n, p)


def held_entries(n: int, p: int) -> int:
    """The same where that matrix is given away once the products are made: a GPU's hold it, a CPU's its panels."""
    return (n + _PANEL) * p + (os.cpu_count() or 1) * (_TASK + 4 * (max(n, p) + _PANEL))
