"""Rates of the explicit heat step beside the speed of light of one pass over the field.

    python -m simsuite.bench.heat [--device cuda] [--sizes 256,16384]

A step has to read and write every cell once, so no kernel that takes one step a pass can beat the device's own copy.
Every rate is of a grid with four different kinds of edges, and every kernel is checked against float64 NumPy first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.backends import open_backend
from simsuite.bench.timing import copy_rate, seconds
from simsuite.core import Backend, Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

EDGES = {
    "left": {"kind": "temperature", "value": 1.0},
    "right": {"kind": "flux", "value": 0.5},
    "bottom": {"kind": "convection", "h": 2.0, "ambient": 0.5},
    "top": {"kind": "insulated"},
}


def plate(n: int, precision: str) -> HeatProblem:
    """n × n cells of width 1 and diffusivity 1, with steps enough for any measurement."""
    scenario = {
        "solver": "heat",
        "run": {"precision": precision},
        "grid": {"nx": n, "ny": n, "lx": float(n), "ly": float(n)},
        "material": {"diffusivity": 1.0},
        "boundary": EDGES,
        "time": {"end": 2e8, "dt": 0.2, "stepper": "explicit"},
        "output": {"frames": 2},
    }
    return HeatProblem.from_scenario(HeatScenario.model_validate(scenario), Path())


def check(T: np.ndarray, got: np.ndarray) -> float:
    """Largest relative deviation of one step from float64 NumPy, edges included."""
    T = T.astype(np.float64)
    w = np.pad(T, ((0, 0), (1, 0)))[:, :-1]
    e = np.pad(T, ((0, 0), (0, 1)))[:, 1:]
    s = np.pad(T, ((1, 0), (0, 0)))[:-1]
    n = np.pad(T, ((0, 1), (0, 0)))[1:]
    w[:, 0] = 2.0 - T[:, 0]
    e[:, -1] = T[:, -1] + 0.5
    s[0] = (2.0 * 2.0 * 0.5 + (2.0 - 2.0) * T[0]) / (2.0 + 2.0)
    n[-1] = T[-1]
    want = T + 0.2 * (w + e + s + n - 4 * T)
    return float(np.max(np.abs(got - want)) / np.max(np.abs(want)))


def measure(backend: Backend, n: int, precision: str, copy: float) -> dict[str, Any]:
    """The rate of the step on n × n cells. Raises AssertionError when the kernel computes something else."""
    problem = plate(n, precision)
    T = np.random.default_rng(n).random((n, n)).astype(precision)
    start = Snapshot(0, {**problem.initial().arrays, "temperature": T})
    stepper = problem.stepper(backend, start)
    stepper.advance(1)
    error = check(T, backend.to_host(stepper.state["temperature"]))
    assert error < 4 * np.finfo(precision).eps, f"{precision} {n}: off by {error}"
    step = seconds(backend, lambda k: stepper.advance(64 * k)) / 64
    light = copy / (2 * T.itemsize)
    return {
        "n": n,
        "precision": precision,
        "microseconds_per_step": step * 1e6,
        "rate": n * n / step,
        "one_pass_limit": light,
        "fraction": n * n / step / light,
        "largest_error": error,
    }


def main() -> None:
    """Print one JSON object a line: the copy rate, then each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sizes", default="256,1024,4096,16384")
    arguments = parser.parse_args()
    backend = open_backend(arguments.device)
    copy = copy_rate(backend, min(1 << 32, backend.memory_free() // 16))
    print(json.dumps({"device": backend.name, "device_name": backend.device_name, "copy_bytes_per_second": copy}))
    for n in map(int, arguments.sizes.split(",")):
        for precision in ("float64", "float32"):
            print(json.dumps(measure(backend, n, precision, copy)), flush=True)


if __name__ == "__main__":
    main()
