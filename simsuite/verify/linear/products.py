"""Checks of single products A X + b of all shapes, by every choice of kernels, against exact sums.

For factors of whole numbers, the products and sums are whole numbers that float32 represents exactly, so every entry
must equal the result of integer arithmetic. For other numbers each product is split into four that float64 holds
exactly: T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18 (1971)
224-242; and these are added without rounding: J. R. Shewchuk, Discrete & Computational Geometry 18 (1997) 305-363,
which is `math.fsum`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul.product import product
from simsuite.verify.checks import Check, at_most
from simsuite.verify.linear.runs import UNIT, label
from simsuite.words import counted

WHOLE, ROUNDED = "whole numbers", "rounded product"
COLUMNS = (1, 2, 31, 33)
RAGGED = (1, 1), (1, 9), (9, 1), (2, 3), (31, 33), (33, 31), (32, 32), (64, 64), (65, 127), (100, 150)
SHAPES = tuple((rows, inner, m) for rows, inner in RAGGED for m in COLUMNS)
FULL = (*SHAPES, (1000, 1500, 33), (129, 129, 257))
QUICK = tuple((rows, inner, m) for rows, inner in ((1, 1), (9, 1), (31, 33), (65, 127)) for m in (1, 31))
SAMPLED = 48  # So many entries of a product are added exactly.
STEPS = 3  # With a square A, one call takes so many steps.
SPLIT = 2.0**27 + 1


def product_checks(backend: Backend, shapes: Sequence[tuple[int, int, int]]) -> Iterator[Check]:
    """Checks of products of all these shapes, (rows, inner, columns). Rounding of n products may change a sum by n u of
    the sum of their moduli.
    """
    for precision in ("float64", "float32"):
        for kernel in ("numba", *(["nvrtc"] if backend.compiles else [])):
            for shape in shapes:
                rows, inner, columns = shape
                name = label(f"{rows} x {inner}, {counted(columns, 'column')}", precision, kernel=kernel)
                wrong = _whole(backend, shape, np.dtype(precision), kernel)
                yield at_most(name, WHOLE, float(wrong), 0.0)
                off = _rounded(backend, shape, np.dtype(precision), kernel) / UNIT[precision]
                yield at_most(f"{name}, in u", ROUNDED, off, inner + 1.0)


def _whole(backend: Backend, shape: tuple[int, int, int], dtype: Any, kernel: str) -> int:
    """How many entries of A X + b are wrong, for whole numbers; with a square A, after some steps,
    each with its own b.
    """
    rows, inner, columns = shape
    rng = np.random.default_rng(rows)
    A, X = rng.integers(-1, 2, (rows, inner)), rng.integers(-8, 9, (inner, columns))
    steps = STEPS if rows == inner else 1
    bias = rng.integers(-8, 9, (steps, rows))
    found = _multiplied(backend, A.astype(dtype), X.astype(dtype), bias.astype(dtype), kernel)
    wanted = X
    for b in bias:
        wanted = A @ wanted + b[:, None]
    return int(np.count_nonzero(found != wanted))


def _rounded(backend: Backend, shape: tuple[int, int, int], dtype: Any, kernel: str) -> float:
    """The largest error of an entry of A X + b, as a share of the sum of the moduli of its terms."""
    rows, inner, columns = shape
    rng = np.random.default_rng(inner)
    A, X, b = (rng.standard_normal(size).astype(dtype) for size in ((rows, inner), (inner, columns), (1, rows)))
    found = _multiplied(backend, A, X, b, kernel)
    n = min(SAMPLED, rows * columns)
    entries = np.unique(np.append(rng.choice(rows * columns, n, replace=False), [0, rows * columns - 1]))
    errors = []
    for i, j in zip(*np.unravel_index(entries, (rows, columns))):
        terms = [*_exact_products(A[i], X[:, j]), float(b[0, i])]
        moduli = math.fsum(map(abs, terms))
        errors.append(abs(math.fsum([*terms, -float(found[i, j])])) / moduli)
    return max(errors)


def _exact_products(a: np.ndarray, x: np.ndarray) -> list[float]:
    """Numbers whose exact sum is the sum of the products of two vectors."""
    parts = [_halves(np.asarray(v, np.float64)) for v in (a, x)]
    return [float(value) for one in parts[0] for other in parts[1] for value in one * other]


def _halves(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of numbers of 26 bits each, whose sum is v."""
    scaled = SPLIT * v
    high = scaled - (scaled - v)
    return high, v - high


def _multiplied(backend: Backend, A: np.ndarray, X: np.ndarray, bias: np.ndarray, kernel: str) -> np.ndarray:
    """The result of as many steps of X -> A X + b as there are rows of `bias`, in as few calls as possible."""
    multiply, _ = product(backend, backend.array(A), X.shape[1], kernel, many_steps=len(bias) > 1)
    at_once, b = multiply.most_steps or len(bias), backend.array(bias)
    state = backend.array(X)
    for k in range(0, len(bias), at_once):
        out = backend.zeros((len(A), X.shape[1]), A.dtype)
        n = min(at_once, len(bias) - k)
        multiply(backend.view(state), backend.view(b), k, 1, n, backend.view(out))
        state = out
    return backend.to_host(state)
