"""How much a first run compiles, with nothing in the cache, and what runs import: counts, as times depend on the
machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sm90 import others_long

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MOST = {  # functions that Numba compiles, its own among them
    "circuit_board": 46,
    "gbm": 25,
    "gbm_sobol": 40,
    "heat": 28,
    "heat_sine": 21,
    "lattice_walk": 10,
    "linear": 12,
    "markov": 12,
    "ornstein_uhlenbeck": 38,
    "rabi": 10,
}
MODULES = 1170  # that a run imports, the standard library's among them
UNUSED = {"xarray", "pandas", "sympy", "mpmath", "matplotlib", "IPython", "numba.cuda", "cupy"}


def test_every_scenario_that_is_shipped_has_its_bound() -> None:
    assert set(MOST) == {path.stem for path in SCENARIOS.glob("*.toml")}


@pytest.mark.parametrize("name", others_long(MOST, {"gbm", "heat", "linear"}))
def test_a_first_run_compiles_few_functions(name: str, tmp_path: Path) -> None:
    """Functions that a scenario does without are not compiled. A `procedure` counts as part of its kernel. One
    scenario of each solver; the others run with `make long`."""
    scenario = SCENARIOS / f"{name}.toml"
    command = [sys.executable, "-m", "simsuite.bench.start.once", str(scenario), str(tmp_path / "run"), "cpu"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, repr(time.monotonic())], env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert 5 < found["compiled"] <= MOST[name]
    assert 300 < found["modules"] <= MODULES
    assert not UNUSED & set(found["packages"])
