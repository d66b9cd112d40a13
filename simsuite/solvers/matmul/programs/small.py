"""Programs in CUDA C++ that take many steps of a small system in one launch, and the choice among them.

`flow` is for up to 8 components, `wave` for up to 32 in float64, `march` for more, and `line` for few states.
"""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.solvers.matmul.programs.layout import AsItIs, Panels
from simsuite.solvers.matmul.programs.recipe import Recipe
from simsuite.solvers.matmul.programs.tiles import Tile

# The tiles of `march`: the one with the fewest rows that hold a system is taken. `depth` is how many rows of the inner
# loop are unrolled.
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
_KEPT = {1: 512, 4: 384}  # A thread keeps rows of up to so many bytes in registers, by the number of columns of `line`.
_FLOWING = {4: 8, 8: 4}  # `flow` is taken for up to so many components, by the size of a number.
# (pieces of a warp, blocks of a multiprocessor) of `wave`, by its macro EIGHTS.
_WAVES = {1: (8, 3), 2: (4, 3), 3: (3, 2), 4: (1, 2)}
# (most components, columns of a thread, blocks) of `flow`, by the size of a number.
_FLOWS = {4: ((4, 8, 5), (5, 4, 4), (8, 4, 3)), 8: ((4, 4, 4),)}
_BUSY = 128  # With more states than this for each multiprocessor, all of them are busy.


def march(tile: Tile, shape: tuple[int, int], itemsize: int) -> Recipe:
    m = shape[1]
    macros = tile.own_macros(itemsize) | {"PART": tile.depth}
    shared = tile.rows * (tile.rows + tile.columns) * itemsize
    layout = Panels(tile.rows, tile.rows)
    title = f"march {tile.rows}"
    return Recipe(title, "march", "march", macros, -(-m // tile.columns), tile.threads, shared, layout, True)


def flow(columns: int, threads: int, blocks: int, shape: tuple[int, int], itemsize: int) -> Recipe:
    n, m = shape
    macros = {"DOUBLE": int(itemsize == 8), "N": n, "COLUMNS": columns, "THREADS": threads, "BLOCKS": blocks}
    title = f"flow of {columns}"
    return Recipe(title, "flow", "flow", macros, -(-m // (columns * threads)), threads, 0, AsItIs(), True)


def wave(shape: tuple[int, int]) -> Recipe:
    n, m = shape
    eights, threads = -(-n // 8), 128
    pieces, blocks = _WAVES[eights]
    macros = {"DOUBLE": 1, "EIGHTS": eights, "PIECES": pieces, "THREADS": threads, "BLOCKS": blocks}
    states = 16 * pieces * threads // 32
    return Recipe(f"wave of {8 * eights}", "wave", "wave", macros, -(-m // states), threads, 0, AsItIs(), True)


def line(columns: int, shape: tuple[int, int], itemsize: int) -> Recipe:
    n, m = shape
    kept = n * itemsize <= _KEPT[columns]
    beside = 16 // itemsize
    numbers = 2 * columns * -(-n // beside) * beside + (0 if kept else n * n)
    macros = {"DOUBLE": int(itemsize == 8), "N": n, "COLUMNS": columns, "KEPT": int(kept)}
    threads = -(-n // 32) * 32
    return Recipe(
        f"line of {columns}", "line", "line", macros, -(-m // columns), threads, numbers * itemsize, AsItIs(), True
    )


def suitable(n: int, m: int, itemsize: int, processors: int) -> Iterator[Recipe]:
    """The recipes that may be the fastest for m states of n components."""
    shape, few = (n, m), m <= _BUSY * processors
    if n <= _FLOWING[itemsize]:
        yield flow(1, 32, 1, shape, itemsize)
        if not few:
            columns, blocks = next(rest for most, *rest in _FLOWS[itemsize] if n <= most)
            yield flow(columns, 128, blocks, shape, itemsize)
        return
    if few:
        yield line(1, shape, itemsize)
        yield line(4, shape, itemsize)
    if m >= processors:
        yield march(next(t for t in TILES[itemsize] if n <= t.rows), shape, itemsize)
        if itemsize == 8 and n <= 8 * max(_WAVES):
            yield wave(shape)
