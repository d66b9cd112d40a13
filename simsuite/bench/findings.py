"""The request for a benchmark, and what all benchmarks make of their rows: a document, and a test
whether all is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.core import Backend
from simsuite.errors import VerificationFailure
from simsuite.version import VERSION

FORMAT = 1  # the version of the document's format

Row = dict[str, Any]
Found = Sequence[tuple[str, Row]]  # (section, row) for each measurement; one of the rows is the machine's


@dataclass(frozen=True)
class Wish:
    """What is asked of a benchmark. sizes: those of problems, () for those that suit the device. only: a part of the
    benchmark, or None for all.
    """

    sizes: tuple[int, ...]
    precisions: tuple[str, ...]
    quick: bool = False
    only: str | None = None

    def wants(self, part: str) -> bool:
        return self.only in (None, part)


def labelled(section: str, rows: Iterator[Row]) -> Iterator[tuple[str, Row]]:
    return ((section, row) for row in rows)


def gathered(
    solver: str, parts: Mapping[str, Sequence[str]], backend: Backend, wish: Wish, found: Found
) -> dict[str, Any]:
    """The document of all measurements, for --json and bench.json. parts: the sections of each part."""
    sections = [name for part, names in parts.items() if wish.wants(part) for name in names]
    machine = next(row for section, row in found if section == "machine")
    return {
        "format": FORMAT,
        "simsuite": VERSION,
        "solver": solver,
        "device": backend.name,
        "device_name": backend.device_name,
        "quick": wish.quick,
        "passed": not wrong(found),
        **machine,
        **{name: [row for section, row in found if section == name] for name in sections},
    }


def wrong(found: Found) -> list[tuple[str, Row]]:
    """The measurements that were checked and found wrong."""
    return [(section, row) for section, row in found if not row.get("right", True)]


def require_right(found: Found, described: Callable[[Row], str]) -> None:
    """Raise VerificationFailure (exit code 5) if anything that was to be timed is wrong."""
    bad = wrong(found)
    if bad:
        named = ", ".join(f"{described(row)} (off by {row['largest_error']:.1e})" for _, row in bad[:3])
        more = ", ..." if len(bad) > 3 else ""
        raise VerificationFailure(f"{len(bad)} of what was to be timed computes something else: {named}{more}")
