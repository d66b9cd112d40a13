"""Logarithm and exponential against 40 digits, at the edges of the format, and in what compilers make of them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numba import njit
from sm90 import compile_sm90

from simsuite.elementary_functions import exp32, exp64, log1p32, log1p64, log32, log64

RNG = np.random.default_rng(8)
FUNCTIONS = {"log64": log64, "log32": log32, "exp64": exp64, "exp32": exp32, "log1p64": log1p64, "log1p32": log1p32}


def looped(function):
    @njit(error_model="numpy")
    def loop(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    return loop


LOOPS = {name: looped(function) for name, function in FUNCTIONS.items()}


def real(name: str) -> type:
    return np.float32 if name.endswith("32") else np.float64


def values(name: str, x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, real(name))
    y = np.empty_like(x)
    LOOPS[name](x, y)
    return y


def errors(name: str, x: np.ndarray) -> np.ndarray:
    """In units in the last place of the true value, or of the smallest normal number where that is larger."""
    x = np.asarray(x, real(name))
    info = np.finfo(x.dtype)
    exact = getattr(mpmath, name[:-2])
    found = []
    with mpmath.workdps(40):
        for one, y in zip(x.tolist(), values(name, x).tolist()):
            truth = exact(mpmath.mpf(one))
            exponent = max(mpmath.frexp(truth)[1] - 1, info.minexp) if truth else 0
            found.append(float(abs(mpmath.mpf(y) - truth) / mpmath.ldexp(1, exponent - info.nmant)))
    return np.array(found)


def around(x: float, name: str) -> np.ndarray:
    """Numbers of the format next to x, on both sides."""
    bits = np.array(x, real(name)).view(np.int32 if name.endswith("32") else np.int64)
    return (bits + np.arange(-40, 41).astype(bits.dtype)).view(real(name))


@pytest.mark.parametrize("name", ["log64", "log32"])
def test_logarithm_to_one_unit_in_the_last_place(name):
    n, digits = 3000, np.finfo(real(name)).nmant
    for x in (
        RNG.uniform(0, 1, n),
        np.exp2(RNG.uniform(-0.5, 0.5, n)),  # where the logarithm is small
        np.exp2(RNG.uniform(-1.0, -0.4, n)),  # and where k goes from 0 to -1
        1 - np.exp2(RNG.uniform(-digits, -2, n)),
        np.exp2(RNG.uniform(-digits - 12, 0, n)),
        np.concatenate([around(2.0**-k * m, name) for k in range(1, 30) for m in (1, np.sqrt(0.5))]),
        np.concatenate([around(1 - 2.0**-9, name), [np.finfo(real(name)).tiny, np.finfo(real(name)).max]]),
    ):
        assert errors(name, x).max() < 1
    assert values(name, [1.0])[0] == 0


@pytest.mark.parametrize("name", ["log1p64", "log1p32"])
def test_logarithm_of_1_and_little_more(name):
    n, digits = 2000, np.finfo(real(name)).nmant
    signs = RNG.choice([-1.0, 1.0], n)
    for x in (
        signs * np.exp2(RNG.uniform(-2 * digits, -1, n)),
        RNG.uniform(-0.3, 0.45, n),
        np.exp2(RNG.uniform(-digits - 1, 0, n)) - 1 + 2.0 ** -(digits + 1),
        np.exp2(RNG.uniform(0, 100, n)),
    ):
        assert errors(name, x).max() < 2
    assert values(name, [0.0])[0] == 0


@pytest.mark.parametrize(("name", "low", "high"), [("exp64", -745.0, 709.7), ("exp32", -103.0, 88.7)])
def test_exponential_to_one_unit_in_the_last_place(name, low, high):
    n = 3000
    for x in (
        RNG.uniform(-0.35, 0.35, n),
        RNG.uniform(-3, 3, n),
        RNG.uniform(low, high, n),
        RNG.uniform(low, np.log(np.finfo(real(name)).tiny) + 1, n),  # subnormal, and a little above
        np.exp2(RNG.uniform(-60, 0, n)),
        np.concatenate([around(np.log(2) * (k + 0.5), name) for k in range(-30, 30)]),  # where r changes its sign
    ):
        assert errors(name, x).max() < 1


@pytest.mark.parametrize("name", ["exp64", "exp32"])
def test_exponential_at_the_edges(name):
    """As the C library has it, around overflow and underflow; nothing signalled in between."""
    info = np.finfo(real(name))
    largest, smallest = np.log(info.max), np.log(np.longdouble(info.smallest_subnormal)) - np.log(np.longdouble(2))
    assert np.isnan(values(name, [np.nan])[0])
    x = [0.0, -0.0, info.tiny, -info.tiny, info.smallest_subnormal]
    np.testing.assert_array_equal(values(name, x), 1)
    x = around(largest, name)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(values(name, x), np.exp(x), rtol=1.5 * info.eps)
    np.testing.assert_array_equal(values(name, [np.nextafter(x[-1], 1e4), 2 * largest, info.max, np.inf]), np.inf)
    x = np.array([float(smallest) * 1.0001, -2 * largest, -info.max, -np.inf], real(name))
    np.testing.assert_array_equal(values(name, x), 0)
    assert values(name, [float(smallest) * 0.9999])[0] == info.smallest_subnormal


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_value_does_not_depend_on_its_place(name):
    """Bodies of vectors and remainders round alike, in arrays of every length."""
    x = np.exp2(RNG.uniform(-20, 0, 67)).astype(real(name))
    expected = values(name, x)
    for n in range(1, len(x)):
        np.testing.assert_array_equal(values(name, x[:n]), expected[:n])
        np.testing.assert_array_equal(values(name, x[n:]), expected[n:])
    np.testing.assert_array_equal([FUNCTIONS[name](one) for one in x], expected)


@pytest.mark.parametrize("name", ["log64", "log32", "exp64", "exp32"])  # log1p divides
def test_on_a_gpu_too_it_is_arithmetic(name):
    from numba import cuda, types

    function, array = FUNCTIONS[name], types.Array(getattr(types, f"float{name[3:]}"), 1, "C")

    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = function(x[i])

    ptx, info = compile_sm90(kernel, (array, array))
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert not any(word in ptx for word in ("div.", "rcp.", "call", "bra"))
    assert ".f64" not in ptx or name.endswith("64")
