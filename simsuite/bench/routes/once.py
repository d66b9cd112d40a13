"""One road in a process of its own: `python -m simsuite.bench.routes.once`.

Arguments: the problem, the road, the device ("cpu", "cuda:0"), the size of the large problem, the folder with what it
is checked against, and the time at which the process was begun, by the system's monotonic clock, s. Prints a JSON
object; times are in seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.bench.routes.workloads import WORK, Means
from simsuite.errors import LibraryMissing, SimsuiteError
from simsuite.routes.roads import FUNCTIONS, open_road

TUTORIAL = "tutorial"


def main(problem: str, road: str, device: str, size: int, folder: Path, spawned: float) -> dict[str, Any]:
    kind, _, number = device.partition(":")
    means = on_gpu(number) if kind == "cuda" else on_host()
    began = time.monotonic()
    function = opened(problem, road)
    work = WORK[problem](function, means, size, folder)
    loaded = time.monotonic()
    off, limit = work.small()
    answered = time.monotonic()
    again = []
    for _ in range(2):
        start = time.monotonic()
        work.small()
        again.append(time.monotonic() - start)
    row = {
        "first_answer": answered - spawned,
        "importing": loaded - began,
        "compiling": max(0.0, answered - loaded - min(again)),
        "largest_error": off,
        "error_limit": limit,
        "right": off <= limit,
    }
    if not row["right"]:
        return row
    if kind == "cuda":
        row["launch"] = work.launch()
    return row | {"rate": work.rate(), "size": size}


def opened(problem: str, road: str) -> Callable[..., Any]:
    """The function of a road, or of the tutorial's kernel."""
    if road != TUTORIAL:
        return open_road(problem, road)
    open_road("heat", "numba-cuda")
    function: Callable[..., Any] = getattr(
        importlib.import_module("simsuite.bench.routes.tutorials_cuda"), FUNCTIONS[problem]
    )
    return function


def on_host() -> Means:
    return (lambda array: array), (lambda array: array), (lambda: None)


def on_gpu(number: str) -> Means:
    """Functions that take an array to the GPU of this number, bring one of any library back, and wait."""
    if number:
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", number)
    import cupy

    cupy.zeros(1)

    def fetch(array: Any) -> np.ndarray:
        return np.asarray(cupy.asarray(array.detach() if hasattr(array, "detach") else array).get())

    return cupy.asarray, fetch, cupy.cuda.Device().synchronize


if __name__ == "__main__":
    what, name, device, size, folder, spawned = sys.argv[1:]
    try:
        print(json.dumps(main(what, name, device, int(size), Path(folder), float(spawned))))
    except LibraryMissing as reason:
        print(json.dumps({"skipped": str(reason)}))
    except SimsuiteError as reason:
        raise SystemExit(f"{type(reason).__name__}: {reason}") from reason
