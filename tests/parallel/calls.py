"""Calls of `simsuite.run` by all processes that share runs: calls.py FILE. The first process prints what each call came
to in each process, as a JSON list with a list for each call."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from mpi4py import MPI

import simsuite

WORLD = MPI.COMM_WORLD


def came_to(call: Callable[[], simsuite.Run]) -> object:
    try:
        run = call()
    except simsuite.SimsuiteError as error:
        return [type(error).__name__, error.exit_code, str(error)]
    return [run.summary["status"], run.summary.get("processes"), run.results]


path = sys.argv[1]
calls: list[Callable[[], simsuite.Run]] = [
    lambda: simsuite.run(path, directory="stopped", max_minutes=0),
    lambda: simsuite.run(path, directory="whole"),
    lambda: simsuite.run(path, directory="stopped"),
    lambda: simsuite.run(path, directory="stopped"),
    lambda: simsuite.run(path, set={"run.seeed": 3}),
    lambda: simsuite.run(path, set={"run.device": "cuda:1"}),
    lambda: simsuite.run(path, directory=f"seed {WORLD.rank}", set={"run.seed": WORLD.rank}),
    lambda: simsuite.run(path, directory=f"alone {WORLD.rank}", set={"run.seed": WORLD.rank}, shared=False),
]
found = [WORLD.gather(came_to(call)) for call in calls]
if WORLD.rank == 0:
    print(json.dumps(found))
