"""Compares peers with simsuite: the price of the same Asian option with 252 fixings in the same process, one after
another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simsuite.bench.findings import Row
from simsuite.bench.gbm.cases import ASIAN, RATE, SPOT, STEPS, STRIKE, VOLATILITY
from simsuite.bench.gbm.effort import Effort
from simsuite.bench.gbm.peers import PEERS, Asian, Peer
from simsuite.bench.gbm.pricing import priced, run
from simsuite.bench.installed import measured_if_installed
from simsuite.bench.plates import KERNELS
from simsuite.bench.timing import seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.gbm.statistics.statistics import Estimate
from simsuite.version import VERSION

WANTED = Asian(SPOT, STRIKE, RATE, VOLATILITY, STEPS)
CHECKED = 4  # chunks of the price that is checked


def comparison(backend: Backend, effort: Effort, paths: int | None, precisions: Sequence[str]) -> Iterator[Row]:
    """Yields a row for each of simsuite's kernels, and then one for each peer that runs on the device, compared with
    the fastest kernel.

    paths: number of simsuite's own paths, None for what suits the device.
    """
    for precision in precisions:
        fastest = 0.0
        for kernel in KERNELS[backend.dialect]:
            n = paths or effort.paths[backend.dialect]
            name: Row = {"name": f"simsuite {kernel}", "precision": precision}
            row = name | _own(backend, precision, n, kernel)
            fastest = max(fastest, row.get("rate", 0.0))
            yield row
        for peer in PEERS:
            if backend.dialect in peer.dialects and precision in peer.precisions:
                name = {"name": peer.name, "precision": precision}
                row = name | _others(backend, effort, precision, peer)
                if fastest > 0 and "rate" in row:
                    row |= {"simsuite_is_faster_by": fastest / row["rate"]}
                yield row


def _own(backend: Backend, precision: str, paths: int, kernel: str) -> Row:
    """simsuite's own row: a whole run, as peers make it."""
    try:
        done = run(backend, ASIAN.problem(precision, paths, kernel))
    except DeviceError as reason:
        return {"skipped": str(reason)}
    row = {"version": VERSION, "paths": paths, **priced(ASIAN, precision, done.estimate)}
    return row | ({"rate": paths * STEPS / done.seconds} if row["right"] else {})


def _others(backend: Backend, effort: Effort, precision: str, peer: Peer) -> Row:
    """A peer's row."""
    chunk = effort.chunk[backend.dialect]

    def measured() -> Row:
        price = peer.start(WANTED, precision, backend.name, chunk)
        row = {"paths": CHECKED * chunk, **priced(ASIAN, precision, Estimate(*price(CHECKED * chunk)))}
        if not row["right"]:
            return row
        second = seconds(backend, lambda k: _ignore(price(k * chunk)), effort.patience)[0]
        return row | {"rate": chunk * STEPS / second}

    return measured_if_installed(peer.library, peer.slow, effort.slow_peers, measured)


def _ignore(result: object) -> None:
    """Drops a result: what is timed has been priced before."""
