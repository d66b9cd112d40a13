"""How much a first run compiles, with nothing in the cache: functions are counted, as times depend on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[1] / "scenarios"
MOST = {"gbm": 25, "gbm_sobol": 40}  # functions that Numba compiles, its own among them


@pytest.mark.parametrize("name", MOST)
def test_a_first_run_compiles_few_functions(name: str, tmp_path: Path) -> None:
    """Functions that a scenario does without are not compiled. A `procedure` counts as part of its kernel."""
    scenario = SCENARIOS / f"{name}.toml"
    command = [sys.executable, "-m", "simsuite.bench.start.once", str(scenario), str(tmp_path / "run"), "cpu"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, repr(time.monotonic())], env=environment, capture_output=True, text=True, check=True
    )
    compiled = json.loads(done.stdout.splitlines()[-1])["compiled"]
    assert 5 < compiled <= MOST[name]
