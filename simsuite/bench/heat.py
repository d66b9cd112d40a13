"""`simsuite bench heat`: all measurements of the heat solver, as rows, and as one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simsuite.bench.comparison import comparison
from simsuite.bench.effort import FULL, PRECISIONS, QUICK
from simsuite.bench.findings import Found, Row, Wish, gathered, labelled, require_right
from simsuite.bench.machine import measure_machine
from simsuite.bench.rates import default_sizes, explicit_rates, stepper_rates
from simsuite.bench.solution import default_size, work_precision
from simsuite.core import Backend

# the sections of each part
PARTS = {"rates": ("rates", "steppers"), "precision": ("work_precision",), "peers": ("peers",)}


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """(section, row) for all measurements, as they are made; the first row is the machine's."""
    effort, precisions = QUICK if wish.quick else FULL, wish.precisions
    machine = measure_machine(backend, precisions, effort.patience)
    yield "machine", {"copy_bytes_per_second": machine.copy, "fma_per_second": dict(machine.fma)}
    sizes = wish.sizes or default_sizes(effort, machine)
    if wish.wants("rates"):
        yield from labelled("rates", explicit_rates(backend, machine, effort, sizes, precisions))
        yield from labelled("steppers", stepper_rates(backend, machine, effort, sizes, precisions))
    if wish.wants("precision"):
        n = min(default_size(effort, machine), max(wish.sizes, default=effort.solution[0]))
        best = next(p for p in PRECISIONS if p in precisions)  # The errors are to be those of steps, not of rounding.
        yield from labelled("work_precision", work_precision(backend, effort, n, best))
    if wish.wants("peers"):
        yield from labelled("peers", comparison(backend, machine, effort, max(sizes), precisions))


def document(backend: Backend, wish: Wish, found: Found) -> dict[str, Any]:
    """The document of all measurements, for --json and bench.json."""
    return gathered("heat", PARTS, backend, wish, found)


def require(found: Found) -> None:
    """Raise VerificationFailure (exit code 5) if anything that was to be timed is wrong."""
    require_right(found, described)


def described(row: Row) -> str:
    """What was measured in a row, in a few words."""
    words = [row.get(key) for key in ("name", "stepper", "kernel", "material", "precision")]
    return " ".join(word for word in words if word not in (None, "auto")) + f" {row['n']}²"
