"""Measurements of whole runs in processes of their own, one after the other. `once` explains what
is measured of each.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsuite.errors import SimsuiteError

TEMPLATES = Path(__file__).parents[2] / "templates"
WARM_RUNS = 5
_CACHES = ("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
COMPUTE = "while True: pass"
Row = dict[str, Any]


@dataclass(frozen=True)
class StartWish:
    """What is to be measured. scenarios: files. device: as in `run.device`. cold: whether first runs, with an empty
    cache, are measured too. busy: whether another process computes on every core meanwhile.
    """

    scenarios: Sequence[Path]
    device: str
    cold: bool
    busy: bool


def templates() -> list[Path]:
    """The scenarios that `simsuite new` writes."""
    return sorted(TEMPLATES.glob("*.toml"))


def measurements(wish: StartWish) -> Iterator[Row]:
    """A row for each scenario and state of the cache: with `cold` one of a first run, and always one of the medians of
    WARM_RUNS later runs. Raises SimsuiteError with the message of a run that fails.
    """
    with _others(os.cpu_count() or 1 if wish.busy else 0):
        for scenario in wish.scenarios:
            if wish.cold:
                with tempfile.TemporaryDirectory() as cache:
                    yield _row(scenario, "empty", wish, [_once(scenario, wish.device, cache)])
            _once(scenario, wish.device, None)
            yield _row(scenario, "full", wish, [_once(scenario, wish.device, None) for _ in range(WARM_RUNS)])


def _row(scenario: Path, cache: str, wish: StartWish, runs: Sequence[Row]) -> Row:
    numbers = {
        name: statistics.median(run[name] for run in runs)
        for name, value in runs[0].items()
        if isinstance(value, float | int)
    }
    words = {name: value for name, value in runs[0].items() if isinstance(value, str)}
    return {"scenario": scenario.stem, "cache": cache, "busy": wish.busy, "runs": len(runs), **numbers, **words}


def _once(scenario: Path, device: str, cache: str | None) -> Row:
    environment = os.environ | (dict.fromkeys(_CACHES, cache) if cache is not None else {})
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "simsuite.bench.start.once", str(scenario), directory, device]
        command.append(repr(time.monotonic()))
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SimsuiteError(f"{scenario} does not run: {run.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(run.stdout.splitlines()[-1]))


@contextlib.contextmanager
def _others(count: int) -> Iterator[None]:
    """Run `count` other processes that compute all the time."""
    running = [subprocess.Popen([sys.executable, "-c", COMPUTE]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
