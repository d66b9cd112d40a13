"""What can be known about the heat kernels on an H100/H200 without one: they compile, do not spill, and those of
float32 runs do no float64 arithmetic."""

from __future__ import annotations

import re

import pytest
from numba import types
from sm90 import compile_sm90

from simsuite.expressions import Expression
from simsuite.solvers import table_cuda
from simsuite.solvers.heat import exact_cuda, explicit_cuda, measure_cuda

REAL = {"float32": types.float32, "float64": types.float64}


def array(dtype: types.Type, ndim: int) -> types.Array:
    return types.Array(dtype, ndim, "C")


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("kernel", ["steps_short", "step_tall"])
def test_explicit_step(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, line = array(r, 2), array(r, 1)
    several = (types.int64, types.int64) if kernel == "steps_short" else ()
    signature = types.void(field, field, line, types.int64, line, r, r, types.boolean, types.boolean, *several)
    ptx, info = compile_sm90(getattr(explicit_cuda, kernel), signature)
    assert info["spill_bytes"] == 0
    if kernel == "step_tall":
        assert info["registers"] <= 40, "more registers lower the occupancy, and with it the rate"
    assert ("fma.rn.f64" in ptx) == (precision == "float64")
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)


@pytest.mark.parametrize("precision", REAL)
def test_measurements(precision: str) -> None:
    r = REAL[precision]
    real, index = array(types.float64, 1), array(types.int64, 1)
    rows = types.void(array(r, 2), array(r, 2), types.boolean, real, real, real, real, index)
    flags = (types.boolean, types.boolean)
    probe = types.void(array(r, 2), array(r, 1), types.int64, *flags, index, index, real, real, real)
    for kernel, signature in ((measure_cuda.rows, rows), (measure_cuda.probe, probe)):
        _, info = compile_sm90(kernel, signature)
        assert info["spill_bytes"] == 0


@pytest.mark.parametrize("text", ["sin(t)*x**2 + y", "where(x > t, exp(-x), min(y, 1, t))", "hypot(x, y)/t"])
def test_table_of_an_expression(text: str) -> None:
    real = array(types.float64, 1)
    f8, i8 = types.float64, types.int64
    signature = types.void(array(types.float32, 2), i8, real, real, f8, f8, i8, i8, real, i8)
    fill = table_cuda.make_fill(Expression.parse(text))
    _, info = compile_sm90(fill, signature)
    assert info["spill_bytes"] == 0


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("kernel", ["deviation", "add", "propagate", "book"])
def test_exact_step(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, line = array(r, 2), array(r, 1)
    signature = {
        "deviation": (field, r, field),
        "add": (field, field),
        "propagate": (field, field, line, line, r, r, r, field),
        "book": (field, field, field, r, r, r, line),
    }[kernel]
    ptx, info = compile_sm90(getattr(exact_cuda, kernel), types.void(*signature))
    assert info["spill_bytes"] == 0
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)
