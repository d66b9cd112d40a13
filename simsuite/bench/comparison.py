"""Peers beside simsuite: the same steps of the same plate in the same process, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.bench.checking import FEW_STEPS, deviation, rounding
from simsuite.bench.effort import Effort
from simsuite.bench.findings import Row
from simsuite.bench.installed import measured_if_installed
from simsuite.bench.machine import Machine
from simsuite.bench.peers import PEERS, Peer, Running
from simsuite.bench.plates import Plate, fitting, kernels_for, started
from simsuite.bench.rates import WORDS
from simsuite.bench.timing import seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError, ScenarioError
from simsuite.version import VERSION


def comparison(backend: Backend, machine: Machine, effort: Effort, n: int, precisions: Sequence[str]) -> Iterator[Row]:
    """A row for each of simsuite's kernels, then one for each peer that supports the device, compared with the fastest
    kernel.
    """
    for precision in precisions:
        fastest = 0.0
        for kernel in kernels_for(backend):
            plate = Plate(n, precision, kernel=kernel, edges="cold")
            row = _named(f"simsuite {kernel}", plate) | _own(backend, machine, effort, plate)
            fastest = max(fastest, row.get("rate", 0.0))
            yield row
        plate = Plate(n, precision, edges="cold")
        for peer in PEERS:
            if backend.dialect in peer.dialects:
                row = _named(peer.name, plate) | _others(backend, machine, effort, plate, peer)
                if fastest > 0 and "rate" in row:
                    row |= {"simsuite_is_faster_by": fastest / row["rate"]}
                yield row


def _named(name: str, plate: Plate) -> Row:
    return {"name": name, "precision": plate.precision, "n": plate.n}


def _own(backend: Backend, machine: Machine, effort: Effort, plate: Plate) -> Row:
    """The row of one of simsuite's own kernels."""
    try:
        stepper = started(fitting(backend, plate), backend, plate.start())
    except (DeviceError, ScenarioError) as reason:
        return {"skipped": str(reason)}
    run = Running(stepper.advance, lambda: backend.to_host(stepper.state["temperature"]))
    return {"version": VERSION} | _measured(backend, machine, effort, plate, run)


def _others(backend: Backend, machine: Machine, effort: Effort, plate: Plate, peer: Peer) -> Row:
    """The row of a peer."""

    def measured() -> Row:
        run = peer.start(plate.start(), plate.dt, backend.name)
        return _measured(backend, machine, effort, plate, run)

    return measured_if_installed(peer.library, peer.slow, effort.slow_peers, measured)


def _measured(backend: Backend, machine: Machine, effort: Effort, plate: Plate, run: Running) -> Row:
    run.advance(FEW_STEPS)
    off = deviation(run.result(), plate.after(FEW_STEPS), rounding(plate.precision, FEW_STEPS))
    row = {"largest_error": off.error, "error_limit": off.limit, "right": off.right}
    if not off.right:
        return row
    step = seconds(backend, run.advance, effort.patience)[0]
    rate = plate.n**2 / step
    one_pass = machine.copy / (WORDS[plate.material] * np.dtype(plate.precision).itemsize)
    return row | {"microseconds_per_step": step * 1e6, "rate": rate, "fraction_of_one_pass": rate / one_pass}
