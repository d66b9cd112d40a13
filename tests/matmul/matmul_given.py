"""Products for tests: random factors, what the CPU makes of them, and whether a program is right."""

from __future__ import annotations

import numpy as np

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.matmul.product_cpu import Multiplier
from simsuite.solvers.matmul.programs.program import ProgramProduct


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
