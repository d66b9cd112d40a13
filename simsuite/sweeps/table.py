"""The numbers that come out of a member, by dotted name: those of `simsuite run --json`, in one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def leaves(value: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value in nested tables and lists, with its keys; indices of lists count from 0. Any: as JSON has it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*name, str(key)))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for i, item in enumerate(value):
            yield from leaves(item, (*name, str(i)))
    else:
        yield name, value


def numbers(results: Mapping[str, Any]) -> dict[str, float | None]:
    """The numbers among the results of a run, by name; None where one is not known."""
    return {
        ".".join(name): None if value is None else float(value)
        for name, value in leaves(results)
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
    }


def main_numbers(solver: str, names: Sequence[str]) -> list[str]:
    """Those of the names that people look for first."""
    if solver == "heat":
        return [name for name in names if name in ("min", "max", "mean") or name.startswith("probes.")]
    if solver == "gbm":
        return [name for name in names if name.endswith((".price", ".standard_error"))]
    return list(names)
