"""Matrix products on a CPU against exact sums and each other."""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pytest
from matmul_given import given, multiplied
from numba.core.errors import TypingError

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.matmul import product_cpu
from simsuite.solvers.matmul.cpu.vectors_cpu import FUSED
from simsuite.solvers.matmul.product_cpu import FEW_ROWS, KEPT, Multiplier, Tiles

# (rows, inner, columns): single entries, edges of tiles and slices, one column and few, tall, flat, some that fill no
# vector, more than one task
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
        (1, 3, 40),
        (2, 2, 50),
        (4, 4, 33),
        (6, 5, 41),
        (7, FEW_ROWS + 1, 30),
        (3, 40, 999),
        (8, 20, 2),
        (69, 67, 3),
        (70, 71, 4),
        (FEW_ROWS + 3, 33, 7),
        *((rows, 21, columns) for rows, columns in zip((9, 10, 11, 12, 13, 47, 16), (17, 33, 34, 35, 36, 37, 20))),
    ),
    *((FEW_ROWS + 1, 17, 5), (FEW_ROWS + 88, KEPT + 1, 50), (17, 2 * KEPT + 9, 1001), (700, 513, 481), (100, 90, 1601)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_are_right(shape, dtype):
    A, X, bias = given(*shape, dtype)
    expected = A.astype(np.longdouble) @ X.astype(np.longdouble) + bias[1][:, None]
    error = np.max(np.abs(multiplied(A, X, bias, row=1) - expected)) / np.max(np.abs(expected))
    assert error < np.finfo(dtype).eps * (2 + np.sqrt(shape[1]))


@pytest.mark.skipif(not FUSED, reason="this CPU has no fused multiply-add")
@pytest.mark.parametrize(("n", "m"), [(5, 1), (5, 3), (9, 3), (5, 40)])
def test_every_entry_is_a_chain_of_fused_additions(n, m):
    """In exact arithmetic, rounded once a step: what documentation says of the bits of a result."""
    A, X, bias = given(n, KEPT + 3, m, np.float64)
    for got, row, j in ((multiplied(A, X, bias)[i, j], i, j) for i in (0, 4) for j in (0, m - 1)):
        total = 0.0
        for a, x in zip(A[row], X[:, j]):
            total = float(Fraction(a) * Fraction(x) + Fraction(total))
        assert got == total + bias[0, row]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 70, FEW_ROWS + 9])
def test_a_column_has_the_same_bits_whatever_is_beside_it(n, dtype):
    A, X, bias = given(n, n, 60, dtype)
    whole = multiplied(A, X, bias)
    for columns in (slice(0, 1), slice(7, 8), slice(13, 15), slice(20, 60), slice(3, 8), slice(9, 26)):
        np.testing.assert_array_equal(multiplied(A, X, bias, columns=columns), whole[:, columns])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "m"),
    [
        *((1, 1), (33, 1), (2, 5), (31, 33), (64, 300), (64, 2105), (FEW_ROWS + 100, 1)),
        *((1, 40), (2, 77), (3, 40_001), (4, 4096), (7, 33), (7, 1000), (9, 2), (70, 4), (64, 7), (100, 100), (70, 18)),
    ],
)
def test_steps_at_once_are_single_steps(n, m, dtype):
    A, X, bias = given(n, n, m, dtype)
    for stride in (0, 1):
        single = X
        for k in range(3):
            single = multiplied(A, single, bias, row=k * stride)
        np.testing.assert_array_equal(multiplied(A, X, bias, stride=stride, n_steps=3), single)
    assert Multiplier(CpuBackend(), A, m).most_steps is None


@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("n", [9, FEW_ROWS + 9])
def test_rows_of_states_must_follow_each_other(n, columns):
    """Kernels take them by pointers, and refuse others when they are compiled, not at each call."""
    A, X, bias = given(n, n, columns, np.float64)
    multiply = Multiplier(CpuBackend(), A, columns)
    for wrong in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        with pytest.raises(TypingError, match="rows one after the other"):
            multiply(wrong, bias, 0, 0, 1, np.empty_like(X))
        with pytest.raises(TypingError, match="rows one after the other"):
            multiply(X, bias, 0, 0, 1, wrong)


def test_large_systems_take_one_step_at_a_time_unless_they_are_of_few_states():
    assert [Multiplier(CpuBackend(), np.eye(FEW_ROWS + 1, dtype=np.float32), m).most_steps for m in (1, 2, 30)] == [
        None,
        None,
        1,
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(7, 130, 1), (5, 33, 3), (40, 4, 3), (40, 33, 35), (2, 4, 3000), (FEW_ROWS + 1, 4, 30)], ids=str
)
def test_one_thread_and_many_give_the_same_bits(shape, dtype, monkeypatch):
    A, X, bias = given(*shape, dtype)
    found = []
    for limit in (0, 1 << 40):
        monkeypatch.setattr(product_cpu, "SERIAL", limit)
        found.append(multiplied(A, X, bias))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("name", "shape"), [("column", (9, 9, 1)), ("few", (9, 9, 2)), ("steps", (9, 9, 50)), ("product", (600, 9, 20))]
)
def test_small_products_wake_no_threads(name, shape, monkeypatch):
    kernel, found = getattr(product_cpu, name), []
    parameters = inspect.signature(kernel.py_func)

    def alone(*values):
        got = parameters.bind(*values).arguments
        if name == "product":
            found.append(Tiles(*got["tiles"]).alone)
        else:
            found.append(got["alone"] if name != "steps" else got["n_steps"] < got["enough"])

    monkeypatch.setattr(product_cpu, name, alone)
    for limit in (0, 1 << 40):
        monkeypatch.setattr(product_cpu, "SERIAL", limit)
        multiplied(*given(*shape, np.float32))
    assert found == [False, True]
