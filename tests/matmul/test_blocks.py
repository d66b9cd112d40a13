"""Products with block diagonal matrices: each block has the bits of a product of its own."""

from __future__ import annotations

import numpy as np
import pytest
from sm90 import compile_sm90

from simsuite.backends.cpu import CpuBackend
from simsuite.errors import DeviceError
from simsuite.solvers.matmul.blocks import block_product
from simsuite.solvers.matmul.product import product


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 7, 33, 64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_have_the_bits_of_products_of_their_own(n, columns, dtype, backend):
    rng, count, steps = np.random.default_rng(n), 4, 3
    A = rng.normal(size=(count, n, n)).astype(dtype)
    X, bias = rng.normal(size=(count * n, columns)).astype(dtype), rng.normal(size=(9, count * n)).astype(dtype)
    arrays = [backend.array(a) for a in (X, bias)]
    out = backend.zeros(X.shape, dtype)
    multiply, kernel = block_product(backend, A, columns)
    multiply(*map(backend.view, arrays), 2, 2, steps, backend.view(out))
    found = np.array(backend.to_host(out))
    assert kernel == "blocks"
    for s in range(count):
        part = slice(s * n, (s + 1) * n)
        alone, _ = product(CpuBackend(), np.ascontiguousarray(A[s]), columns)
        x = np.ascontiguousarray(X[part])
        for step in range(steps):
            own = np.empty_like(x)
            alone(x, np.ascontiguousarray(bias[2 + 2 * step, part])[None], 0, 0, 1, own)
            x = own
        if backend.name != "cudasim":  # which rounds products before it adds them
            assert found[part].tobytes() == x.tobytes()
    exact = X.astype(np.longdouble).reshape(count, n, columns)
    for step in range(steps):
        exact = A.astype(np.longdouble) @ exact + bias[2 + 2 * step].reshape(count, n, 1)
    np.testing.assert_allclose(
        found.reshape(exact.shape).astype(float), exact.astype(float), rtol=0, atol=2e3 * n * np.finfo(dtype).eps
    )


def test_threads_change_no_bits():
    rng = np.random.default_rng(3)
    A, X, bias = rng.normal(size=(300, 20, 20)) / 5, rng.normal(size=(6000, 1)), rng.normal(size=(1, 6000))
    backend, found = CpuBackend(), []
    multiply, _ = block_product(backend, A, 1)
    for threads in (1, 2):
        out = np.empty_like(X)
        with backend.on_threads(threads):
            multiply(X, bias, 0, 0, 50, out)
        found.append(out.tobytes())
    assert found[0] == found[1]


def test_other_kernels_are_refused():
    with pytest.raises(DeviceError, match="single matrices only"):
        block_product(CpuBackend(), np.zeros((2, 3, 3)), 1, "cublas")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_they_compile_for_sm90(precision):
    from numba import int64, types

    from simsuite.solvers.matmul import blocks_cuda

    number = getattr(types, precision)
    M = types.Array(number, 2, "C")
    signature = types.void(types.Array(number, 3, "C"), int64, M, M, int64, int64, int64, M)
    ptx, info = compile_sm90(blocks_cuda.product, signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= 64
    assert ("fma.rn.f32" if precision == "float32" else "fma.rn.f64") in ptx
    if precision == "float32":
        assert ".f64" not in ptx


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_inputs_by_row_compile_for_sm90(precision):
    from numba import int64, types

    from simsuite.solvers.linear.inputs import inputs_cuda

    M = types.Array(getattr(types, precision), 2, "C")
    signature = types.void(M, int64, M, types.Array(int64, 2, "C"), int64, M)
    ptx, info = compile_sm90(inputs_cuda.input_bias_by_row, signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert ("fma.rn.f32" if precision == "float32" else "fma.rn.f64") in ptx
