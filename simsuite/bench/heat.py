"""Rates of the explicit heat step beside the speed of light of one pass over the field.

    python -m simsuite.bench.heat [--device cuda] [--sizes 256,16384]
    python -m simsuite.bench.heat --steppers explicit,rkl2,adi,exact [--sizes 1024,4096]

A step has to read and write every cell once, so no kernel that takes one step a pass can beat the device's own copy.
Every rate is of a grid with four different kinds of edges, and every kernel is checked against float64 NumPy first.
With --steppers the general kernels are timed, with a material that varies (exact: one that does not), a static source
and the same edges, and checked against the CPU; words are numbers read or written a cell at the device's copy rate.
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


def varied(n: int, precision: str, stepper: str) -> HeatProblem:
    """n × n cells of a material that varies, where the stepper allows it, with a source."""
    scenario = {
        "solver": "heat",
        "run": {"precision": precision},
        "grid": {"nx": n, "ny": n},
        "material": {"diffusivity": 1.0 if stepper == "exact" else "1 + 0.5*sin(9*x)*cos(7*y)"},
        "boundary": EDGES,
        "source": [{"power": "x"}],
        "time": {"end": 1e4, "stepper": stepper, "dt": 0.1 / n**2 if stepper == "explicit" else 10.0 / n**2},
        "output": {"frames": 2},
    }
    return HeatProblem.from_scenario(HeatScenario.model_validate(scenario), Path())


def off_from_cpu(backend: Backend, precision: str, stepper: str) -> float:
    """Largest relative deviation from the CPU after 8 steps of 200 × 200 cells of random temperatures."""
    problem, found = varied(200, precision, stepper), []
    T = np.random.default_rng(7).random((200, 200)).astype(precision)
    start = Snapshot(0, {**problem.initial().arrays, "temperature": T})
    for each in (backend, open_backend("cpu")):
        run = problem.stepper(each, start)
        run.advance(8)
        found.append(each.to_host(run.state["temperature"]).astype(np.float64))
    return float(np.max(np.abs(found[0] - found[1])) / np.max(np.abs(found[1])))


def measure_stepper(backend: Backend, n: int, precision: str, stepper: str, copy: float) -> dict[str, Any]:
    """The time of a step, of rkl2 that of a stage."""
    error = off_from_cpu(backend, precision, stepper)
    assert error < 1e4 * np.finfo(precision).eps, f"{stepper} {precision}: off by {error}"
    problem = varied(n, precision, stepper)
    run = problem.stepper(backend, problem.initial())
    run.advance(2)
    step = seconds(backend, run.advance) / max(1, problem.plan.stages)
    words = step * copy / (n * n * np.dtype(precision).itemsize)
    found = {"stepper": stepper, "n": n, "precision": precision, "milliseconds": step * 1e3, "words_per_cell": words}
    return found | {"off_from_cpu": error}


def main() -> None:
    """Print one JSON object a line: the copy rate, then each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sizes", default="256,1024,4096,16384")
    parser.add_argument("--steppers", default="")
    arguments = parser.parse_args()
    backend = open_backend(arguments.device)
    copy = copy_rate(backend, min(1 << 32, backend.memory_free() // 16))
    print(json.dumps({"device": backend.name, "device_name": backend.device_name, "copy_bytes_per_second": copy}))
    for n in map(int, arguments.sizes.split(",")):
        for precision in ("float64", "float32"):
            if not arguments.steppers:
                print(json.dumps(measure(backend, n, precision, copy)), flush=True)
            for stepper in filter(None, arguments.steppers.split(",")):
                print(json.dumps(measure_stepper(backend, n, precision, stepper, copy)), flush=True)


if __name__ == "__main__":
    main()
