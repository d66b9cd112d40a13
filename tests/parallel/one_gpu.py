"""Lets all processes of a machine take its first GPU, as they never do otherwise: each is to have one of its own."""

from __future__ import annotations

from simsuite.communication.communicator import Seat
from simsuite.parallel.mpi import Mpi


def share_one_gpu() -> None:
    Mpi.seat = property(lambda mpi: Seat(gpu=0, sharing=mpi.size))  # type: ignore[misc,assignment]
