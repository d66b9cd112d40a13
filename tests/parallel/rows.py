"""Exchanges rows between processes: rows.py DEVICE. Each process has a slab whose rows hold its number and that of the
row; after an exchange the first process prints whether all have what they are to have, around a ring and in a line.
Then each has some rows of an array, process p so many as p, of which all others get those."""

from __future__ import annotations

import itertools
import sys

import numpy as np

from simsuite.backends import open_backend
from simsuite.communication.communicator import Halos, neighbours
from simsuite.parallel.mpi import Mpi
from simsuite.parallel.nccl import communicator_for

HALO, WIDE, WIDTH = 3, 7, 5
mpi = Mpi()
backend = open_backend(sys.argv[1], gpu=mpi.seat.gpu)
communicator = communicator_for(backend, mpi)
wrong = []
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
for turn in range(3):
    bounds = [p * (p - 1) // 2 for p in range(mpi.size + 1)]
    expected = 100.0 * turn + np.arange(bounds[-1] * WIDTH, dtype=np.float32).reshape(-1, WIDTH)
    rows = np.full_like(expected, -1.0)
    rows[bounds[mpi.rank] : bounds[mpi.rank + 1]] = expected[bounds[mpi.rank] : bounds[mpi.rank + 1]]
    array = backend.array(rows)
    communicator.allgather([array[begin:end] for begin, end in itertools.pairwise(bounds)])
    if not np.array_equal(backend.to_host(array), expected):
        wrong.append((mpi.rank, "allgather"))
if mpi.rank > 0:
    mpi.send(wrong, 0, 9)
else:
    print(wrong + [place for other in range(1, mpi.size) for place in mpi.receive(9, other)])
