"""A few cases of each campaign of faults; `make faults` runs thousands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SIMULATING
from faults.loop_disk import available
from shared_runs import has_mpi

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="the library that makes operations fail needs a C compiler"),
    pytest.mark.skipif(SIMULATING, reason="no kernel is involved"),
]
WITH_MPI = {"shared_kills": 1, "shared_errors": 1}
COUNTS = {"kills": 2, "cuts": 2, "errors": 2, "damage": 2, "decay": 2, "storms": 1, "strangers": 50}


def test_no_case_of_a_campaign_is_bad(tmp_path: Path) -> None:
    counts = COUNTS | ({"snapshots": 2} if available() else {}) | (WITH_MPI if has_mpi() else {})
    words = [f"{name}={count}" for name, count in counts.items()]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-m", "faults", *words, "--work", str(tmp_path)],
        cwd=Path(__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for name, count in counts.items():
        assert re.search(rf"^{name}: {count} cases, seed 1, 0 bad", ended.stdout, re.MULTILINE), ended.stdout
