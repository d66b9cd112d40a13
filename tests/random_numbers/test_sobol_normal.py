"""Standard normals by inversion: against 40 digits, many at a time, and in CUDA kernels."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numba import cuda, types
from scipy import stats
from sm90 import compile_sm90

from simsuite.sobol.normal import inverse_normal32, inverse_normal64, inverse_normals32, inverse_normals64


def quantile(u: mpmath.mpf) -> mpmath.mpf:
    z = mpmath.mpf(float(stats.norm.ppf(float(u))))
    for _ in range(3):  # Halley's steps, at 40 digits
        gap = (mpmath.erfc(-z / mpmath.sqrt(2)) / 2 - u) * mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(z * z / 2)
        z -= gap / (1 + z * gap / 2)
    return z


HALF = 0x80000000
EDGES = [0, 1, 2, 1000, HALF - 1000, HALF - 1, 2_076_000, 2_077_000, 7_240_000, 7_250_000, 120, 121]


def test_inverse_normal() -> None:
    words = [*EDGES, *np.random.default_rng(2).integers(0, HALF, 150).tolist(), *(2**k for k in range(31))]
    with mpmath.workdps(40):
        for x in words:
            for offset in (0.5, 2.0**-21, 1 - 2.0**-21, (2 * 314572 + 1) * 2.0**-21):
                exact = quantile((mpmath.mpf(x) + mpmath.mpf(offset)) / 2**32)
                found = inverse_normal64(np.uint32(x), offset)
                assert abs(found / exact - 1) < 1e-15
                assert inverse_normal64(np.uint32(2**32 - 1 - x), 1 - offset) == -found
            exact = quantile((mpmath.mpf(x) + mpmath.mpf(0.5)) / 2**32)
            found = inverse_normal32(np.uint32(x))
            assert abs(found - exact) < 6e-7 * abs(exact) + 1e-7
            assert inverse_normal32(np.uint32(2**32 - 1 - x)) == -found
    assert inverse_normal64(np.uint32(0), 2.0**-21) == pytest.approx(-8.21, abs=0.01)
    assert inverse_normal32(np.uint32(0)) == pytest.approx(-6.34, abs=0.01)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_normals_are_those_of_the_scalars(dtype: type) -> None:
    bits = np.concatenate([np.array(EDGES), np.random.default_rng(4).integers(0, 2**32, 3001)]).astype(np.uint32)
    z = np.zeros(len(bits) + 1, dtype)
    if dtype == np.float32:
        inverse_normals32(z, bits, len(bits))
    else:
        inverse_normals64(z, bits, 0.25, len(bits))
    scalar = inverse_normal32 if dtype == np.float32 else lambda x: inverse_normal64(x, 0.25)
    np.testing.assert_array_equal(z[:-1], [scalar(x) for x in bits])
    assert z[-1] == 0


@pytest.mark.parametrize("real", [types.float32, types.float64], ids=str)
def test_normals_in_a_cuda_kernel(real: types.Type) -> None:
    single = real == types.float32

    def kernel(bits, z):
        i = cuda.grid(1)
        if i < z.shape[0]:
            z[i] = inverse_normal32(bits[i]) if single else inverse_normal64(bits[i], 0.5)

    ptx, info = compile_sm90(kernel, types.void(types.Array(types.uint32, 1, "C"), types.Array(real, 1, "C")))
    assert info["spill_bytes"] == 0
    assert (".f64" in ptx) == (not single)
