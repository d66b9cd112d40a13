"""What is left of a run when the power fails: every state that a disk may be in is opened and continued."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from faults.disk import Recording, record
from test_checkpoint import is_state

from simsuite.io.checkpoint import read_checkpoint

TESTS = Path(__file__).parent
CHECKPOINTS = """
import sys
sys.path[:0] = sys.argv[2], sys.argv[3]
import test_checkpoint as t
from pathlib import Path
for step in range(1, 5):
    t.write_checkpoint(Path(sys.argv[1]), t.state(step, 2000), {"time": step}, {})
"""
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="the recorder of writes needs a C compiler")


def recorded(tmp_path: Path, code: str) -> Recording:
    root = tmp_path / "recorded"
    root.mkdir()
    return record(["-c", code, str(root), str(TESTS), str(TESTS.parent)], root, tmp_path)


def test_a_checkpoint_that_was_written_survives_a_power_cut(tmp_path: Path) -> None:
    recording, chance = recorded(tmp_path, CHECKPOINTS), random.Random(1)
    written = 0
    for moment, operation in enumerate(recording.operations):
        written += operation.kind == "s" and recording.operations[moment - 1].data == str(recording.root).encode()
        for sample in range(6):
            left = tmp_path / f"{moment}-{sample}"
            left.mkdir()
            recording.after_cut(moment + 1, chance, left)
            found = read_checkpoint(left)
            assert (found is None) <= (written == 0)
            if found is not None:
                assert found.note is None
                assert found.snapshot.step in (written, written + 1)
                assert is_state(found, found.snapshot.step, 2000)
            shutil.rmtree(left)
    assert written == 4
