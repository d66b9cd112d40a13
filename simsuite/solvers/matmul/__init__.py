"""Products of a constant matrix with varying ones, on every device, and bounds on the memory that they take."""

from __future__ import annotations

import os

_PANEL = 256  # Kernels fill the rows of A up to a multiple of at most this number (and its columns to one of `_SLICE`).
_SLICE = 192
_COLUMN = 128, 512  # These are the multiples of rows and columns for a single column.
_TASK = 256_000  # A core works on at most so many numbers at a time.
_BEGUN = 8192 * 160  # Tiles that one block of a GPU begins and another ends have at most so many numbers.
# A CPU fills rows up to a multiple of at most the first, or, with several columns, rows and columns to one of the
# second.
_HIGHEST, _WIDEST = 128, 32
_LOADED = 2048 * 256  # Each core works on at most so many numbers at a time.


def product_entries(n: int, p: int) -> int:
    """How many numbers products with a matrix (n, p) hold at most, that matrix included."""
    return n * p + held_entries(n, p) + _BEGUN


def held_entries(n: int, p: int) -> int:
    """How many numbers products with a matrix (n, p) hold at most if the matrix itself is released once they are made.
    On a GPU they hold a copy of it, on a CPU its panels.
    """
    filled = max((n + rows) * (p + columns) for rows, columns in ((_PANEL, _SLICE), _COLUMN))
    return filled + (os.cpu_count() or 1) * (_TASK + 4 * (max(n, p) + _PANEL))


def host_entries(n: int, p: int, columns: int) -> int:
    """How many numbers a CPU's products with a matrix (n, p) hold at most for so many columns, if the matrix is
    released.
    """
    longest = max(n, p)
    task = min(2 * (longest + _WIDEST) * (columns + _WIDEST), _LOADED) + 2 * longest
    return (n + _HIGHEST) * p + 3 * (longest + _HIGHEST) + (os.cpu_count() or 1) * task
