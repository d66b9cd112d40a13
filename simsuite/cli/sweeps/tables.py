"""The members of a sweep as a table, as an object of JSON and as comma-separated values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simsuite.cli.console import show
from simsuite.words import printable

if TYPE_CHECKING:
    from simsuite.sweeps.directory import Ended
    from simsuite.sweeps.sweep import Sweep

_ROWS, _COLUMNS = 40, 6  # of the table that is printed


def summary(whole: Sweep, complete: bool, failed: Sequence[Ended]) -> Mapping[str, Any]:
    """What `--json` prints of a sweep, or of a part of it."""
    return {
        "status": "complete" if complete else "stopped",
        "directory": str(whole.directory),
        **({"results": str(whole.directory / "sweep.h5")} if whole.part is None else {}),
        "keys": list(whole.plan.keys),
        "failed": len(failed),
        "warnings": whole.warnings,
        "members": [
            {
                "member": i,
                "values": whole.plan.settings(i),
                "status": each.status,
                **({"error": each.error} if each.error else {"results": each.results}),
            }
            for i, each in sorted(whole.ended.items())
        ],
    }


def _columns(whole: Sweep) -> list[str]:
    from simsuite.sweeps.table import main_numbers

    names = list(dict.fromkeys(name for each in whole.ended.values() for name in each.results))
    return main_numbers(whole.solver, names)


def print_table(whole: Sweep, failed: Sequence[Ended]) -> None:
    """The table of members, as much as fits on a screen."""
    from simsuite.summaries.numbers import number
    from simsuite.sweeps.plan import value_in_words

    columns = _columns(whole)[:_COLUMNS]
    rows = [[*whole.plan.keys, *columns]]
    for i, each in sorted(whole.ended.items())[:_ROWS]:
        values = [value_in_words(value) for value in whole.plan.members[i]]
        results = [each.results.get(name) for name in columns]
        rows.append([*values, *("failed" if each.status == "failed" else _written(value, number) for value in results)])
    print_rows(rows)
    if len(whole.ended) > _ROWS:
        show(f".. and {len(whole.ended) - _ROWS} more: --csv prints all")
    if whole.part is None:
        show(f"results    {whole.directory / 'sweep.h5'}")


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """A table in columns."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        show("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def _written(value: float | None, number: Callable[[float], str]) -> str:
    return "?" if value is None else number(value)


def print_csv(whole: Sweep) -> None:
    import csv
    import sys

    names = list(dict.fromkeys(name for each in whole.ended.values() for name in each.results))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["member", "status", *whole.plan.keys, *names])
    for i, each in sorted(whole.ended.items()):
        values = [printable(value) if isinstance(value, str) else value for value in whole.plan.members[i]]
        writer.writerow([i, each.status, *values, *("" if (v := each.results.get(n)) is None else v for n in names)])
