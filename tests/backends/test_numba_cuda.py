"""NVIDIA's numba.cuda compiles kernels whatever NumPy is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SIMULATING
from numba import cuda
from running import finish, start_python

COMPILE = """
import numba.np.arrayobj  # of Numba itself, which asks for what the installed NumPy has
import numpy as np
from numba import types

if hasattr(np, "row_stack"):
    del np.row_stack  # as in NumPy 2.5
    np.__all__.remove("row_stack")

from simsuite.backends.numba_cuda import import_numba_cuda

cuda = import_numba_cuda()
assert not hasattr(np, "row_stack")

def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor

signature = types.void(types.float64[::1], types.float64)
print(cuda.compile(scale, signature, cc=(9, 0), device=False, abi="numba", output="ptx")[0])
"""


@pytest.mark.skipif(SIMULATING or getattr(cuda, "implementation", "") != "NVIDIA", reason="needs numba-cuda")
def test_kernels_compile_with_a_numpy_that_has_no_row_stack(tmp_path: Path) -> None:
    done = finish(start_python(COMPILE, cwd=tmp_path))
    assert done.returncode == 0, done.stderr
    assert "mul.f64" in done.stdout or "mul.rn.f64" in done.stdout


ADVICE = """
from simsuite.backends.numba_cuda import import_numba_cuda

import_numba_cuda()
from numba.cuda import dispatcher

print(dispatcher.config.CUDA_LOW_OCCUPANCY_WARNINGS)
"""


@pytest.mark.skipif(SIMULATING or getattr(cuda, "implementation", "") != "NVIDIA", reason="needs numba-cuda")
@pytest.mark.parametrize(("asked", "given"), [({}, "0"), ({"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "1"}, "1")])
def test_advice_on_kernels_is_not_for_users(tmp_path: Path, asked: dict[str, str], given: str) -> None:
    """Numba warns of every launch of few blocks, where nobody asked for it."""
    done = finish(start_python(ADVICE, cwd=tmp_path, **asked))
    assert done.stdout.split() == [given], done.stderr
