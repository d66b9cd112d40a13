"""Checks that the estimate of `power_error` covers the error, for systems whose exponentials are known.

A = H D H / 2 with H = [[1, 1], [1, -1]] and eigenvalues -a and -b; exp(A t) has the entries (e^-at +- e^-bt)/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from mpmath import mp

from simsuite.core import Backend
from simsuite.verify.checks import Check
from simsuite.verify.linear.runs import run

KIND = "power_error"
DIGITS = 40
MOST = 1000.0  # An estimate that exceeds the error so many times says little.
# a and b in 1/s, dt in s, steps: from slow to stiff; entries of A, whole or quarters, have no rounding
SYSTEMS = (
    (0.5, 3.0, 0.01, 1000),
    (0.25, 1000.0, 0.1, 5000),
    (0.125, 40000.0, 0.01, 100_000),
    (0.0, 100.0, 0.25, 1_000_000),
    (0.0625, 65536.0, 1.0, 3000),
)
ROTATIONS = ((1.0, 0.1, 10**6), (30.0, 0.37, 10**5))  # the angular frequency in rad/s, dt in s, steps


def power_error_checks(backend: Backend) -> Iterator[Check]:
    """Checks of the estimate divided by the error, which must be at least 1."""
    for a, b, dt, steps in SYSTEMS:
        with mp.workdps(DIGITS):
            t = mp.mpf(dt) * steps
            slow, fast = mp.exp(-mp.mpf(a) * t), mp.exp(-mp.mpf(b) * t)
            # the state exp(A t) X_0 for X_0 = (1, 2)
            exact = (slow + fast) / 2 + (slow - fast), (slow - fast) / 2 + (slow + fast)
        A = [[-(a + b) / 2, (b - a) / 2], [(b - a) / 2, -(a + b) / 2]]
        yield _check(backend, f"rates {a:g} and {b:g}, {steps} steps", A, dt, steps, exact)
    for w, dt, steps in ROTATIONS:
        with mp.workdps(DIGITS):
            c, s = mp.cos(w * mp.mpf(dt) * steps), mp.sin(w * mp.mpf(dt) * steps)
            exact = c - 2 * s, s + 2 * c
        yield _check(backend, f"rotation by {w:g} rad/s, {steps} steps", [[0.0, -w], [w, 0.0]], dt, steps, exact)


def _check(backend: Backend, name: str, A: list[list[float]], dt: float, steps: int, exact: tuple[Any, Any]) -> Check:
    given = {
        "solver": "linear",
        "system": {"kind": "continuous", "matrix": A},
        "initial": {"state": [1.0, 2.0]},
        "time": {"steps": steps, "dt": dt, "method": "power", "tolerance": 1.0},
        "output": {"frames": 2},
    }
    found = run(given, backend).results
    with mp.workdps(DIGITS):
        off = [mp.mpf(value) - wanted for (value,), wanted in zip(found["state"], exact)]
        error = float(mp.norm(off) / mp.norm(exact))
    ratio = found["power_error"] / error if error else np.inf
    passed = ratio >= 1.0 and (ratio <= MOST or error < 1e-15)
    data = {"error": error, "power_error": found["power_error"]}
    return Check(name, KIND, ratio, f"1 .. {MOST:g} times the error", passed, data)
