"""Which programs are offered for a product, and which one is taken."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_host import host_cuda  # noqa: F401
from matmul_given import given

from simsuite.backends.cpu import CpuBackend
from simsuite.errors import DeviceError
from simsuite.solvers.matmul.product import MOST_ROOM, product, suitable
from simsuite.solvers.matmul.programs import tiles


def test_few_copies_of_a_matrix_are_made_where_memory_is_short(host_cuda, monkeypatch):  # noqa: F811
    A = given(70, 40, 8, np.float64)[0]
    monkeypatch.setattr(host_cuda, "memory_free", lambda: 3 * A.nbytes)
    multiply, _ = product(host_cuda, A, 8, "nvrtc")
    first = suitable((70, 40, 8), 8, host_cuda.processors)[0]
    assert multiply.recipe.layout == first.layout
    assert 0 < host_cuda.candidates < len(suitable((70, 40, 8), 8, host_cuda.processors))


def test_tiles_are_shared_where_multiprocessors_would_wait():
    def titles(shape, size=4):
        return [r.title for r in tiles.suitable(shape, size, 132, MOST_ROOM)]

    assert titles((513, 4097, 1025))[0].endswith("beside")  # 153 tiles of 64 x 64 and 132 multiprocessors
    assert not any(title.endswith("beside") for title in titles((8192, 8192, 64))[:1])
    for shape in ((513, 4097, 1025), (1000, 1500, 77), (300, 300, 300)):
        for recipe in tiles.suitable(shape, 8, 132, MOST_ROOM):
            down, across = (-(-s // int(recipe.macros[k])) for s, k in ((shape[0], "ROWS"), (shape[2], "COLUMNS")))
            assert recipe.blocks == down * across or recipe.program == "split_tiles"
            assert recipe.blocks <= down * across


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

    assert chosen(2, 2, 1) == chosen(4, 4, 10**6) == chosen(8, 8, 10**6, size=4) == {"steps_in_registers"}
    assert chosen(64, 64, 1) == {"steps_of_few_states"}
    assert chosen(32, 32, 10**6) == {"steps_in_shared_memory", "steps_by_tensor_cores"}
    assert chosen(64, 64, 10**6) == chosen(128, 128, 10**6, size=4) == {"steps_in_shared_memory"}
    assert chosen(129, 129, 1) == chosen(8192, 8192, 1) == {"steps_of_a_column"}
    assert chosen(2, 128, 1) == chosen(129, 130, 1) == chosen(40_000, 40_000, 1) == {"column"}
    assert chosen(2, 128, 2) == chosen(64, 64, 10**6, many_steps=False) == {"tile"}
    assert chosen(64, 64, 1, many_steps=False) == chosen(2048, 2048, 1, many_steps=False) == {"column"}
    assert chosen(513, 4097, 1025) == {"tile", "split_tiles"}
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
