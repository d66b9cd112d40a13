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

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="the library that makes operations fail needs a C compiler"),
    pytest.mark.skipif(SIMULATING, reason="no kernel is involved"),
]
COUNTS = {"kills": 12, "cuts": 8, "errors": 12, "damage": 12, "decay": 12, "storms": 4, "strangers": 200}


@pytest.mark.parametrize("campaign", COUNTS)
def test_no_case_of_a_campaign_is_bad(tmp_path: Path, campaign: str) -> None:
    command = [sys.executable, "-m", "faults", campaign, "--count", COUNTS[campaign], "--work", tmp_path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    tests = Path(__file__).parent
    ended = subprocess.run([*map(str, command)], cwd=tests, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(rf"^{campaign}: {COUNTS[campaign]} cases, seed 1, 0 bad", ended.stdout, re.MULTILINE), ended.stdout
