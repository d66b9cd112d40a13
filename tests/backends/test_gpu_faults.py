"""Runs on a real GPU that are killed, or whose GPU fails: nothing but the time since the last checkpoint is lost.

`pytest -m "gpu and long"`: some minutes, most of which go by while processes start.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from running import assert_same_bits, finish, polls, start_python

from simsuite.backends.failures import gpu_failure
from simsuite.core import Backend
from simsuite.io.checkpoint import read_checkpoint

CASES: dict[str, dict[str, Any]] = {  # some seconds each, most of them for checkpoints
    "heat": {
        "solver": "heat",
        "grid": {"nx": 600, "ny": 500},
        "material": {"conductivity": "1 + x", "density": 1.0, "specific_heat": 1.0},
        "initial": {"temperature": "sin(9*x)*cos(7*y)"},
        "boundary": {"left": {"kind": "temperature", "value": "where(t < 0.05, 1, cos(90*t))"}},
        "source": [{"power": "30*sin(400*t)*x + 4*(1 - T)"}],
        "time": {"end": 0.1, "tolerance": 1e-4},
        "output": {"frames": 9, "checkpoint_every": 2},
    },
    "gbm": {
        "solver": "gbm",
        "run": {"seed": 5},
        "market": {"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
        "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}, {"name": "B", "spot": 50.0, "volatility": 0.4}],
        "time": {"end": 1.0, "steps": 200},
        "paths": {"count": 307_200, "batch": 102_400},
        "option": [{"name": "asian", "style": "asian", "asset": "B", "payoff": "put", "strike": 50.0, "fixings": 6}],
        "output": {"frames": 11, "store_paths": 20, "checkpoint_every": 2},
    },
    "linear": {
        "solver": "linear",
        "run": {"seed": 3},
        "system": {
            "kind": "continuous",
            "matrix": {"generator": "springs", "masses": 40, "stiffness": 400.0, "damping": 0.05},
        },
        "initial": {"state": {"random": "normal", "batch": 300}},
        "time": {"steps": 30_000, "dt": 0.001},
        "output": {"frames": 31, "checkpoint_every": 150},
    },
}
KILLS = 17  # of each
RUN = "from simsuite.cli import main; main()"
# Runs the command line; once there is a checkpoint, a kernel writes where there is no memory.
FAILING = """
import sys, threading, time
from pathlib import Path

def fail():
    while not (Path("failed") / "checkpoint.previous.h5").exists():
        time.sleep(0.002)
    time.sleep(0.05)
    import cupy
    with cupy.cuda.Device(0):
        kernel = cupy.RawKernel('extern "C" __global__ void bad(long p) { *(int*)p = 1; }', "bad")
        kernel((1,), (1,), (8,))

threading.Thread(target=fail, daemon=True).start()
from simsuite.cli import main
main()
"""


def write(directory: Path, name: str) -> Path:
    path = directory / "case.toml"
    path.write_text(tomli_w.dumps(CASES[name]), encoding="utf-8")
    return path


@pytest.mark.gpu
@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_killed_runs_end_with_the_bits_of_a_whole_one(tmp_path: Path, cuda: Backend, name: str) -> None:
    """At random moments from the first checkpoint on, again and again until it ends, and then from the beginning."""
    path, rng, kills = write(tmp_path, name), random.Random(name), 0
    run = ("run", path, "--device", "cuda", "-o")
    whole = start_python(RUN, *run, "whole", cwd=tmp_path)
    first = began = time.monotonic()
    for _ in polls(whole):
        if first == began and (tmp_path / "whole" / "checkpoint.h5").exists():
            first = time.monotonic()
    lasts = time.monotonic() - first
    assert finish(whole).returncode == 0
    rounds = 0
    while kills < KILLS:
        rounds += 1
        parts = tmp_path / f"parts{rounds}"
        for _ in range(KILLS):
            seen = parts.joinpath("checkpoint.h5").stat().st_mtime_ns if (parts / "checkpoint.h5").exists() else 0
            process = start_python(RUN, *run, parts, cwd=tmp_path)
            for _ in polls(process):
                if (parts / "checkpoint.h5").exists() and (parts / "checkpoint.h5").stat().st_mtime_ns != seen:
                    time.sleep(rng.uniform(0.0, 0.4 * lasts))
                    break
            process.kill()
            done = finish(process)
            kills += done.returncode == -signal.SIGKILL
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
            if done.returncode == 0:
                break
        else:
            assert finish(start_python(RUN, *run, parts, cwd=tmp_path)).returncode == 0
        assert_same_bits(parts / "results.h5", tmp_path / "whole" / "results.h5")


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_a_gpu_that_fails_leaves_the_checkpoint(tmp_path: Path, cuda: Backend, name: str) -> None:
    path = write(tmp_path, name)
    assert finish(start_python(RUN, "run", path, "--device", "cuda", "-o", "whole", cwd=tmp_path)).returncode == 0
    failed = finish(start_python(FAILING, "run", path, "--device", "cuda", "-o", "failed", cwd=tmp_path))
    assert failed.returncode == 4, failed.stderr
    assert "Traceback" not in failed.stderr
    assert "cuda:0 failed: " in failed.stderr
    assert "is safe" in failed.stderr
    found = read_checkpoint(tmp_path / "failed")
    assert found is not None
    assert found.note is None
    info = finish(start_python(RUN, "info", "failed", "--json", cwd=tmp_path))
    assert '"failed"' in info.stdout
    assert finish(start_python(RUN, "run", path, "--device", "cuda", "-o", "failed", cwd=tmp_path)).returncode == 0
    assert_same_bits(tmp_path / "failed" / "results.h5", tmp_path / "whole" / "results.h5")


class CUDARuntimeError(RuntimeError):
    """Looks like CuPy's."""


CUDARuntimeError.__module__ = "cupy_backends.cuda.api.runtime"


def test_errors_of_a_gpu_are_known_by_their_library() -> None:
    error = CUDARuntimeError("cudaErrorIllegalAddress:\n an illegal memory access was encountered")
    assert gpu_failure(error) == "cudaErrorIllegalAddress: an illegal memory access was encountered"
    assert gpu_failure(CUDARuntimeError("cudaErrorInvalidValue: invalid argument")) is None
    assert gpu_failure(RuntimeError("cudaErrorIllegalAddress")) is None
    assert gpu_failure(MemoryError()) is None
