"""Matrix products against exact sums, NumPy and each other; those of CUDA in the simulator and compiled for sm_90."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sm90 import compile_sm90

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.matmul import product_cpu, registers_cpu
from simsuite.solvers.matmul.product_cpu import FEW_ROWS, KEPT, Multiplier

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
    *((FEW_ROWS + 1, 17, 5), (FEW_ROWS + 88, KEPT + 1, 50), (17, 2 * KEPT + 9, 1001), (700, 513, 481)),
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
    for got, row, column in ((multiplied(A, X, bias)[i, j], i, j) for i in (0, 4) for j in range(m)):
        total = 0.0
        for a, x in zip(A[row], X[:, column]):
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
@pytest.mark.parametrize(("n", "m"), [(1, 1), (33, 1), (2, 5), (31, 33), (64, 300), (FEW_ROWS + 100, 1)])
def test_steps_at_once_are_single_steps(n, m, dtype):
    A, X, bias = given(n, n, m, dtype)
    for stride in (0, 1):
        single = X
        for k in range(3):
            single = multiplied(A, single, bias, row=k * stride)
        np.testing.assert_array_equal(multiplied(A, X, bias, stride=stride, n_steps=3), single)
    assert Multiplier(CpuBackend(), A, m).most_steps is None


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


# --- CUDA kernels -----------------------------------------------------------------------------------------------------

SIMULATED = """
import json, sys
import numpy as np
from simsuite.backends import open_backend

backend = open_backend("cudasim")
from simsuite.scenario.linear import LinearScenario
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

    names = {(n, m): _kernel(n, n, m)[0].py_func.__name__ for n, m in ((1, 1), (5000, 1), (2, 900), (17, 2))}
    assert names == {(1, 1): "matvec", (5000, 1): "matvec", (2, 900): "matmul_flat", (17, 2): "matmul"}


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ["matmul", "matmul_flat", "matvec", "input_bias"])
def test_cuda_kernels_compile_for_sm90(name, precision):
    from numba import int64, types

    from simsuite.solvers.linear import inputs_cuda
    from simsuite.solvers.matmul import product_cuda

    M = types.Array(getattr(types, precision), 2, "C")
    arguments = (M, M, int64, M) if name == "input_bias" else (M, M, M, int64, M)
    kernels = inputs_cuda if name == "input_bias" else product_cuda
    ptx, info = compile_sm90(getattr(kernels, name), types.void(*arguments))
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= (64 if precision == "float32" else 96)  # 4 or 2 blocks of `matmul` at a time
    fma = "fma.rn.f32" if precision == "float32" else "fma.rn.f64"
    assert fma in ptx
    if precision == "float32":
        assert ".f64" not in ptx
    if name == "matmul":
        assert ptx.count(fma) == 256, "sixteen steps of sixteen products, all written out"
        assert len(re.findall(r"ld\.shared\.v[24]\.f(?:32|64)", ptx)) >= 32, "16-byte loads from shared memory"
