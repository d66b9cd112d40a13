"""Programs in CUDA C++ that take many steps of a small system in one launch, and the choice among them.

States of up to 8 components, in float64 of up to 4, stay in registers; up to 32 in float64 may be stepped by tensor
cores; larger ones are in shared memory. Few states have a kernel of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.solvers.matmul.programs.layout import AsItIs, Panels
from simsuite.solvers.matmul.programs.recipe import Recipe
from simsuite.solvers.matmul.programs.tiles import Tile

# The tiles of `in_shared_memory`: the one with the fewest rows that hold a system is taken. `depth` is how many rows of
# the inner loop are unrolled.
TILES = {
    4: (
        Tile(16, 256, 16, 1, 16, 64, 4, 1, tall=4, wide=8),
        Tile(32, 256, 16, 1, 32, 64, 2, 1, tall=8, wide=8),
        Tile(64, 128, 16, 1, 64, 32, 3, 1, tall=8, wide=8),
        Tile(96, 128, 16, 1, 32, 64, 1, 1, tall=8, wide=8),
        Tile(128, 128, 16, 1, 64, 32, 1, 1, tall=8, wide=8),
    ),
    8: (
        Tile(16, 64, 16, 1, 16, 16, 4, 8),
        Tile(32, 64, 16, 1, 32, 16, 4, 8),
        Tile(48, 64, 16, 1, 48, 16, 2, 8),
        Tile(64, 64, 16, 1, 32, 32, 2, 8),
        Tile(96, 64, 16, 1, 32, 32, 1, 8),
        Tile(128, 64, 16, 1, 64, 16, 1, 8),
    ),
}  # by the size of a number
MOST_ROWS = 128
_KEPT = {
    1: 512,
    4: 384,
}  # A thread keeps rows of up to so many bytes in registers, by the number of columns of a block.
_IN_REGISTERS = {4: 8, 8: 4}  # States of up to so many components stay in registers, by the size of a number.
# (pieces of a warp, blocks of a multiprocessor) of `by_tensor_cores`, by its macro EIGHTS.
_TENSOR_SHAPES = {1: (8, 3), 2: (4, 3), 3: (3, 2), 4: (1, 2)}
# (most components, columns of a thread, blocks) of `in_registers`, by the size of a number.
_REGISTER_SHAPES = {4: ((4, 8, 5), (5, 4, 4), (8, 4, 3)), 8: ((4, 4, 4),)}
_BUSY = 128  # With more states than this for each multiprocessor, all of them are busy.


def in_shared_memory(tile: Tile, shape: tuple[int, int], itemsize: int) -> Recipe:
    m = shape[1]
    macros = tile.own_macros(itemsize) | {"PART": tile.depth}
    shared = tile.rows * (tile.rows + tile.columns) * itemsize
    layout = Panels(tile.rows, tile.rows)
    title = f"steps in shared memory, {tile.rows} rows"
    return Recipe(
        title,
        "steps_in_shared_memory",
        "steps_in_shared_memory",
        macros,
        -(-m // tile.columns),
        tile.threads,
        shared,
        layout,
        True,
    )


def in_registers(columns: int, threads: int, blocks: int, shape: tuple[int, int], itemsize: int) -> Recipe:
    n, m = shape
    macros = {"DOUBLE": int(itemsize == 8), "N": n, "COLUMNS": columns, "THREADS": threads, "BLOCKS": blocks}
    title = f"steps in registers, {columns} columns"
    return Recipe(
        title,
        "steps_in_registers",
        "steps_in_registers",
        macros,
        -(-m // (columns * threads)),
        threads,
        0,
        AsItIs(),
        True,
    )


def by_tensor_cores(shape: tuple[int, int]) -> Recipe:
    n, m = shape
    eights, threads = -(-n // 8), 128
    pieces, blocks = _TENSOR_SHAPES[eights]
    macros = {"DOUBLE": 1, "EIGHTS": eights, "PIECES": pieces, "THREADS": threads, "BLOCKS": blocks}
    states = 16 * pieces * threads // 32
    return Recipe(
        f"steps by tensor cores, {8 * eights} components",
        "steps_by_tensor_cores",
        "steps_by_tensor_cores",
        macros,
        -(-m // states),
        threads,
        0,
        AsItIs(),
        True,
    )


def of_few_states(columns: int, shape: tuple[int, int], itemsize: int) -> Recipe:
    n, m = shape
    kept = n * itemsize <= _KEPT[columns]
    beside = 16 // itemsize
    numbers = 2 * columns * -(-n // beside) * beside + (0 if kept else n * n)
    macros = {"DOUBLE": int(itemsize == 8), "N": n, "COLUMNS": columns, "KEPT": int(kept)}
    threads = -(-n // 32) * 32
    return Recipe(
        f"steps of few states, {columns} columns",
        "steps_of_few_states",
        "steps_of_few_states",
        macros,
        -(-m // columns),
        threads,
        numbers * itemsize,
        AsItIs(),
        True,
    )


def suitable(n: int, m: int, itemsize: int, processors: int) -> Iterator[Recipe]:
    """The recipes that may be the fastest for m states of n components."""
    shape, few = (n, m), m <= _BUSY * processors
    if n <= _IN_REGISTERS[itemsize]:
        yield in_registers(1, 32, 1, shape, itemsize)
        if not few:
            columns, blocks = next(rest for most, *rest in _REGISTER_SHAPES[itemsize] if n <= most)
            yield in_registers(columns, 128, blocks, shape, itemsize)
        return
    if few:
        yield of_few_states(1, shape, itemsize)
        yield of_few_states(4, shape, itemsize)
    if m >= processors:
        yield in_shared_memory(next(t for t in TILES[itemsize] if n <= t.rows), shape, itemsize)
        if itemsize == 8 and n <= 8 * max(_TENSOR_SHAPES):
            yield by_tensor_cores(shape)
