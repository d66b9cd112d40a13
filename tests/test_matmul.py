"""Matrix products against exact sums, NumPy and each other; those of CUDA in the simulator and compiled for sm_90."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cuda_host import host_cuda  # noqa: F401
from numba.core.errors import TypingError
from sm90 import compile_sm90, ptx_of

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.errors import DeviceError
from simsuite.solvers.matmul import product_cpu, registers_cpu, small, tiles
from simsuite.solvers.matmul.column import column
from simsuite.solvers.matmul.layout import Panels
from simsuite.solvers.matmul.product import MOST_ROOM, Products, product, suitable
from simsuite.solvers.matmul.product_cpu import FEW_ROWS, KEPT, Multiplier
from simsuite.solvers.matmul.program import ProgramProduct
from simsuite.solvers.matmul.relay import relay
from simsuite.solvers.matmul.tiles import Tile

ROOT = Path(__file__).parents[1]
# (rows, inner, columns): single entries, edges of tiles and slices, one column, tall, flat, more than one task
SHAPES = [
    *(
        (1, 1, 1),
        (1, 5, 1),
        (5, 1, 2),
        (2, 2, 3),
        (31, 33, 7),
        (33, 31, 24),
        (64, 64, 100),
        (9, 4, 600),
        (1000, 1500, 1),
    ),
    *((FEW_ROWS + 1, 17, 5), (FEW_ROWS + 88, KEPT + 1, 50), (17, 2 * KEPT + 9, 1001), (700, 513, 481), (100, 90, 1601)),
]


def given(n, p, m, dtype, rows=3):
    rng = np.random.default_rng(3)
    A, X, bias = (rng.standard_normal(shape) for shape in ((n, p), (p, m), (rows, n)))
    return (A / np.sqrt(p)).astype(dtype), X.astype(dtype), bias.astype(dtype)


def multiplied(A, X, bias, row=0, stride=1, n_steps=1, columns=slice(None)):
    X = np.ascontiguousarray(X[:, columns])
    out = np.full((len(A) + 1, X.shape[1]), np.nan, A.dtype)  # a row beyond the end, which must stay as it is
    Multiplier(CpuBackend(), A, X.shape[1])(X, bias, row, stride, n_steps, out[:-1])
    assert np.isnan(out[-1]).all()
    return out[:-1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_are_right(shape, dtype):
    A, X, bias = given(*shape, dtype)
    expected = A.astype(np.longdouble) @ X.astype(np.longdouble) + bias[1][:, None]
    error = np.max(np.abs(multiplied(A, X, bias, row=1) - expected)) / np.max(np.abs(expected))
    assert error < np.finfo(dtype).eps * (2 + np.sqrt(shape[1]))


@pytest.mark.skipif(not registers_cpu._FUSED, reason="this CPU has no fused multiply-add")
@pytest.mark.parametrize("m", [1, 3])
def test_every_entry_is_a_chain_of_fused_additions(m):
    """In exact arithmetic, rounded once a step: what documentation says of the bits of a result."""
    A, X, bias = given(5, KEPT + 3, m, np.float64)
    for got, row, j in ((multiplied(A, X, bias)[i, j], i, j) for i in (0, 4) for j in range(m)):
        total = 0.0
        for a, x in zip(A[row], X[:, j]):
            total = float(Fraction(a) * Fraction(x) + Fraction(total))
        assert got == total + bias[0, row]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 70, FEW_ROWS + 9])
def test_a_column_has_the_same_bits_whatever_is_beside_it(n, dtype):
    A, X, bias = given(n, n, 60, dtype)
    whole = multiplied(A, X, bias)
    for columns in (slice(0, 1), slice(7, 8), slice(13, 15), slice(20, 60)):
        np.testing.assert_array_equal(multiplied(A, X, bias, columns=columns), whole[:, columns])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (33, 1), (2, 5), (31, 33), (64, 300), (64, 2105), (FEW_ROWS + 100, 1)])
def test_steps_at_once_are_single_steps(n, m, dtype):
    A, X, bias = given(n, n, m, dtype)
    for stride in (0, 1):
        single = X
        for k in range(3):
            single = multiplied(A, single, bias, row=k * stride)
        np.testing.assert_array_equal(multiplied(A, X, bias, stride=stride, n_steps=3), single)
    assert Multiplier(CpuBackend(), A, m).most_steps is None


@pytest.mark.parametrize("n", [9, FEW_ROWS + 9])
def test_rows_of_states_need_not_follow_each_other(n):
    """Kernels take them by pointers; those of results must."""
    A, X, bias = given(n, n, 9, np.float64)
    out, expected = np.empty_like(X), multiplied(A, X, bias)
    for strided in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        Multiplier(CpuBackend(), A, 9)(strided, bias, 0, 0, 1, out)
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(TypingError, match="rows one after the other"):
        Multiplier(CpuBackend(), A, 9)(X, bias, 0, 0, 1, np.asfortranarray(X))


def test_large_systems_take_one_step_at_a_time():
    assert Multiplier(CpuBackend(), np.eye(FEW_ROWS + 1), 2).most_steps == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 130, 1), (5, 33, 3), (FEW_ROWS + 1, 4, 30)], ids=str)
def test_one_thread_and_many_give_the_same_bits(shape, dtype, monkeypatch):
    A, X, bias = given(*shape, dtype)
    found = []
    for limit in (0, 1 << 40):
        monkeypatch.setattr(product_cpu, "SERIAL", limit)
        found.append(multiplied(A, X, bias))
    np.testing.assert_array_equal(*found)


def test_serial_kernels_wake_no_threads():
    for name in ("product", "march", "column"):
        assert getattr(product_cpu, name).targetoptions["parallel"] is True
        assert getattr(product_cpu, f"{name}_serial").targetoptions.get("parallel", False) is False


# --- programs in CUDA C++, on the host --------------------------------------------------------------------------------


def by_program(backend, recipe, n, p, m, dtype, n_steps=1):
    A, X, bias = given(n, p, m, dtype, rows=n_steps + 1)
    out = np.full((n + 1, m), np.nan, dtype)
    ProgramProduct(backend, backend.array(A), m, recipe)(X, bias, 1, 1, n_steps, out[:n])
    assert np.isnan(out[n]).all()
    exact = X.astype(np.longdouble)
    for k in range(n_steps):
        exact = A.astype(np.longdouble) @ exact + bias[1 + k][:, None]
    error = np.max(np.abs(out[:n] - exact)) / np.max(np.abs(exact))
    assert error < np.finfo(dtype).eps * (3 + np.sqrt(p))


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


def test_few_copies_of_a_matrix_are_made_where_memory_is_short(host_cuda, monkeypatch):  # noqa: F811
    A = given(70, 40, 8, np.float64)[0]
    monkeypatch.setattr(host_cuda, "memory_free", lambda: 3 * A.nbytes)
    multiply, _ = product(host_cuda, A, 8, "nvrtc")
    first = suitable((70, 40, 8), 8, host_cuda.processors)[0]
    assert multiply.recipe.layout == first.layout
    assert 0 < host_cuda.candidates < len(suitable((70, 40, 8), 8, host_cuda.processors))


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


def test_tiles_are_shared_where_multiprocessors_would_wait():
    def titles(shape, size=4):
        return [r.title for r in tiles.suitable(shape, size, 132, MOST_ROOM)]

    assert titles((513, 4097, 1025))[0].endswith("beside")  # 153 tiles of 64 x 64 and 132 multiprocessors
    assert not any(title.endswith("beside") for title in titles((8192, 8192, 64))[:1])
    for shape in ((513, 4097, 1025), (1000, 1500, 77), (300, 300, 300)):
        for recipe in tiles.suitable(shape, 8, 132, MOST_ROOM):
            down, across = (-(-s // int(recipe.macros[k])) for s, k in ((shape[0], "ROWS"), (shape[2], "COLUMNS")))
            assert recipe.blocks == down * across or recipe.program == "parts"
            assert recipe.blocks <= down * across


def small_recipes(n, m, size):
    """Each way to step a small system, and its title."""
    for processors in (1, 1000):  # as if there were few states, and many
        yield from small.suitable(n, m, size, processors)


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
    for recipe in (small.line(4, (128, 3), size), small.march(small.TILES[size][-1], (128, 3), size)):
        by_program(host_cuda, recipe, 128, 128, 3, dtype, n_steps=2)


@pytest.mark.parametrize("size", [4, 8])
def test_columns_by_program(host_cuda, size):  # noqa: F811
    dtype = np.float64 if size == 8 else np.float32
    for n, p, processors in ((1, 1, 1), (130, 77, 100), (40, 3000, 1)):
        by_program(host_cuda, column(n, size, processors), n, p, 1, dtype)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(("n", "processors", "room"), [(129, 11, 0), (200, 5, 0), (300, 3, 90_000)])
def test_steps_of_a_column_by_blocks_that_hand_numbers_over(host_cuda, n, processors, room, size):  # noqa: F811
    """With all of A kept and, in the last one, most of it streamed; in launches of one step and of more, one after the
    other: with the bits of single steps."""
    dtype = np.float64 if size == 8 else np.float32
    recipe = relay(n, size, processors, room * size // 4 or MOST_ROOM)
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
    assert relay(40_000, 8, 132, MOST_ROOM) is None
    assert relay(300, 4, 3, 40_000) is None
    for n in (129, 1000, 2048, 8192, 12_000):
        for size in (4, 8):
            recipe = relay(n, size, 132, MOST_ROOM)
            assert recipe.blocks <= 132
            assert recipe.blocks * recipe.macros["ROWS"] >= n
            assert recipe.shared <= 227 << 10


def test_turns_wrap_around(host_cuda):  # noqa: F811
    """After hours: 2^32 of them."""
    n, size = 130, 8
    A, X, bias = given(n, n, 1, np.float64, rows=9)
    tile = min(tiles.TILES[size], key=lambda t: t.rows * t.columns)
    recipes = relay(n, size, 3, MOST_ROOM), tile.recipe((n, n, 1), size, 1, 4)
    for recipe in recipes:
        for last in (2**31 - 3, 2**32 - 3):
            multiply = ProgramProduct(host_cuda, A, 1, recipe)
            multiply._handed[0].view(np.uint32)[0] = last
            if recipe.program == "parts":
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
    assert made[0][0].recipe.program == "relay"
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


def test_the_fastest_program_is_kept(host_cuda):  # noqa: F811
    A, X, bias = given(3, 4, 5, np.float64)
    recipes = suitable((3, 4, 5), 8, host_cuda.processors)
    for host_cuda.answer in (0, 1):
        multiply, kernel = product(host_cuda, host_cuda.array(A), 5)
        out = np.empty((3, 5))
        multiply(X, bias, 0, 0, 1, out)
        assert kernel == "nvrtc"
        assert host_cuda.candidates == len(recipes) > 2
        np.testing.assert_allclose(out, A @ X + bias[0][:, None], rtol=1e-14)
        assert multiply.recipe == recipes[host_cuda.answer]
        assert all(str(recipe.macros["ROWS"]) in host_cuda.question for recipe in recipes)


def test_programs_are_chosen_by_shape():
    def chosen(*shape, size=8, many_steps=True):
        return {recipe.program for recipe in suitable(shape, size, 132, many_steps=many_steps)}

    assert chosen(2, 2, 1) == chosen(4, 4, 10**6) == chosen(8, 8, 10**6, size=4) == {"flow"}
    assert chosen(64, 64, 1) == {"line"}
    assert chosen(32, 32, 10**6) == {"march", "wave"}
    assert chosen(64, 64, 10**6) == chosen(128, 128, 10**6, size=4) == {"march"}
    assert chosen(129, 129, 1) == chosen(8192, 8192, 1) == {"relay"}
    assert chosen(2, 128, 1) == chosen(129, 130, 1) == chosen(40_000, 40_000, 1) == {"column"}
    assert chosen(2, 128, 2) == chosen(64, 64, 10**6, many_steps=False) == {"tile"}
    assert chosen(64, 64, 1, many_steps=False) == chosen(2048, 2048, 1, many_steps=False) == {"column"}
    assert chosen(513, 4097, 1025) == {"tile", "parts"}
    found = [tiles.suitable(shape, 4, 132, MOST_ROOM) for shape in ((8192,) * 3, (8192, 8192, 8))]
    rows = [[(r.macros["ROWS"], r.macros["COLUMNS"]) for r in recipes] for recipes in found]
    assert (128, 256) in rows[0]
    assert (64, 8) in rows[1]
    assert (64, 8) not in rows[0]


def test_programs_fit_into_the_memory_of_blocks():
    """Of an A100, and of cards for games."""
    for room in (163 << 10, 99 << 10):
        for shape in ((8192,) * 3, (513, 4097, 1025), (128, 128, 10**6), (100, 100, 1), (8192, 8192, 1), (5, 3000, 1)):
            for size in (4, 8):
                recipes = [r for many in (False, True) for r in suitable(shape, size, 100, room, many)]
                assert {r.many for r in recipes} >= {False}
                assert max(recipe.shared for recipe in recipes) <= room


def test_programs_are_used_where_they_can_be_had(host_cuda):  # noqa: F811
    A = np.zeros((129, 129))
    assert product(host_cuda, A, 2, "numba")[1] == product(CpuBackend(), A, 2)[1] == "numba"
    assert product(host_cuda, A, 2, "nvrtc")[1] == product(host_cuda, A, 2)[1] == "nvrtc"
    for choice in ("nvrtc", "cublas"):
        with pytest.raises(DeviceError, match=f'"{choice}" needs a CUDA GPU, and this run is on cpu'):
            product(CpuBackend(), np.eye(3), 2, choice)


class Library:
    """Adds up in order of the inner index, as programs on the host do, or from behind."""

    def __init__(self, order):
        self.order = order

    def multiply_add(self, A, X, out, add):
        out[...] = out if add else 0
        for k in range(A.shape[1])[:: self.order]:
            out += A[:, k : k + 1] * X[k]


@pytest.mark.parametrize("order", [1, -1])
def test_the_library_is_taken_where_its_bits_are_those_of_programs(host_cuda, order, monkeypatch):  # noqa: F811
    A, X, bias = given(30, 40, 5, np.float64)
    recipes = suitable((30, 40, 5), 8, host_cuda.processors)
    monkeypatch.setattr(host_cuda, "products", lambda: Library(order), raising=False)
    monkeypatch.setattr(host_cuda, "answer", 0)  # the first candidate
    multiply, kernel = product(host_cuda, A, 5, biased=False)
    assert kernel == ("cublas" if order == 1 else "nvrtc")
    assert host_cuda.candidates == len(recipes) + (order == 1)
    found = {choice: np.empty((30, 5)) for choice in ("auto", "nvrtc", "cublas")}
    for choice, out in found.items():
        (multiply if choice == "auto" else product(host_cuda, A, 5, choice, False)[0])(X, 0 * bias, 0, 0, 1, out)
        np.testing.assert_allclose(out, A @ X, rtol=1e-12)
    np.testing.assert_array_equal(found["auto"], found["nvrtc"])
    assert (order == 1) == np.array_equal(found["cublas"], found["nvrtc"])


def variants(size):
    """(recipe, blocks that are to share a multiprocessor)"""
    for tile in tiles.TILES[size]:
        for m in (64, 63):  # whole pieces of 16 bytes, and single numbers
            yield tile.recipe((500, 500, m), size), tile.blocks
        if tile.beside:
            yield tile.recipe((500, 500, 63), size, tile.beside), tile.beside
    for tile in small.TILES[size]:
        yield small.march(tile, (tile.rows, 500), size), tile.blocks
    for n, m in ((1, 10**6), (4, 10**6), (5, 10**6), (8, 10**6), (16, 10**6), (24, 10**6), (32, 10**6), (128, 1)):
        for recipe in small.suitable(n, m, size, 132):
            if recipe.program != "march":
                yield recipe, int(recipe.macros.get("BLOCKS", 1))
    for processors in (1, 100):
        yield column(1000, size, processors), 2
    for n in (129, 2000, 9000):
        yield relay(n, size, 132, MOST_ROOM), 1


@pytest.mark.parametrize("size", [4, 8])
def test_programs_compile_without_spills_for_as_many_blocks_as_they_say(size):
    """On an H200: 65 536 registers, and 227 KiB of shared memory, a KiB a block reserved."""
    for recipe, blocks in {str(v): v for v in variants(size)}.values():
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


def on_a_gpu():
    try:
        return open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))


def same_bits(backend, A, X, bias, n_steps, kernel, makes=()):
    """Of all kernels, and of single steps where they take one at a time, as on the CPU, where each entry is an exactly
    known chain of fused additions."""
    (n, _), m = A.shape, X.shape[1]
    arrays = [backend.array(a) for a in (X, np.full((n, m), np.nan, A.dtype))]
    views, shifts, held = [backend.view(a) for a in arrays], backend.array(bias), backend.array(A)
    expected = X
    for k in range(n_steps):
        expected = multiplied(A, expected, bias, row=1 + k)
    for make in (lambda *a: product(*a, kernel, many_steps=True)[0], *makes):
        with backend.arithmetic():  # in the stream of the products
            arrays[0][...], arrays[1][...] = backend.array(X), math.nan
        multiply = make(backend, held, m)
        turns = [n_steps] if multiply.most_steps is None else [1] * n_steps
        for turn, steps in enumerate(turns):
            multiply(views[turn % 2], backend.view(shifts), 1 + turn, 1, steps, views[(turn + 1) % 2])
        np.testing.assert_array_equal(backend.to_host(arrays[len(turns) % 2]), expected, str((make, A.shape, m)))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
def test_steps_on_a_gpu(kernel, dtype):
    """Small systems, which a program steps at once, and larger ones."""
    backend = on_a_gpu()
    for n, m, steps in (
        *((1, 1, 5), (1, 2, 5), (2, 1000, 7), (3, 40_000, 4), (4, 20_000, 3), (5, 20_001, 6), (8, 17_000, 5)),
        *((9, 1, 3), (16, 20_000, 4), (17, 33, 3), (31, 18_001, 4), (32, 140, 4), (64, 129, 20), (100, 1, 4)),
        *(
            (100, 18_003, 2),
            (128, 1, 3),
            (128, 70, 3),
            (129, 1, 3),
            (300, 2, 2),
            (300, 77, 60),
            (1000, 1, 200),
            (2048, 1, 70),
        ),
        *((4099, 1, 5), (9001, 1, 3)),
    ):
        A, X, bias = given(n, n, m, dtype, rows=steps + 1)
        recipes = (
            suitable((*A.shape, m), A.itemsize, backend.processors, backend.block_memory, many_steps=True)
            if kernel == "nvrtc"
            else ()
        )
        makes = [functools.partial(ProgramProduct, recipe=r) for r in recipes]
        same_bits(backend, A, X, bias, steps, kernel, makes)


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_on_a_gpu(kernel, dtype):
    """At awkward sizes, by every tile."""
    backend = on_a_gpu()
    shapes = [(1, 1, 1), (1, 5, 2), (2, 2, 33), (31, 33, 1), (33, 31, 65), (128, 128, 1000), (257, 129, 131)]
    for n, p, m in [*shapes, (1000, 1500, 77), (1000, 1500, 1), (20_000, 33, 1)]:
        A, X, bias = given(n, p, m, dtype)
        recipes = []
        if kernel == "nvrtc":
            recipes = [
                t.recipe((n, p, m), A.itemsize, min(k, t.beside), 3) for t in tiles.TILES[A.itemsize] for k in (0, 1)
            ]
        makes = [functools.partial(ProgramProduct, recipe=r) for r in recipes]
        same_bits(backend, A, X, bias, 1, kernel, makes)


# --- CUDA kernels -----------------------------------------------------------------------------------------------------

SIMULATED = """
import json, sys
import numpy as np
from simsuite.backends import open_backend

backend = open_backend("cudasim")
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.matmul import ladder_cuda
from simsuite.solvers.matmul.product_cuda import Multiplier
from simsuite.solvers.linear.problem import LinearProblem
from pathlib import Path

rng = np.random.default_rng(1)
for n, p, m in json.loads(sys.argv[1]):
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-4))[: 2 if m == 3 else 1]:
        A, X, bias = (rng.standard_normal(shape).astype(dtype) for shape in ((n, p), (p, m), (2, n)))
        out = np.full((n + 1, m), np.nan, dtype)  # a row beyond the end, which must stay as it is
        multiply = Multiplier(backend, backend.array(A), m)
        multiply(*map(backend.view, (X, bias)), 1, 0, 1, backend.view(out[:n]))
        error = np.max(np.abs(out[:n] - (A.astype(float) @ X + bias[1][:, None])))
        assert error < tolerance, (n, p, m, dtype, error)
        assert np.isnan(out[n]).all()

for name, (n, p, m) in (("naive", (3, 5, 2)), ("shared", (17, 18, 3)), ("patches", (9, 3, 2)), ("patches", (2, 17, 9))):
    A, X, bias = (rng.standard_normal(shape) for shape in ((n, p), (p, m), (2, n)))
    out = np.full((n + 1, m), np.nan)
    if name == "patches":
        launch = backend.launcher(*ladder_cuda.by_patches(n, m))
    else:
        launch = backend.launcher(getattr(ladder_cuda, name), (m, n), ladder_cuda.SHARED_BLOCK)
    launch(*map(backend.view, (A, X, bias)), 1, backend.view(out[:n]))
    np.testing.assert_allclose(out[:n], A @ X + bias[1][:, None], rtol=1e-13)
    assert np.isnan(out[n]).all()

A = 0.9 * np.linalg.qr(rng.standard_normal((18, 18)))[0]
B = rng.standard_normal((18, 2))
scenario = {
    "solver": "linear",
    "system": {
        "kind": "discrete",
        "matrix": A.tolist(),
        "input_matrix": B.tolist(),
        "input": ["sin(t)", 2],
        "output_matrix": [[1.0] * 18],
    },
    "initial": {"state": {"random": "normal", "batch": 3}},
    "time": {"steps": 4},
}
p = LinearProblem.from_scenario(LinearScenario.model_validate(scenario), Path("."))
stepper = p.stepper(backend, p.initial())
X = p.initial().arrays["state"]
for k in range(4):
    X = A @ X + (B @ [np.sin(k), 2.0])[:, None]
stepper.advance(1)
stepper.advance(3)
with stepper.observe("time") as observed:
    np.testing.assert_allclose(observed.arrays["state"], X, rtol=0, atol=1e-13)
    np.testing.assert_allclose(p.rows("time", observed)["state"], X.sum(axis=0)[None], rtol=0, atol=1e-13)
print("right")
"""


def test_cuda_kernels_in_the_simulator():
    """Around the edges of tiles and slices, with tall, flat and single-entry shapes, and a whole run."""
    shapes = [(1, 1, 1), (1, 33, 2), (16, 5, 31), (17, 1, 2), (31, 16, 65), (33, 33, 3), (65, 17, 2), (3, 129, 1)]
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED, json.dumps(shapes)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "right", done.stderr[-3000:]


def test_kernels_are_chosen_by_shape():
    from simsuite.solvers.matmul.product_cuda import _kernel

    shapes = ((1, 1, 8), (5000, 1, 8), (2, 900, 8), (17, 2, 4), (4096, 4096, 4), (4096, 4096, 8))
    names = [_kernel(*shape)[0].py_func.__name__ for shape in shapes]
    assert names == ["matvec", "matvec", "naive", "registers", "patches", "registers"]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ["naive", "shared", "registers", "patches", "matvec", "input_bias"])
def test_cuda_kernels_compile_for_sm90(name, precision):
    from numba import int64, types

    from simsuite.solvers.linear import inputs_cuda
    from simsuite.solvers.matmul import ladder_cuda, product_cuda

    M = types.Array(getattr(types, precision), 2, "C")
    arguments = (M, M, int64, M) if name == "input_bias" else (M, M, M, int64, M)
    kernels = {"input_bias": inputs_cuda, "matvec": product_cuda}.get(name, ladder_cuda)
    ptx, info = compile_sm90(getattr(kernels, name), types.void(*arguments))
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    if name != "patches":  # whose launch bounds see to it
        assert info["registers"] <= (64 if precision == "float32" else 96)  # 4 or 2 blocks of `registers` at a time
    fma = "fma.rn.f32" if precision == "float32" else "fma.rn.f64"
    assert fma in ptx
    if precision == "float32":
        assert ".f64" not in ptx
    if name in ("registers", "patches"):
        assert ptx.count(fma) == (256 if name == "registers" else 512), "all products of a slice written out"
        assert len(re.findall(r"ld\.shared\.v[24]\.f(?:32|64)", ptx)) >= 32, "16-byte loads from shared memory"
