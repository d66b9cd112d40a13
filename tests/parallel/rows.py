"""Exchanges rows between processes: rows.py DEVICE. Each process has a slab whose rows hold its number and that of the
row; after an exchange the first process prints whether all have what they are to have, around a ring and in a line,
after a swap, and once all have gathered the rows of an array, of which process p had so many as p.

DEVICE is "cpu", "cuda", "one cuda" for a GPU that all share, or one of two that are said to be GPUs and are none:
"alike" for one that all share, "without" for ones without NCCL in the last process."""

from __future__ import annotations

import itertools
import sys

import numpy as np

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.capabilities import Link
from simsuite.communication.communicator import Halos, neighbours
from simsuite.core import Backend
from simsuite.parallel.between_devices import communicator_for
from simsuite.parallel.mpi import Mpi

HALO, WIDE, WIDTH = 3, 7, 5


class _Pretended(CpuBackend):
    """A GPU that cannot be linked to others by NCCL."""

    bus_address = 7

    def lacks_links(self) -> str | None:
        return "no NCCL here" if DEVICE == "without" and mpi.rank == mpi.size - 1 else None

    def link_identity(self) -> tuple[int, ...]:
        raise AssertionError

    def link(self, identity: tuple[int, ...], rank: int, size: int) -> Link:
        raise AssertionError


DEVICE = sys.argv[1]
mpi = Mpi()
if DEVICE in ("alike", "without"):
    backend: Backend = _Pretended()
else:
    backend = open_backend(DEVICE.removeprefix("one "), gpu=0 if DEVICE.startswith("one") else mpi.seat.gpu)
told: list[str] = []
backend.announce = told.append
communicator = communicator_for(backend, mpi)
wrong: list[tuple[object, ...]] = []
for turn, periodic in enumerate((True, False, True)):
    rows = np.full((HALO + WIDE + HALO, WIDTH), -1.0)
    rows[HALO:-HALO] = 100.0 * turn + 10.0 * mpi.rank + np.arange(WIDE)[:, None]
    expected = rows.copy()
    for ends, other, theirs in (
        (np.s_[:HALO], mpi.rank - 1, np.arange(WIDE - HALO, WIDE)),
        (np.s_[-HALO:], mpi.rank + 1, np.arange(HALO)),
    ):
        if periodic or 0 <= other < mpi.size:
            expected[ends] = 100.0 * turn + 10.0 * (other % mpi.size) + theirs[:, None]
    array = backend.array(rows)
    halos = Halos(array[HALO : 2 * HALO], array[-2 * HALO : -HALO], array[:HALO], array[-HALO:])
    communicator.exchange(halos, *neighbours(mpi.rank, mpi.size, periodic))
    if not np.array_equal(backend.to_host(array), expected):
        wrong.append((mpi.rank, periodic))
given = [backend.array(np.full((mpi.rank, 2), 10 * mpi.rank + other)) for other in range(mpi.size)]
taken = [backend.array(np.zeros((other, 2), int)) for other in range(mpi.size)]
communicator.swap(given, taken)
for other, found in enumerate(map(backend.to_host, taken)):
    if found.tolist() != [[10 * other + mpi.rank] * 2] * other:
        wrong.append((mpi.rank, other))
for turn in range(3):
    bounds = [p * (p - 1) // 2 for p in range(mpi.size + 1)]
    expected = 100.0 * turn + np.arange(bounds[-1] * WIDTH, dtype=np.float32).reshape(-1, WIDTH)
    rows = np.full_like(expected, -1.0)
    rows[bounds[mpi.rank] : bounds[mpi.rank + 1]] = expected[bounds[mpi.rank] : bounds[mpi.rank + 1]]
    array = backend.array(rows)
    communicator.allgather([array[begin:end] for begin, end in itertools.pairwise(bounds)])
    if not np.array_equal(backend.to_host(array), expected):
        wrong.append((mpi.rank, "allgather"))
# the first process measures something while it decides something else; the others need it later
decided = mpi.from_first(lambda: mpi.measured("how long", lambda: 7) + 1)
if (decided, mpi.measured("how long", lambda: -1)) != (8, 7):
    wrong.append((mpi.rank, "measured"))
if mpi.rank > 0:
    mpi.send(wrong, 0, 9)
else:
    print(*told)
    print(wrong + [place for other in range(1, mpi.size) for place in mpi.receive(9, other)])
