"""Products on a GPU, to the bits of a CPU's."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from matmul_given import given, multiplied

from simsuite.solvers.matmul.product import product, suitable
from simsuite.solvers.matmul.programs import tiles
from simsuite.solvers.matmul.programs.program import ProgramProduct


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
def test_steps_on_a_gpu(cuda, kernel, dtype):
    """Small systems, which a program steps at once, and larger ones."""
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
            suitable((*A.shape, m), A.itemsize, cuda.processors, cuda.block_memory, many_steps=True)
            if kernel == "nvrtc"
            else ()
        )
        makes = [functools.partial(ProgramProduct, recipe=r) for r in recipes]
        same_bits(cuda, A, X, bias, steps, kernel, makes)


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_on_a_gpu(cuda, kernel, dtype):
    """At awkward sizes, by every tile."""
    shapes = [(1, 1, 1), (1, 5, 2), (2, 2, 33), (31, 33, 1), (33, 31, 65), (128, 128, 1000), (257, 129, 131)]
    for n, p, m in [*shapes, (1000, 1500, 77), (1000, 1500, 1), (20_000, 33, 1)]:
        A, X, bias = given(n, p, m, dtype)
        recipes = []
        if kernel == "nvrtc":
            recipes = [
                t.recipe((n, p, m), A.itemsize, min(k, t.beside), 3) for t in tiles.TILES[A.itemsize] for k in (0, 1)
            ]
        makes = [functools.partial(ProgramProduct, recipe=r) for r in recipes]
        same_bits(cuda, A, X, bias, 1, kernel, makes)
