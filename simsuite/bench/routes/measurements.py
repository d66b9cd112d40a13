"""`simsuite bench routes`: every road to CUDA on the same three problems, each in a process of its own with empty
caches of compiled kernels, beside simsuite's own kernel, a tutorial's, and the limit of the device.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simsuite.routes
from simsuite.bench import effort
from simsuite.bench.findings import Found, Row, Wish, gathered, require_right
from simsuite.bench.machine import measure_machine
from simsuite.bench.routes.best import best_of
from simsuite.bench.routes.once import TUTORIAL
from simsuite.bench.routes.reference import plate, stepped_plate
from simsuite.bench.routes.workloads import LARGE, QUICK
from simsuite.core import Backend
from simsuite.errors import SimsuiteError
from simsuite.routes.roads import FUNCTIONS, Road, roads_of

PARTS = {name: (name,) for name in FUNCTIONS}
TIMEOUT = 120  # seconds for a road
_CACHES = ("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME")


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """(problem, row) for all roads, as they are done; the first row is the machine's. Raises SimsuiteError with the
    last line of a road that fails."""
    machine = measure_machine(backend, effort.PRECISIONS, effort.QUICK.patience)
    yield "machine", {"copy_bytes_per_second": machine.copy, "fma_per_second": dict(machine.fma)}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "plate.npy", plate())
        np.save(Path(folder) / "stepped.npy", stepped_plate())
        for problem in FUNCTIONS:
            if not wish.wants(problem):
                continue
            sizes = dict(zip(("cuda", "cpu"), (QUICK if wish.quick else LARGE)[problem]))
            best = best_of(problem, backend, machine, sizes[backend.dialect])
            own: Row = {"road": "simsuite", "library": "", "right": True, "largest_error": 0.0}
            yield problem, own | ({"rate": best["rate"], "times_slower": 1.0} if best["rate"] else {})
            for road in (*roads_of(problem), *_tutorial(problem)):
                row: Row = {"road": road.name, "library": road.library, "lines": lines_of(problem, road)}
                if road.on_gpu and not backend.compiles:
                    yield problem, row | {"skipped": "there is no NVIDIA GPU"}
                    continue
                kind = "cuda" if road.on_gpu else "cpu"
                found = _once(problem, road, kind, sizes[kind], folder, backend)
                yield problem, row | found | (_compared(found, best) if kind == backend.dialect else {})


def _tutorial(problem: str) -> Iterator[Road]:
    yield Road(TUTORIAL, "Numba", {problem: ""})


def _compared(row: Row, best: Row) -> Row:
    """A rate beside the limit and beside simsuite's own."""
    if not row.get("rate"):
        return {}
    limits = {"of_limit": row["rate"] / best["limit"]} if best["limit"] else {}
    own = {"times_slower": best["rate"] / row["rate"]} if best["rate"] else {}
    return {"rate": row["rate"], **limits, **own}


def lines_of(problem: str, road: Road) -> int:
    """The lines of code of a road, with those of the C++ that it compiles; comments and docstrings do not count."""
    if road.name == TUTORIAL:
        return 0
    folder = Path(simsuite.routes.__file__).parent / problem
    text = (folder / f"{road.modules[problem]}.py").read_text(encoding="utf-8")
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    own = [line for k, line in enumerate(text.splitlines(), 1) if k not in docstrings]
    sources = [(folder / name).read_text(encoding="utf-8").splitlines() for name in re.findall(r'"(\w+\.cu)"', text)]
    return sum(bool(line.strip()) and not line.strip().startswith(("#", "//")) for line in sum(sources, own))


def _once(problem: str, road: Road, kind: str, size: int, folder: str, backend: Backend) -> dict[str, Any]:
    device = backend.name if kind == backend.dialect else kind
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | dict.fromkeys(_CACHES, cache)
        command = [sys.executable, "-m", "simsuite.bench.routes.once", problem, road.name, device, str(size), folder]
        try:
            done = subprocess.run(
                [*command, repr(time.monotonic())],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return {"skipped": f"it took longer than {TIMEOUT} s"}
    if done.returncode != 0:
        raise SimsuiteError(f"{problem} by {road.name} fails: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def document(backend: Backend, wish: Wish, found: Found) -> dict[str, Any]:
    """The document of all measurements, for --json and bench.json."""
    return gathered("routes", PARTS, backend, wish, found)


def require(found: Found) -> None:
    """Raise VerificationFailure (exit code 5) if any road gives a wrong answer."""
    require_right(found, described)


def described(row: Row) -> str:
    """Which road a row is about."""
    return str(row["road"])
