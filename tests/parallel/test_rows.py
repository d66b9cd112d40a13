"""Rows that go from process to process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from shared_runs import HERE, finished, started, with_mpi

from simsuite.backends.cuda import count_gpus
from simsuite.communication.communicator import ALONE, Halos, neighbours
from simsuite.core import Backend

ON_A_GPU = pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)


@with_mpi
@pytest.mark.parametrize("processes", [2, 3])
def test_rows_come_to_the_right_ends(tmp_path: Path, processes: int) -> None:
    """Two processes in a ring are neighbours on both sides."""
    done = finished(started(processes, [str(HERE / "rows.py"), "cpu"], tmp_path))
    assert (done.code, done.out) == (0, "\n[]\n"), done


@with_mpi
@pytest.mark.parametrize(("device", "why"), [
    ("alike", "processes share a GPU, which NCCL refuses"),
    ("without", "process 2 has no NCCL"),
])  # fmt: skip
def test_rows_go_over_the_host_where_nccl_cannot_take_them(tmp_path: Path, device: str, why: str) -> None:
    done = finished(started(3, [str(HERE / "rows.py"), device], tmp_path))
    assert (done.code, done.out) == (0, f"GPUs exchange their arrays over the host, which is slow: {why}\n[]\n"), done


@with_mpi
@ON_A_GPU
def test_processes_that_share_a_gpu_exchange_over_the_host(tmp_path: Path, backend: Backend) -> None:
    done = finished(started(2, [str(HERE / "rows.py"), "one cuda"], tmp_path))
    assert done.code == 0, done
    assert done.out.endswith("processes share a GPU, which NCCL refuses\n[]\n"), done


@with_mpi
@ON_A_GPU
def test_rows_come_to_the_right_ends_of_gpus(tmp_path: Path, backend: Backend) -> None:
    if count_gpus() < 2:
        pytest.skip("needs two GPUs")
    done = finished(started(min(count_gpus(), 4), [str(HERE / "rows.py"), "cuda"], tmp_path))
    assert (done.code, done.out) == (0, "\n[]\n"), done


def test_a_process_alone_is_its_own_neighbour_in_a_ring() -> None:
    rows = np.arange(8.0)[:, None].copy()
    ALONE.exchange(Halos(rows[1:2], rows[6:7], rows[:1], rows[7:]), None, None)
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    ALONE.exchange(Halos(rows[1:2], rows[6:7], rows[:1], rows[7:]), 0, 0)
    assert rows[:, 0].tolist() == [6, 1, 2, 3, 4, 5, 6, 1]
    assert neighbours(0, 3, True) == (2, 1)
    assert neighbours(2, 3, False) == (1, None)
