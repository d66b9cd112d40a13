"""Rows that go from process to process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from shared_runs import HERE, finished, started, with_mpi

from simsuite.communication.communicator import ALONE, Halos, neighbours


@with_mpi
@pytest.mark.parametrize("processes", [2, 3])
def test_rows_come_to_the_right_ends(tmp_path: Path, processes: int) -> None:
    """Two processes in a ring are neighbours on both sides."""
    done = finished(started(processes, [str(HERE / "rows.py"), "cpu"], tmp_path))
    assert (done.code, done.out) == (0, "[]\n"), done


@with_mpi
@pytest.mark.gpu
def test_rows_come_to_the_right_ends_of_gpus(tmp_path: Path) -> None:
    cupy = pytest.importorskip("cupy")
    gpus = cupy.cuda.runtime.getDeviceCount()
    if gpus < 2:
        pytest.skip("needs two GPUs")
    done = finished(started(min(gpus, 4), [str(HERE / "rows.py"), "cuda"], tmp_path))
    assert (done.code, done.out) == (0, "[]\n"), done


def test_a_process_alone_is_its_own_neighbour_in_a_ring() -> None:
    rows = np.arange(8.0)[:, None].copy()
    ALONE.exchange(Halos(rows[1:2], rows[6:7], rows[:1], rows[7:]), None, None)
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    ALONE.exchange(Halos(rows[1:2], rows[6:7], rows[:1], rows[7:]), 0, 0)
    assert rows[:, 0].tolist() == [6, 1, 2, 3, 4, 5, 6, 1]
    assert neighbours(0, 3, True) == (2, 1)
    assert neighbours(2, 3, False) == (1, None)
