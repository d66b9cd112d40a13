"""Programs that run kernels for CUDA in Numba's simulator, which is chosen when Numba is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def assert_right(program: str, argument: Any) -> None:
    """A program that prints "right" at its end; argument: what it finds as JSON in `sys.argv`."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(argument)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "right", done.stderr[-3000:]
