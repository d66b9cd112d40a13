"""`simsuite bench heat`: everything that is measured of the heat solver, as rows, and as one document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.bench.comparison import comparison
from simsuite.bench.effort import FULL, PRECISIONS, QUICK, Effort
from simsuite.bench.machine import measure_machine
from simsuite.bench.rates import default_sizes, explicit_rates, stepper_rates
from simsuite.bench.solution import default_size, work_precision
from simsuite.core import Backend
from simsuite.errors import VerificationFailure
from simsuite.version import VERSION

FORMAT = 1  # of the document
PARTS = {"rates": ("rates", "steppers"), "precision": ("work_precision",), "peers": ("peers",)}  # and their sections

Row = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    """sizes: () for those that suit the device. only: a part, or None for all."""

    sizes: tuple[int, ...]
    precisions: tuple[str, ...]
    quick: bool = False
    only: str | None = None

    @property
    def best_precision(self) -> str:
        """float64 unless it is not wanted: errors of steps, not of rounding, are what time to solution is about."""
        return next(p for p in PRECISIONS if p in self.precisions)

    @property
    def effort(self) -> Effort:
        return QUICK if self.quick else FULL


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """(section, row), as they are measured; the first one is the machine's."""
    effort, precisions = wish.effort, wish.precisions
    machine = measure_machine(backend, precisions, effort.patience)
    yield "machine", {"copy_bytes_per_second": machine.copy, "fma_per_second": dict(machine.fma)}
    sizes = wish.sizes or default_sizes(effort, machine)
    if wish.only in (None, "rates"):
        yield from _in("rates", explicit_rates(backend, machine, effort, sizes, precisions))
        yield from _in("steppers", stepper_rates(backend, machine, effort, sizes, precisions))
    if wish.only in (None, "precision"):
        n = min(default_size(effort, machine), max(wish.sizes, default=effort.solution[0]))
        yield from _in("work_precision", work_precision(backend, effort, n, wish.best_precision))
    if wish.only in (None, "peers"):
        yield from _in("peers", comparison(backend, machine, effort, max(sizes), precisions))


def _in(section: str, rows: Iterator[Row]) -> Iterator[tuple[str, Row]]:
    return ((section, row) for row in rows)


def document(backend: Backend, wish: Wish, found: Sequence[tuple[str, Row]]) -> dict[str, Any]:
    """Everything, for --json and bench.json."""
    sections = [name for part, names in PARTS.items() if wish.only in (None, part) for name in names]
    machine = next(row for section, row in found if section == "machine")
    return {
        "format": FORMAT,
        "simsuite": VERSION,
        "solver": "heat",
        "device": backend.name,
        "device_name": backend.device_name,
        "quick": wish.quick,
        "passed": not wrong(found),
        **machine,
        **{name: [row for section, row in found if section == name] for name in sections},
    }


def wrong(found: Sequence[tuple[str, Row]]) -> list[tuple[str, Row]]:
    """What was checked and found wrong."""
    return [(section, row) for section, row in found if not row.get("right", True)]


def require(found: Sequence[tuple[str, Row]]) -> None:
    """Raises VerificationFailure (exit code 5) if anything that was to be timed is wrong."""
    bad = wrong(found)
    if bad:
        named = ", ".join(f"{described(row)} (off by {row['largest_error']:.1e})" for _, row in bad[:3])
        more = ", ..." if len(bad) > 3 else ""
        raise VerificationFailure(f"{len(bad)} of what was to be timed computes something else: {named}{more}")


def described(row: Row) -> str:
    """What a row is of, in a few words."""
    words = [row.get(key) for key in ("name", "stepper", "kernel", "material", "precision")]
    return " ".join(word for word in words if word not in (None, "auto")) + f" {row['n']}²"
