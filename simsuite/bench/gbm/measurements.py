"""All measurements of `simsuite bench gbm` of the Monte Carlo solver, as rows, and as one document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from simsuite.bench.findings import Found, Row, Wish, gathered, labelled, require_right
from simsuite.bench.gbm.accuracy import accuracy_rows
from simsuite.bench.gbm.comparison import comparison
from simsuite.bench.gbm.effort import FULL, QUICK
from simsuite.bench.gbm.rates import Device, rate_rows
from simsuite.bench.gbm.units import measure_units
from simsuite.bench.machine import measure_machine, write_rate
from simsuite.core import Backend

# the parts of the benchmark, and the sections of each
PARTS = {"rates": ("rates",), "precision": ("accuracy",), "peers": ("peers",)}


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """Yields (section, row), as they are measured; the first row is about the machine."""
    effort = QUICK if wish.quick else FULL
    machine = measure_machine(backend, ("float64", "float32"), effort.patience)
    machine = replace(machine, write=write_rate(backend, effort.patience))
    units = measure_units(backend, effort.patience)
    row: Row = {"copy_bytes_per_second": machine.copy, "write_bytes_per_second": machine.write}
    row |= {"fma_per_second": dict(machine.fma)}
    yield "machine", row | ({"units": units.as_json()} if units else {})
    if wish.wants("rates"):
        device = Device(backend, machine, units, effort.patience)
        yield from labelled("rates", rate_rows(device, effort, wish.sizes, wish.precisions))
    if wish.wants("precision"):
        yield from labelled("accuracy", accuracy_rows(backend, effort, wish.precisions))
    if wish.wants("peers"):
        paths = max(wish.sizes, default=None)
        yield from labelled("peers", comparison(backend, effort, paths, wish.precisions))


def document(backend: Backend, wish: Wish, found: Found) -> dict[str, Any]:
    """The document with everything, for --json and bench.json."""
    return gathered("gbm", PARTS, backend, wish, found)


def require(found: Found) -> None:
    """Raises VerificationFailure (exit code 5) if anything that was to be timed is wrong."""
    require_right(found, described)


def described(row: Row) -> str:
    """What a row is about, in a few words."""
    words = [row.get(key) for key in ("name", "case", "method", "precision")]
    target = f" to {row['target']:g}" if "target" in row else ""
    return " ".join(word for word in words if word is not None) + target
