"""Numba's kernels for products: in the simulator, and compiled for sm_90."""

from __future__ import annotations

import re

import pytest
from simulated import assert_right
from sm90 import compile_sm90

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
    assert_right(SIMULATED, shapes)


def test_kernels_are_chosen_by_shape():
    from simsuite.solvers.matmul.product_cuda import _kernel

    shapes = ((1, 1, 8), (5000, 1, 8), (2, 900, 8), (17, 2, 4), (4096, 4096, 4), (4096, 4096, 8))
    names = [_kernel(*shape)[0].py_func.__name__ for shape in shapes]
    assert names == ["matvec", "matvec", "naive", "registers", "patches", "registers"]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("layout", ["A", "C", "F"])
def test_sums_of_inputs_compile_for_sm90(precision, layout):
    """What they add in many steps: float64 until it is stored."""
    from numba import float64, int64, types

    from simsuite.solvers.linear.inputs import inputs_cuda

    row, out = types.Array(float64, 2, "C"), types.Array(getattr(types, precision), 2, "C")
    signature = types.void(row, int64, types.Array(float64, 2, layout), int64, out)
    ptx, info = compile_sm90(inputs_cuda.input_bias, signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert "fma.rn.f64" in ptx
    assert ("cvt.rn.f32.f64" in ptx) == (precision == "float32")


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ["naive", "shared", "registers", "patches", "matvec", "input_bias"])
def test_cuda_kernels_compile_for_sm90(name, precision):
    from numba import int64, types

    from simsuite.solvers.linear.inputs import inputs_cuda
    from simsuite.solvers.matmul import ladder_cuda, product_cuda

    M = types.Array(getattr(types, precision), 2, "C")
    arguments = (M, int64, M, int64, M) if name == "input_bias" else (M, M, M, int64, M)
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
