"""The program in CUDA C++ for many steps of a single column by all multiprocessors (`steps_of_a_column.cu`)."""

from __future__ import annotations

from simsuite.solvers.matmul.programs.layout import RowSums, filled_up
from simsuite.solvers.matmul.programs.recipe import Recipe

_SLICE = 16384  # bytes
_STAGES = 4
_FETCHERS = 256
_TOGETHER = 32  # Columns are processed in multiples of this number.
# The rows of a block are a multiple of these, by the size of a number: what a warp adds, and half of that.
_ROWS = {4: (32, 16), 8: (16,)}
_MOST_ROWS = 128


def steps_of_a_column(n: int, itemsize: int, processors: int, room: int) -> Recipe | None:
    """The recipe for a matrix (n, n), or None if the multiprocessors have no room for its rows. room: the bytes of
    shared memory of a block.

    It takes as few blocks as possible, which then pass fewer numbers to each other; or more blocks, if these have room
    for all of A and fewer have not.
    """
    found = [_recipe(n, filled_up(-(-n // processors), rows), itemsize, room) for rows in _ROWS[itemsize]]
    fitting = [recipe for recipe in found if recipe is not None]
    held = [recipe for recipe in fitting if recipe.macros["HELD"] == filled_up(n, _TOGETHER)]
    return next(iter(held or fitting), None)


def _recipe(n: int, rows: int, itemsize: int, room: int) -> Recipe | None:
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
    layout = RowSums(_TOGETHER, rows)
    return Recipe(
        "steps of a column",
        "steps_of_a_column",
        "steps_of_a_column",
        macros,
        -(-n // rows),
        threads,
        shared,
        layout,
        True,
        handed,
        "blocks",
    )
