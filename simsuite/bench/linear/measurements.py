"""`simsuite bench linear`: all measurements of the linear solver, as rows, and as one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simsuite.bench.findings import Found, Row, Wish, gathered, labelled, require_right
from simsuite.bench.linear.crossover import crossover_rows
from simsuite.bench.linear.lattices import lattice_rows
from simsuite.bench.linear.products import product_rows
from simsuite.bench.linear.shapes import FULL, PRECISIONS, QUICK, square
from simsuite.bench.linear.steps import step_rows
from simsuite.bench.machine import measure_machine
from simsuite.core import Backend

PARTS = {"rates": ("products", "steps", "crossover", "lattices")}  # the sections of each part


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """(section, row) for all measurements, as they are made; the first row is the machine's."""
    effort = QUICK if wish.quick else FULL
    machine = measure_machine(backend, PRECISIONS, effort.patience)
    yield "machine", {"copy_bytes_per_second": machine.copy, "fma_per_second": dict(machine.fma)}
    kind = backend.dialect
    shapes = tuple(map(square, wish.sizes)) or effort.products[kind]
    yield from labelled("products", product_rows(backend, machine, effort.patience, shapes, wish.precisions))
    systems = tuple((n, m) for n in wish.sizes for m in (1, n)) or effort.systems[kind]
    yield from labelled("steps", step_rows(backend, effort.patience, systems, wish.precisions))
    crossing = tuple(n for n in wish.sizes if n <= effort.crossing[-1]) if wish.sizes else effort.crossing
    yield from labelled("crossover", crossover_rows(backend, effort.patience, crossing, wish.precisions))
    lattices = () if wish.sizes else effort.lattices[kind]
    yield from labelled("lattices", lattice_rows(backend, machine, effort.patience, lattices, wish.precisions))


def document(backend: Backend, wish: Wish, found: Found) -> dict[str, Any]:
    """The document of all measurements, for --json and bench.json."""
    return gathered("linear", PARTS, backend, wish, found)


def require(found: Found) -> None:
    """Raise VerificationFailure (exit code 5) if anything that was to be timed is wrong."""
    require_right(found, described)


def described(row: Row) -> str:
    """What was measured in a row, in a few words."""
    sizes = (
        f"{row['rows']} x {row['inner']} x {row['columns']}"
        if "rows" in row
        else f"{row['components']} components, {row['states']} states"
    )
    return f"{sizes} {row['precision']} by {row['kernel']}"
