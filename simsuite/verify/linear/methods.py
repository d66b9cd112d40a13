"""Checks that runs agree by every method, and on the CPU and on another device."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.verify.checks import Check, at_most, not_checked
from simsuite.verify.linear.runs import FRAMES, UNIT, Note, Outcome, kernels, label, methods, run

METHOD, DEVICE = "methods", "CPU and device"
PLAIN = ("step", "numba")
INPUTS: dict[str, float | str] = {
    "constant input": 1.0,
    "held input": "where(t % 5 < 2, 1, -0.5)",
    "moving input": "cos(t)",
}
SIZES = (5, 48, 100)
STEPS, BATCH = 100, 33


def method_checks(backend: Backend, cpu: Backend | None, note: Note) -> Iterator[Check]:
    """Checks of every method against `step`, and of the device against `cpu` where that is another device.

    The matrices are normal, so that nothing makes errors grow: two runs may differ by 2 k (n + 3) u |A|_F of the state.
    """
    ways = [(method, kernel) for method in methods() for kernel in kernels(backend)]
    if cpu is None:
        ways.remove(PLAIN)
    for size, precision, what in itertools.product(SIZES if ways else (), UNIT, INPUTS):
        limit = 2 * STEPS * (size + 3) * UNIT[precision] * size**0.5
        name, scenario = f"random, {size} x {size}, {what}", _scenario(size, INPUTS[what], precision)
        stepped = run(scenario, backend)
        elsewhere = None if cpu is None else run(scenario, cpu)
        for method, kernel in ways:
            way = label(name, precision, method, kernel)
            asked = {"run": {"precision": precision, "kernel": kernel}, "time": {**scenario["time"], "method": method}}
            try:
                found = run({**scenario, **asked}, backend)
            except ScenarioError as refusal:
                note(not_checked(way, refusal))
                continue
            if (method, kernel) != PLAIN:
                yield at_most(way, METHOD, difference(stepped, found), limit)
            if elsewhere is not None:
                yield at_most(way, DEVICE, difference(elsewhere, found), limit)


def difference(one: Outcome, other: Outcome) -> float:
    """The largest difference at any frame, in the Frobenius norm, as a share of the largest state."""
    scale = max(float(np.linalg.norm(X)) for X in one.states.values())
    return max(float(np.linalg.norm(X - other.states[k])) for k, X in one.states.items()) / scale


def _scenario(size: int, inputs: float | str, precision: str) -> dict[str, Any]:
    return {
        "solver": "linear",
        "run": {"precision": precision, "kernel": "numba"},
        "system": {
            "kind": "continuous",
            "matrix": {"generator": "random_stable", "size": size, "radius": 0.98},
            "input_matrix": [[1.0 + i % 3] for i in range(size)],
            "input": [inputs],
        },
        "initial": {"state": {"random": "normal", "batch": BATCH}},
        "time": {"steps": STEPS, "dt": 0.2, "method": "step"},
        "output": {"frames": FRAMES},
    }
