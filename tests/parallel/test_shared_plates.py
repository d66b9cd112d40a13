"""Results and checkpoints of plates that several processes share: those of one process, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from plates import PLATES
from shared_runs import commands, contents, faulty, require_same, simsuite, with_mpi

from simsuite.solvers.heat.plan import TICKS

pytestmark = with_mpi
RUN = ["run", "x.toml", "-o", "run", "-q"]


def lines(directory: Path, names: list[str]) -> list[list[str]]:
    """A command line for each of these plates, whose files are written to directories of this one."""
    marks = Image.fromarray(np.where(np.random.default_rng(3).random((9, 7)) < 0.4, 255, 0).astype(np.uint8))
    for i, name in enumerate(names):
        (directory / str(i)).mkdir(parents=True)
        (directory / str(i) / "x.toml").write_text(PLATES[name], encoding="utf-8")
        marks.save(directory / str(i) / "marks.png")
    return [[str(directory / str(i)), *RUN] for i in range(len(names))]


def require_bits_of_one(directory: Path, names: list[str], counts: tuple[int, ...]) -> None:
    for processes in (1, *counts):
        codes, done = commands(processes, lines(directory / str(processes), names), directory)
        assert codes == [0] * len(names), done
    for i in range(len(names)):
        for processes in counts:
            require_same(directory / str(processes) / str(i) / "run", directory / "1" / str(i) / "run")


def test_two_processes_have_the_bits_of_one(tmp_path: Path) -> None:
    require_bits_of_one(tmp_path, ["controlled"], (2,))


@pytest.mark.parametrize("some", range(4))
def test_all_plates_have_the_bits_of_one_process(tmp_path: Path, some: int) -> None:
    require_bits_of_one(tmp_path, list(PLATES)[some::4], (2, 3, 4))


def test_a_plate_without_a_named_stepper_is_shared(tmp_path: Path) -> None:
    """The one of the README, on a coarser grid."""
    plate = (Path(__file__).parents[2] / "scenarios/heat.toml").as_posix()
    words = ["run", plate, "-o", "run", "-q", "--device", "cpu", "--set", "grid.nx=41", "--set", "grid.ny=23"]
    words += ["--set", "output.checkpoint_minutes=1e5"]
    for processes in (1, 4):
        (tmp_path / str(processes)).mkdir()
        assert simsuite(processes, words, tmp_path / str(processes)).code == 0
    require_same(tmp_path / "1/run", tmp_path / "4/run")


@pytest.mark.parametrize(
    ("name", "steps"), [("controlled", (TICKS, 3 * TICKS)), ("rkl2", (1, 2)), ("adi ring", (5, 12))]
)
def test_a_stopped_plate_goes_on_with_another_number_of_processes(
    tmp_path: Path, name: str, steps: tuple[int, int]
) -> None:
    (alone,), (shared,) = lines(tmp_path / "alone", [name]), lines(tmp_path / "shared", [name])
    assert simsuite(1, RUN, Path(alone[0])).code == 0
    for processes, step in zip((3, 2), steps):
        done = faulty(processes, [processes - 1, "term", step], RUN, Path(shared[0]))
        assert done.code == 75, done
    done = simsuite(4, ["resume", "run", "--json"], Path(shared[0]))
    assert done.code == 0, done
    summary = json.loads(done.out)
    assert (summary["processes"], summary["resumed"]) == (4, True)
    ours, others = (contents(Path(line[0]) / "run") for line in (shared, alone))
    names = [name for name in others if name.startswith("results.h5/")]  # only one of them has been stopped
    assert [name for name in names if ours[name] != others[name]] == []
