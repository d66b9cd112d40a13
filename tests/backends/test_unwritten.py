"""Kernels written from expressions: one for all that differ in numbers alone, kept between processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.backends.kernel_cache import cache_directory
from simsuite.expressions import Expression
from simsuite.expressions.scalar import MOST_NUMBERS
from simsuite.solvers.expression_placeholders import written_kernels

XYT = ("x", "y", "t")
X, Y = np.linspace(0.1, 2.0, 7), np.linspace(-1.0, 1.5, 7)
SWEPT = [
    ("3*exp(-((x - 0.2)**2 + (y - t)**2)/0.01)", "2*exp(-((x - 0.7)**2 + (y - t)**2)/0.02)"),
    ("where(t > 5, 7, 4*sin(2.5*t))", "where(t > 1, 8, 3*sin(6*t))"),
    ("(t >= 10)*(t < 20)*500", "(t >= 1)*(t < 1.5)*2"),
    ("x**0.5 + 1", "x**0.5 + 2"),
    ("max(x, 1, t) % 0.3 // 0.1 + floor(2.5*t)", "max(x, 0.5, t) % 0.7 // 0.2 + floor(9*t)"),
]
RUN = Path(__file__).parents[1] / "counted_run.py"


def filled(text: str) -> np.ndarray:
    """The expression on the CPU, at three times."""
    expressions = {"expression": Expression.parse(text)}
    kernels, (numbers,) = written_kernels(open_backend("cpu"), "simsuite.solvers.table", expressions, XYT)
    out = np.zeros((3, 7))
    kernels.fill(out, 0, X, Y, 1.0, 2.0, 0, 4, np.array([0.0, 1.0, 7.0]), numbers, 3)
    return out


def source(text: str) -> tuple[str, tuple[float, ...]]:
    return Expression.parse(text).scalar_source("expression", XYT, False)


@pytest.mark.parametrize("texts", SWEPT)
def test_expressions_that_differ_in_numbers_have_one_text(texts: tuple[str, str]) -> None:
    (one, first), (other, second) = map(source, texts)
    assert one == other
    assert first != second


def test_numbers_are_in_the_order_of_the_text() -> None:
    assert source("3*x + 4*y - 5*t")[1] == (3.0, 4.0, 5.0)


def test_exponents_stay() -> None:
    """Compilers know the power 0.5 by a method of their own, with other last bits."""
    assert source("x**0.5")[0] != source("x**0.25")[0]
    assert source("x**-0.5")[1] == ()


def test_long_expressions_keep_their_numbers() -> None:
    long = " + ".join(f"{i}*x" for i in range(MOST_NUMBERS + 1))
    assert source(long)[1] == ()
    assert np.allclose(filled(long), X * sum(range(MOST_NUMBERS + 1)), rtol=1e-14)


@pytest.mark.parametrize("text", [text for texts in SWEPT for text in texts])
def test_values_are_those_of_numpy(text: str) -> None:
    times = 1.0 + 2.0 * np.array([0.0, 1.0, 7.0]) / 4
    expected = [np.broadcast_to(Expression.parse(text)(x=X, y=Y, t=t), 7) for t in times]
    np.testing.assert_allclose(filled(text), expected, rtol=1e-13)


def test_a_damaged_module_in_the_cache_is_written_anew() -> None:
    from simsuite.backends import kernel_cache

    expected = filled(SWEPT[0][0])
    for path in cache_directory().glob("table_cpu_*.py"):
        path.write_text("def broken(")
    kernel_cache._written.cache_clear()
    assert np.array_equal(filled(SWEPT[0][0]), expected)


def test_the_next_member_of_a_sweep_compiles_nothing(tmp_path: Path) -> None:
    def compiled(power: float, begin: float, conductivity: float) -> int:
        scenario = {
            "solver": "heat",
            "grid": {"nx": 8, "ny": 6, "lx": 0.1, "ly": 0.1},
            "material": {"conductivity": f"{conductivity} - 0.01*T", "density": 7800.0, "specific_heat": 470.0},
            "initial": {"temperature": 300.0},
            "boundary": {"left": {"kind": "temperature", "value": f"300 + {begin}*sin({begin}*t)"}},
            "source": [{"power": f"where(t > {begin}, {power}*(1 + 0.001*T), 0)"}],
            "time": {"end": 20.0, "stepper": "explicit"},  # whose kernels are the fewest
            "run": {"device": "cpu"},
        }
        for edge in ("right", "bottom", "top"):
            scenario["boundary"][edge] = {"kind": "insulated"}  # type: ignore[index]
        command = [sys.executable, str(RUN), json.dumps(scenario), str(tmp_path / "run")]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(run.stdout.split()[-1])

    assert compiled(1e5, 4.0, 45.0) > 0
    assert compiled(3e5, 7.0, 50.0) == 0
