"""Products of sparse matrices: against SciPy, extended precision and the dense products, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from simulated import assert_right
from sm90 import compile_sm90

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.errors import DeviceError
from simsuite.solvers.matmul import sparse_cpu
from simsuite.solvers.matmul.product import product
from simsuite.solvers.matmul.sparse import in_rows, sparse_product

SHAPES = [(1, 1, 1), (1, 5, 2), (5, 7, 3), (33, 40, 65), (100, 100, 1), (257, 129, 131), (64, 64, 4), (300, 300, 33)]


def random_sparse(n, p, density=0.2, seed=1):
    """With an empty row, and one that is full."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, p)) < density, rng.standard_normal((n, p)), 0.0)
    A[n // 2], A[n // 3] = 0.0, rng.standard_normal(p)
    return in_rows(sp.csr_array(A))


def given(n, p, m, dtype, rows=2, seed=2):
    rng = np.random.default_rng(seed)
    shapes = ((p, m), (rows, n))
    return [random_sparse(n, p).astype(dtype), *(rng.standard_normal(shape).astype(dtype) for shape in shapes)]


def multiplied(A, X, bias, row=1):
    out = np.full((A.shape[0], X.shape[1]), np.nan, X.dtype)
    multiply, kernel = sparse_product(CpuBackend(), A, X.shape[1])
    assert kernel == "csr"
    multiply(X, bias, row, 0, 1, out)
    return out


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_have_the_bits_of_the_dense_ones(shape, dtype):
    A, X, bias = given(*shape, dtype)
    found, dense = multiplied(A, X, bias), np.empty((shape[0], shape[2]), dtype)
    multiply, _ = product(CpuBackend(), A.toarray(), shape[2])
    multiply(X, bias, 1, 0, 1, dense)
    np.testing.assert_array_equal(found, dense)
    np.testing.assert_allclose(found, A @ X + bias[1][:, None], rtol=0, atol=400 * np.finfo(dtype).eps)
    some = slice(None, None, 19)
    exact = A.toarray().astype(np.longdouble) @ X[:, some].astype(np.longdouble) + bias[1][:, None]
    size = abs(A).astype(float) @ np.abs(X[:, some]).astype(float) + np.abs(bias[1])[:, None]
    assert np.max(np.abs(found[:, some] - exact) / size) < np.finfo(dtype).eps * math.sqrt(shape[1] + 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 3, 40, 300])
def test_threads_strips_and_columns_change_no_bit(m, dtype, monkeypatch):
    A, X, bias = given(150, 150, m, dtype)
    whole = multiplied(A, X, bias)
    for serial, strip in ((0, 2048), (1 << 40, 2048), (0, 64), (1 << 40, 40)):
        monkeypatch.setattr(sparse_cpu, "SERIAL", serial)
        monkeypatch.setattr(sparse_cpu, "STRIP", strip)
        np.testing.assert_array_equal(multiplied(A, X, bias), whole)
    columns = [multiplied(A, np.ascontiguousarray(X[:, [j]]), bias) for j in range(m)]
    np.testing.assert_array_equal(np.hstack(columns), whole)


def test_wide_indices():
    A, X, bias = given(20, 30, 5, np.float64)
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), A.shape)
    assert wide.indices.dtype == np.int64
    np.testing.assert_array_equal(multiplied(wide, X, bias), multiplied(A, X, bias))


def test_tasks_are_of_equal_work_and_go_through_all_rows():
    A = in_rows(sp.csr_array(np.tril(np.ones((400, 400)))))
    parts = sparse_cpu._parts(A.indptr)
    assert parts[0] == 0
    assert parts[-1] == 400
    work = np.diff(A.indptr[parts])
    assert len(work) > 1
    assert work.max() < 1.3 * work.mean()
    np.testing.assert_array_equal(sparse_cpu._parts(np.zeros(4, np.int32)), sorted(sparse_cpu._parts(np.zeros(4))))


def test_sums_with_a_multiple_of_a_product():
    A, X, bias = given(31, 31, 6, np.float64)
    base = np.random.default_rng(5).standard_normal((31, 6))
    multiply, _ = sparse_product(CpuBackend(), A, 6)
    out = np.empty((31, 6))
    multiply.add(X, bias, 1, base, np.float64(0.3), out)
    np.testing.assert_allclose(out, base + 0.3 * (A @ X + bias[1][:, None]), rtol=1e-13, atol=1e-13)


def test_rows_are_in_order_without_zeros_and_duplicates():
    A = sp.coo_array(([1.0, 2.0, 0.0, 3.0, 4.0, -4.0], ([0, 0, 0, 1, 1, 1], [2, 0, 1, 1, 2, 2])), (2, 3))
    found = in_rows(A)
    assert found.indices.tolist() == [0, 2, 1]
    assert found.data.tolist() == [2.0, 1.0, 3.0]
    assert found.indptr.tolist() == [0, 2, 3]


@pytest.mark.parametrize("choice", ["nvrtc", "cublas"])
def test_what_multiplies_dense_matrices_only_is_not_replaced_silently(choice):
    with pytest.raises(DeviceError, match=f'kernel = "{choice}" multiplies dense matrices only'):
        sparse_product(CpuBackend(), random_sparse(3, 3), 2, choice)
    assert sparse_product(CpuBackend(), random_sparse(3, 3), 2, "numba")[1] == "csr"


# --- GPUs -------------------------------------------------------------------------------------------------------------

SIMULATED = """
import json, sys
import numpy as np, scipy.sparse as sp
from simsuite.backends import open_backend

backend = open_backend("cudasim")
from simsuite.solvers.matmul.sparse import in_rows, sparse_product
from simsuite.solvers.matmul.sparse_cuda import KEPT

rng = np.random.default_rng(1)
for n, p, m in json.loads(sys.argv[1]):
    A = rng.integers(-8, 9, (n, p)) * (rng.random((n, p)) < (0.9 if p > KEPT else 0.3))
    A[n // 2] = 0
    for dtype in (np.float64, np.float32):
        X, bias, base = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((p, m), (2, n), (n, m)))
        held = in_rows(sp.csr_array(A)).astype(dtype)
        multiply, _ = sparse_product(backend, held, m)
        wanted = A @ X + bias[1][:, None]
        out = np.full((n + 1, m), np.nan, dtype)  # a row beyond the end, which must stay as it is
        multiply(*map(backend.view, (X, bias)), 1, 0, 1, backend.view(out[:n]))
        np.testing.assert_array_equal(out[:n], wanted)
        multiply.add(*map(backend.view, (X, bias)), 1, backend.view(base), dtype(0.5), backend.view(out[:n]))
        np.testing.assert_array_equal(out[:n], base + 0.5 * wanted)
        assert np.isnan(out[n]).all()
print("right")
"""


def test_cuda_kernels_in_the_simulator():
    """Whole numbers, which are exact in any arithmetic. The last: rows longer than what shared memory holds at once."""
    shapes = [(1, 1, 1), (5, 7, 3), (130, 6, 1), (2, 700, 1)]
    assert_right(SIMULATED, shapes)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ["entries", "column"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_cuda_kernels_compile_for_sm90(name, precision, index):
    from numba import int64, types

    from simsuite.solvers.matmul import sparse_cuda

    real, whole = getattr(types, precision), getattr(types, index)
    V, K, M = types.Array(real, 1, "C"), types.Array(whole, 1, "C"), types.Array(real, 2, "C")
    ptx, info = compile_sm90(getattr(sparse_cuda, name), types.void(V, K, K, M, M, int64, M, real, M))
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= 64
    fma = "fma.rn.f32" if precision == "float32" else "fma.rn.f64"
    assert fma in ptx
    if precision == "float32":
        assert ".f64" not in ptx


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gpu_gives_the_bits_of_a_cpu(dtype):
    try:
        backend = open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    for n, p, m in [*SHAPES, (1000, 3000, 1), (129, 5000, 1), (5001, 777, 2), (70_001, 300, 7)]:
        A, X, bias = given(n, p, m, dtype)
        out = backend.array(np.full((n, m), np.nan, dtype))
        held = backend.array(X), backend.array(bias), out
        multiply, _ = sparse_product(backend, A, m)
        multiply(*map(backend.view, held[:2]), 1, 0, 1, backend.view(out))
        np.testing.assert_array_equal(backend.to_host(out), multiplied(A, X, bias))
