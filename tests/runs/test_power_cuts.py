"""What is left of a run when the power fails: every state that a disk may be in is opened and continued."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from faults.disk import Recording, record
from running import assert_same_bits, call, no_hang
from test_checkpoint import is_state
from test_resume import SCENARIOS, write

from simsuite.io.checkpoint import read_checkpoint

TESTS = Path(__file__).parents[1]
CHECKPOINTS = """
import sys
sys.path[:0] = sys.argv[2], sys.argv[3]
import test_checkpoint as t
from pathlib import Path
for step in range(1, 5):
    t.write_checkpoint(Path(sys.argv[1]), t.state(step, 2000), {"time": step}, {})
"""
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="the recorder of writes needs a C compiler")
RUNS: dict[str, dict[str, Any]] = {  # with many rows and some checkpoints
    "heat": {"time.end": 0.3, "output.checkpoint_every": 30},
    "heat adi": {"time.end": 0.1, "output.checkpoint_every": 8, "output.compression": "lossless"},
    "gbm": {"output.checkpoint_every": 20},
    "linear": {"output.checkpoint_every": 250},
}
LASTING = "output.checkpoint_every=0"


def recorded(tmp_path: Path, *command: str | Path) -> Recording:
    """What a Python program does to the files in the directory "recorded", which is to be its first argument."""
    root = tmp_path / "recorded"
    root.mkdir()
    return record([str(word) for word in command], root, tmp_path)


def test_a_checkpoint_that_was_written_survives_a_power_cut(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "-c", CHECKPOINTS, tmp_path / "recorded", TESTS, TESTS.parent)
    chance, written = random.Random(1), 0
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


@pytest.mark.parametrize("cuts", [5, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("solver", RUNS)
def test_a_run_goes_on_after_a_power_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], solver: str, cuts: int
) -> None:
    """To the bits of a run that was never cut off; and nothing that looks at what is left hangs or crashes."""
    path = write(tmp_path / "s.toml", SCENARIOS[solver], RUNS[solver] | {"run.device": "cpu"})
    whole, chance, left = tmp_path / "recorded", random.Random(solver), tmp_path / "left"
    recording = recorded(tmp_path, "-m", "simsuite", "run", path, "-q", "-o", whole)
    continued = 0
    for cut in range(cuts):
        left.mkdir()
        recording.after_cut(chance.randrange(len(recording.operations)) + 1, chance, left)
        with no_hang():
            looks = (["info", left, "--json"], ["plot", left, "-o", tmp_path / "plot.png"])
            for command in looks if cut < 2 else looks[:1]:  # to draw takes longer than all the rest
                looked = call(capsys, *command)
                assert looked.returncode in (0, 1, 2), looked.stderr
                assert "Traceback" not in looked.stderr
            resumable = read_checkpoint(left) is not None
            command = ["resume", left] if resumable else ["run", path, "-o", left, "--set", LASTING]
            rest = call(capsys, *command)
        assert rest.returncode == 0, rest.stderr
        assert (f"continuing {left}" in rest.stderr or "finished" in rest.stderr) == resumable
        continued += f"continuing {left}" in rest.stderr
        assert_same_bits(left / "results.h5", whole / "results.h5")
        shutil.rmtree(left)
    assert continued > cuts // 3
