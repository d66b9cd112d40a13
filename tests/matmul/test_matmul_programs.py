"""Products by programs in CUDA C++: on the host, and compiled for sm_90."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from cuda_host import host_cuda  # noqa: F401
from matmul_given import by_program, given
from sm90 import few, others_long, ptx_of

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.solvers.matmul.product import MOST_ROOM, Products
from simsuite.solvers.matmul.programs import small_systems, tiles
from simsuite.solvers.matmul.programs.column import column
from simsuite.solvers.matmul.programs.layout import Panels
from simsuite.solvers.matmul.programs.program import ProgramProduct
from simsuite.solvers.matmul.programs.steps_of_a_column import steps_of_a_column
from simsuite.solvers.matmul.programs.tiles import Tile


def one_of_each_patch():
    """The smallest tile of each way in which lanes share a warp's entries."""
    for size, found in tiles.TILES.items():
        smallest = {}
        for tile in sorted(found, key=lambda t: -t.rows * t.columns):
            smallest[tile.tall, tile.wide, tile.at_once, tile.warp_rows >= tile.warp_columns] = tile
        yield from ((size, tile) for tile in smallest.values())


@pytest.mark.parametrize(("size", "tile"), [*one_of_each_patch()], ids=str)
def test_tiles_of_programs_are_right(host_cuda, size, tile):  # noqa: F811
    """At edges of tiles and slices, with rows of whole pieces of 16 bytes and others, and few slices and many."""
    dtype = np.float64 if size == 8 else np.float32
    shapes = ((1, 1, 1), (5, 17, 2), (tile.rows + 2, 33, 70), (tile.rows + 1, 5, tile.columns + 8), (40, 100, 131))
    for shape in shapes:
        by_program(host_cuda, tile.recipe(shape, size), *shape, dtype)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (3, 2), (16, 12), (33, 30), (96, 5)])
def test_panels_have_every_number_once(n, p, size):
    A = 1 + np.arange(n * p, dtype=np.float32 if size == 4 else np.float64).reshape(n, p)
    stored = Panels(12, 32).stored(CpuBackend(), A).reshape(-(-n // 32), -(-p // 12) * 12, 32)
    for i, k in np.ndindex(n, p):
        assert stored[i // 32, k, i % 32 ^ (4 * (k % 4) if size == 8 else 0)] == A[i, k]
    assert np.count_nonzero(stored) == n * p


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(("tiles_down", "blocks", "p"), [(3, 2, 100), (7, 3, 40), (5, 4, 200), (4, 4, 7), (2, 7, 70)])
def test_tiles_that_blocks_share_are_right(host_cuda, tiles_down, blocks, p, size):  # noqa: F811
    """Tiles that are begun by one block and ended by the next, in launch after launch; as many tiles as blocks, and
    fewer."""
    dtype = np.float64 if size == 8 else np.float32
    tile = min(tiles.TILES[size], key=lambda t: t.rows * t.columns)
    n, m = tiles_down * tile.rows - 3, tile.columns - 1
    recipe = tile.recipe((n, p, m), size, 1, blocks)
    by_program(host_cuda, recipe, n, p, m, dtype)
    A, X, bias = given(n, p, m, dtype)
    shared, whole = (ProgramProduct(host_cuda, A, m, r) for r in (recipe, tile.recipe((n, p, m), size)))
    for factor in (1, 2, 3):
        out, expected = np.full((2, n, m), np.nan, dtype)
        shared(factor * X, bias, 1, 1, 1, out)
        whole(factor * X, bias, 1, 1, 1, expected)
        np.testing.assert_array_equal(out, expected)


def small_recipes(n, m, size):
    """Each way to step a small system, and its title."""
    for processors in (1, 1000):  # as if there were few states, and many
        yield from small_systems.suitable(n, m, size, processors)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(
    ("n", "m", "steps"), [(1, 1, 3), (2, 300, 3), (5, 1100, 2), (8, 7, 4), (17, 2, 1), (32, 70, 3), (64, 130, 2)]
)
def test_steps_of_small_systems_by_program(host_cuda, n, m, steps, size):  # noqa: F811
    dtype = np.float64 if size == 8 else np.float32
    for recipe in {r.title: r for r in small_recipes(n, m, size)}.values():
        by_program(host_cuda, recipe, n, n, m, dtype, n_steps=steps)


@pytest.mark.parametrize("size", [4, 8])
def test_the_largest_of_small_systems_by_program(host_cuda, size):  # noqa: F811
    dtype = np.float64 if size == 8 else np.float32
    for recipe in (
        small_systems.of_few_states(4, (128, 3), size),
        small_systems.in_shared_memory(small_systems.TILES[size][-1], (128, 3), size),
    ):
        by_program(host_cuda, recipe, 128, 128, 3, dtype, n_steps=2)


@pytest.mark.parametrize("size", [4, 8])
def test_columns_by_program(host_cuda, size):  # noqa: F811
    dtype = np.float64 if size == 8 else np.float32
    for n, p, processors in ((1, 1, 1), (130, 77, 100), (40, 3000, 1)):
        by_program(host_cuda, column(n, size, processors), n, p, 1, dtype)


@pytest.mark.parametrize(
    ("n", "processors", "room", "size"),
    others_long(
        [(*shape, size) for shape in ((129, 11, 0), (200, 5, 0), (300, 3, 90_000)) for size in (4, 8)],
        {(129, 11, 0, 8), (200, 5, 0, 4), (300, 3, 90_000, 4)},
        several=True,
    ),
)
def test_steps_of_a_column_by_blocks_that_hand_numbers_over(host_cuda, n, processors, room, size):  # noqa: F811
    """With all of A kept and, in the last one, most of it streamed; in launches of one step and of more, one after the
    other: with the bits of single steps."""
    dtype = np.float64 if size == 8 else np.float32
    recipe = steps_of_a_column(n, size, processors, room * size // 4 or MOST_ROOM)
    assert (recipe.macros["HELD"] < n) == bool(room)
    A, X, bias = given(n, n, 1, dtype, rows=9)
    single = ProgramProduct(host_cuda, A, 1, column(n, size, processors))
    multiply = ProgramProduct(host_cuda, A, 1, recipe)
    expected, found, row = X, X, 0
    for steps in (2, 1, 5):
        for k in range(steps):
            before, expected = expected, np.empty_like(X)
            single(before, bias, row + k, 1, 1, expected)
        before, found = found, np.empty_like(X)
        multiply(before, bias, row, 1, steps, found)
        np.testing.assert_array_equal(found, expected)
        row += steps
    by_program(host_cuda, recipe, n, n, 1, dtype, n_steps=3)


def test_a_relay_has_room_for_its_rows():
    assert steps_of_a_column(40_000, 8, 132, MOST_ROOM) is None
    assert steps_of_a_column(300, 4, 3, 40_000) is None
    for n in (129, 1000, 2048, 8192, 12_000):
        for size in (4, 8):
            recipe = steps_of_a_column(n, size, 132, MOST_ROOM)
            assert recipe.blocks <= 132
            assert recipe.blocks * recipe.macros["ROWS"] >= n
            assert recipe.shared <= 227 << 10


def test_turns_wrap_around(host_cuda):  # noqa: F811
    """After hours: 2^32 of them."""
    n, size = 130, 8
    A, X, bias = given(n, n, 1, np.float64, rows=9)
    tile = min(tiles.TILES[size], key=lambda t: t.rows * t.columns)
    recipes = steps_of_a_column(n, size, 3, MOST_ROOM), tile.recipe((n, n, 1), size, 1, 4)
    for recipe in recipes:
        for last in (2**31 - 3, 2**32 - 3):
            multiply = ProgramProduct(host_cuda, A, 1, recipe)
            multiply._handed[0].view(np.uint32)[0] = last
            if recipe.program == "split_tiles":
                multiply._handed[0].view(np.uint32)[2 : 2 + recipe.blocks] = last
            found = X
            for k in range(5):
                before, found = found, np.full_like(X, np.nan)
                multiply(before, bias, k, 1, 1 + (k < 4 and recipe.many), found)
            steps = [0, 1, 1, 2, 2, 3, 3, 4, 4] if recipe.many else range(5)
            exact = X.astype(np.longdouble)
            for row in steps:
                exact = A.astype(np.longdouble) @ exact + bias[row][:, None]
            np.testing.assert_allclose(found, exact.astype(np.float64), rtol=1e-10)


def test_products_of_one_shape_share_what_blocks_hand_over(host_cuda, monkeypatch):  # noqa: F811
    """As each begins where the one before has ended, the numbers of others are never taken for its own."""
    monkeypatch.setattr(host_cuda, "processors", 3)
    products = Products(host_cuda, 1, many_steps=True)
    made = []
    for seed in range(3):
        A, X, bias = (a + seed for a in given(130, 130, 1, np.float64))
        made.append((products(A)[0], A, X, bias))
    assert made[0][0].recipe.program == "steps_of_a_column"
    assert made[0][0]._handed[0] is made[2][0]._handed[0]
    for multiply, A, X, bias in (*made, *made[::-1]):
        out = np.empty_like(X)
        multiply(X, bias, 0, 1, 2, out)
        np.testing.assert_allclose(out, A @ (A @ X + bias[0][:, None]) + bias[1][:, None], rtol=1e-11)


def test_what_has_just_been_stored_is_waited_for(host_cuda, monkeypatch):  # noqa: F811
    """Later launches of a product may begin before earlier ones have ended."""
    queued = []

    class Recording:
        def __init__(self, source, macros):
            pass

        def launcher(self, *how, waits_for=""):
            return lambda *arguments: queued.append(waits_for)

    monkeypatch.setattr(host_cuda, "program", Recording)
    A, X, bias = given(300, 40, 9, np.float32)
    for recipe in tiles.suitable((300, 40, 9), 4, 3, MOST_ROOM):
        queued.clear()
        multiply = ProgramProduct(host_cuda, A, 9, recipe)
        for _ in range(3):
            multiply(X, bias, 0, 0, 1, X)
        assert queued == ["", "launches", "launches"]


def variants(size):
    """(recipe, blocks that are to share a multiprocessor)"""
    for tile in tiles.TILES[size]:
        for m in (64, 63):  # whole pieces of 16 bytes, and single numbers
            yield tile.recipe((500, 500, m), size), tile.blocks
        if tile.beside:
            yield tile.recipe((500, 500, 63), size, tile.beside), tile.beside
    for tile in small_systems.TILES[size]:
        yield small_systems.in_shared_memory(tile, (tile.rows, 500), size), tile.blocks
    for n, m in ((1, 10**6), (4, 10**6), (5, 10**6), (8, 10**6), (16, 10**6), (24, 10**6), (32, 10**6), (128, 1)):
        for recipe in small_systems.suitable(n, m, size, 132):
            if recipe.program != "steps_in_shared_memory":
                yield recipe, int(recipe.macros.get("BLOCKS", 1))
    for processors in (1, 100):
        yield column(1000, size, processors), 2
    for n in (129, 2000, 9000):
        yield steps_of_a_column(n, size, 132, MOST_ROOM), 1


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("size", [4, 8])
def test_programs_compile_without_spills_for_as_many_blocks_as_they_say(size, every):
    """On an H200: 65 536 registers, and 227 KiB of shared memory, a KiB a block reserved. Every program, or one with
    each value of each macro."""
    found = {str(v): v for v in variants(size)}
    some = few({name: (recipe.source, recipe.macros) for name, (recipe, _) in found.items()}, 1)
    for recipe, blocks in [found[name] for name in (found if every else some)]:
        log = io.StringIO()
        compile_program(recipe.source, recipe.macros, "sm_90", log)
        (registers,) = (int(n) for n in re.findall(r"Used (\d+) registers", log.getvalue()))
        assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}, recipe
        assert -(-registers // 8) * 8 * recipe.threads * blocks <= 65_536, recipe
        assert (recipe.shared + 1024) * blocks <= 228 * 1024, recipe


@pytest.mark.parametrize("tile", [tiles.TILES[4][0], tiles.TILES[8][0]], ids=str)
def test_what_a_tile_is_made_of(tile: Tile):
    """A slice is as many multiplications as it has, loads of 16 bytes, a step of them ahead, and tensor cores in
    float64."""
    size = 4 if tile.tall else 8
    recipe = tile.recipe((512, 512, 512), size)
    ptx = ptx_of(program_text(recipe.source, recipe.macros))
    if size == 4:
        assert ptx.count("fma.rn.f32") == tile.depth * tile.tall * tile.wide
        assert len(re.findall(r"ld\.shared\.v4\.f32", ptx)) == (tile.depth + 1) * (tile.tall + tile.wide) // 4
        assert ".f64" not in ptx
    else:
        pieces = tile.warp_rows // 16, tile.warp_columns // 8
        assert ptx.count("mma.sync") == pieces[0] * pieces[1] * (tile.depth // tile.at_once)
        assert len(re.findall(r"ld\.shared\.v2\.f64", ptx)) == (tile.depth + tile.at_once) // 4 * (
            pieces[0] + pieces[1] // 2
        )
