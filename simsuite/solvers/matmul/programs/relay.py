"""The program in CUDA C++ for many steps of a single column by all multiprocessors (`relay.cu`)."""

from __future__ import annotations

from simsuite.solvers.matmul.programs.layout import Chains, filled_up
from simsuite.solvers.matmul.programs.recipe import Recipe

_SLICE = 16384  # bytes
_STAGES = 4
_FETCHERS = 256
_TOGETHER = 32  # Columns are processed in multiples of this number.
# The rows of a block are a multiple of these, by the size of a number: what a warp adds, and half of that.
_ROWS = {4: (32, 16), 8: (16,)}
_MOST_ROWS = 128


def relay(n: int, itemsize: int, processors: int, room: int) -> Recipe | None:
    """The recipe for a matrix (n, n), or None if the multiprocessors have no room for its rows. room: the bytes of
    shared memory of a block.

    It takes as few blocks as possible, which then pass fewer numbers to each other; or more blocks, if these have room
    for all of A and fewer have not.
    """
    found = [_relay(n, filled_up(-(-n // processors), rows), itemsize, room) for rows in _ROWS[itemsize]]
    fitting = [recipe for recipe in found if recipe is not None]
    held = [recipe for recipe in fitting if recipe.macros["HELD"] == filled_up(n, _TOGETHER)]
    return next(iter(held or fitting), None)


def _relay(n: int, rows: int, itemsize: int, room: int) -> Recipe | None:
    deep = filled_up(n, _TOGETHER)
    depth = max(_SLICE // (rows * itemsize) // _TOGETHER, 1) * _TOGETHER
    slices, held = 0, deep
    if deep * (rows + 1) * itemsize > room:
        most = room // itemsize - deep - _STAGES * depth * rows
        slices = -(-(deep - most // rows) // depth)
        held = deep - slices * depth
    if rows > _MOST_ROWS or held < _TOGETHER:
        return None
    macros = {"DOUBLE": int(itemsize == 8), "ROWS": rows, "HELD": held, "DEPTH": depth, "STAGES": _STAGES}
    shared = (deep + held * rows + (_STAGES * depth * rows if slices else 0)) * itemsize
    threads = (2 * rows if itemsize == 8 else filled_up(rows, 32)) + _FETCHERS
    handed = 16 + 4 * n * itemsize  # Two buffers of n numbers, and as many bytes for the step numbers beside them.
    layout = Chains(_TOGETHER, rows)
    return Recipe("relay", "relay", "relay", macros, -(-n // rows), threads, shared, layout, True, handed, "blocks")
