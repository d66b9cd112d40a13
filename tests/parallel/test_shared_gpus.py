"""Results of runs that processes share on GPUs: those of one process and one GPU, bit for bit. Two processes of this
test share one GPU, and exchange over the host; where there are several GPUs, each has its own, and NCCL."""

from __future__ import annotations

from pathlib import Path

import pytest
from plates import PLATES
from scenarios import SCENARIOS
from shared_runs import commands, require_same, with_mpi
from test_shared_plates import lines

from simsuite.backends.cuda import count_gpus
from simsuite.core import Backend

pytestmark = [
    with_mpi,
    pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True),
]
ON_GPUS = ["--device", "cuda"]
ALONE_ONLY = ("exact", "exact, few rows")  # plates that several GPUs do not share
PARTS = 4  # of the scenarios and plates, as kernels take long to compile


def written(directory: Path, part: int) -> list[list[str]]:
    """A command line for each scenario and plate of a part of those that GPUs can share."""
    plates = lines(directory / "plates", [name for name in PLATES if name not in ALONE_ONLY][part::PARTS])
    scenarios = list(SCENARIOS.values())[part::PARTS]
    for i, text in enumerate(scenarios):
        (directory / str(i)).mkdir()
        (directory / str(i) / "x.toml").write_text(text, encoding="utf-8")
    others = [[str(directory / str(i)), "run", "x.toml", "-o", "run", "-q"] for i in range(len(scenarios))]
    return [[*line, *ON_GPUS] for line in (*others, *plates)]


@pytest.mark.parametrize("part", range(PARTS))
def test_all_have_the_bits_of_one_gpu(part: int, tmp_path: Path, backend: Backend) -> None:
    gpus = count_gpus()
    alone = written(tmp_path / "alone", part)
    ways = [("one", 2, {"ONE_GPU": "1"})] + [(str(n), n, {}) for n in (2, 3, 4) if n <= gpus]
    codes, done = commands(1, alone, tmp_path)
    assert codes == [0] * len(alone), done
    for name, processes, environment in ways:
        shared = written(tmp_path / name, part)
        codes, done = commands(processes, shared, tmp_path, environment)
        assert codes == [0] * len(shared), done
        for (ours, *_), (others, *_) in zip(shared, alone):
            require_same(Path(ours) / "run", Path(others) / "run")


def test_exact_steps_are_not_shared(tmp_path: Path, backend: Backend) -> None:
    shared = [[*line, *ON_GPUS] for line in lines(tmp_path, list(ALONE_ONLY))]
    codes, done = commands(2, shared, tmp_path, {"ONE_GPU": "1"})
    assert codes == [2] * len(shared), done
    assert "several GPUs cannot share exact steps" in done.err
