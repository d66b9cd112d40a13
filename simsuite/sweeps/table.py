"""The numbers that come out of a member, by dotted name: those of `simsuite run --json`, in one row."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from simsuite.errors import UsageError

_LISTED = 8  # names that an error proposes
_ERROR = "standard_error"


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


def result_named(name: str, names: Sequence[str]) -> str:
    """The one of the names that is asked for, which may begin with "results.". Raises UsageError, with the names that
    may have been meant, where there is none such."""
    wanted = name.removeprefix("results.")
    if wanted in names:
        return wanted
    near = [each for each in names if each.startswith(f"{wanted}.") or each.endswith(f".{wanted}")]
    near = near or difflib.get_close_matches(wanted, names, 3, 0.6)
    last = {each: each.rpartition(".")[2] for each in names}
    near = near or [each for each in names if difflib.SequenceMatcher(a=wanted, b=last[each]).ratio() > 0.7]
    listed, more = near or list(names), "" if len(near or names) <= _LISTED else ", .."
    there = ", ".join(f"`{each}`" for each in listed[:_LISTED]) + more
    help = f"did you mean {there}?" if near else f"there are {there}" if names else "there are no numbers"
    raise UsageError(f"the results have no number `{wanted}`\n  = help: {help}")


def standard_error_of(name: str, names: Collection[str]) -> str | None:
    """The one of the names under which the standard error of a result is: `x.standard_error` for `x.price`,
    `x.delta_standard_error.0` for `x.delta.0`; None if there is none."""
    parts = name.split(".")
    own = next((i for i in range(len(parts) - 1, -1, -1) if not parts[i].isdecimal()), 0)
    candidates = [[*parts[:own], f"{parts[own]}_{_ERROR}", *parts[own + 1 :]]]
    candidates += [[*parts[:-1], _ERROR]] if parts[-1] in ("price", "mean") else []
    return next((found for each in candidates if (found := ".".join(each)) in names), None)
