"""Products of a matrix that stays with matrices that come and go, on every device."""

from __future__ import annotations

import os

_PANEL = 256  # rows, at most, to which kernels fill up, and a few columns,
_SLICE = 192
_COLUMN = 128, 512  # and those for a single column
_TASK = 256_000  # numbers that a core works on at a time
_BEGUN = 8192 * 160  # numbers of tiles that a GPU's blocks begin and others end
_HIGHEST, _WIDEST = 128, 32  # rows to which a CPU fills up at most, and both where there are several columns
_LOADED = 2048 * 256  # numbers that each of its cores works on at a time, at most


def product_entries(n: int, p: int) -> int:
    """How many numbers products with a matrix (n, p) hold at most with that matrix, besides the others."""
    return n * p + held_entries(n, p) + _BEGUN


def held_entries(n: int, p: int) -> int:
    """The same where that matrix is given away once the products are made: a GPU's hold it, a CPU's its panels."""
    filled = max((n + rows) * (p + columns) for rows, columns in ((_PANEL, _SLICE), _COLUMN))
    return filled + (os.cpu_count() or 1) * (_TASK + 4 * (max(n, p) + _PANEL))


def host_entries(n: int, p: int, columns: int) -> int:
    """How many numbers a CPU's products with a matrix (n, p) that is given away hold at most, for so many columns."""
    longest = max(n, p)
    task = min(2 * (longest + _WIDEST) * (columns + _WIDEST), _LOADED) + 2 * longest
    return (n + _HIGHEST) * p + 3 * (longest + _HIGHEST) + (os.cpu_count() or 1) * task
