"""How much temporal blocking gains on a CPU: the explicit step in tiles beside the step of one pass over the field.

    python -m simsuite.bench.heat_cpu [--sizes 1024,4096]

Both take turns in one process, and must leave the same bits in field and ledger. No kernel that takes one step a pass
can beat the device's own copy: `of_copy` is the rate in units of the copy rate.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from simsuite.backends import open_backend
from simsuite.bench.effort import FULL
from simsuite.bench.machine import copy_rate
from simsuite.bench.plates import Plate
from simsuite.core import Backend
from simsuite.solvers.heat.operator.edge_table import EdgeTable

ROUNDS = 15


def measure(backend: Backend, n: int, precision: str, copy: float) -> dict[str, Any]:
    """The cell-steps a second of both kernels on n × n cells. Raises AssertionError where their results differ."""
    problem = Plate(n, precision).problem()
    table = EdgeTable(problem.made, problem.clock, backend, precision)
    kernels = backend.kernels("simsuite.solvers.heat.explicit.explicit")
    kernel, _, _, depth = kernels.choose(n, n)
    T = np.random.default_rng(n).random((n, n)).astype(precision)
    ledgers = [np.zeros(4 * n, precision) for _ in range(2)]
    fields = [T.copy(), np.empty_like(T)]
    out = np.empty_like(T)
    rx, q = T.dtype.type(0.2), T.dtype.type(1.0)

    def passes() -> None:
        for k in range(depth):
            kernels.step(fields[k % 2], fields[(k + 1) % 2], table.flat, table.at(k), ledgers[0], rx, q, False, False)

    def blocked() -> None:
        kernel(T, out, table.flat, table.at(0), ledgers[1], rx, q, False, False, table.at(1) - table.at(0), depth)

    times: dict[str, list[float]] = {}
    for work in (passes, blocked):
        work()
        times[work.__name__] = []
    assert fields[depth % 2].tobytes() == out.tobytes(), f"{precision} {n}: fields differ"
    assert ledgers[0].tobytes() == ledgers[1].tobytes(), f"{precision} {n}: ledgers differ"
    for _ in range(ROUNDS):
        for work in (passes, blocked):
            began = time.perf_counter()
            work()
            times[work.__name__].append((time.perf_counter() - began) / depth)
    light = copy / (2 * T.itemsize)
    found: dict[str, Any] = {"n": n, "precision": precision, "depth": depth}
    for name, all_ in times.items():
        rate = n * n / statistics.median(all_)
        found[name] = {"rate": rate, "best": n * n / min(all_), "of_copy": rate / light}
    gains = [a / b for a, b in zip(times["passes"], times["blocked"])]
    return found | {"gain": statistics.median(gains), "gain_of_bests": min(times["passes"]) / min(times["blocked"])}


def main() -> None:
    """Print a JSON object on each line: first the copy rate, then each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="256,1024,4096")
    backend = open_backend("cpu")
    arguments = parser.parse_args()
    copy = copy_rate(backend, 1 << 28, FULL.patience)
    print(json.dumps({"device_name": backend.device_name, "copy_bytes_per_second": copy}))
    for n in map(int, arguments.sizes.split(",")):
        for precision in ("float64", "float32"):
            print(json.dumps(measure(backend, n, precision, copy)), flush=True)


if __name__ == "__main__":
    main()
