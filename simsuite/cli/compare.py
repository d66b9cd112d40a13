"""`simsuite compare`: two runs side by side, or a run and another program's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsuite.cli.console import print_json, say, show
from simsuite.cli.run import Json
from simsuite.errors import UsageError, VerificationFailure
from simsuite.words import counted

if TYPE_CHECKING:
    from simsuite.comparison.differences import Difference

_KEYS = 20  # of scenarios that differ, at most so many are shown
_NAMED = 4  # variables in the message at the end
_LONGEST = 60  # characters of a value of a key


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="A run, or a file of another program.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="What it is compared with.", show_default=False)],
    variable: Annotated[
        str | None,
        typer.Option(
            "--variable", metavar="NAME", help="One variable only; what the array of another program is; THEIRS:OURS."
        ),
    ] = None,
    rtol: Annotated[float, typer.Option("--rtol", min=0.0, help="Allowed, relative to the largest value.")] = 0.0,
    atol: Annotated[float, typer.Option("--atol", min=0.0, help="Allowed, in the unit of the variable.")] = 0.0,
    sigmas: Annotated[
        float | None,
        typer.Option("--sigmas", min=0.0, help="Allowed where both have standard errors, in these: 4, for example."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="Draw the largest difference.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two runs: keys that differ, and how far apart each variable is. Exit code 5 if beyond what is allowed."""
    from simsuite.comparison.arrays import opened
    from simsuite.comparison.differences import differences, differing_keys

    with opened(a, variable) as first, opened(b, variable) as second:
        keys = differing_keys(first, second) if first.is_run and second.is_run else {}
        found, alone = differences(first, second, variable)
        beyond = [each for each in found if not each.within(rtol, atol, sigmas)]
        if output is not None:
            from simsuite.pictures.difference import draw_difference

            worst = max(found, key=lambda each: each.largest / each.size if each.size else each.largest)
            try:
                draw_difference(first, second, worst, output)
            except OSError as error:
                raise UsageError(f"cannot write {output}: {error.strerror or error}") from error
    if as_json:
        listed = [
            {"name": d.name, "unit": d.unit, "largest": d.largest, "at": d.at, "size": d.size}
            | {"relative_l2": d.relative_l2, "sigmas": d.sigmas, "within": d not in beyond}
            for d in found
        ]
        print_json(
            {
                "status": "different" if beyond else "same",
                "keys": {name: list(values) for name, values in keys.items()},
                "variables": listed,
                "alone": alone,
            }
        )
    else:
        for line in _lines(keys, found, alone, [each.name for each in beyond]):
            show(line)
        if output is not None:
            say(f"wrote {output}")
    if beyond:
        names = ", ".join(each.name for each in beyond[:_NAMED])
        if len(beyond) > _NAMED:
            names += f" and {len(beyond) - _NAMED} more"
        allowed = "" if rtol == atol == 0 and sigmas is None else " by more than is allowed"
        raise VerificationFailure(
            f"{counted(len(beyond), 'variable')} differ{'s' * (len(beyond) == 1)}{allowed}: {names}"
        )


def _lines(
    keys: dict[str, tuple[object, object]], found: Sequence[Difference], alone: Sequence[str], beyond: Sequence[str]
) -> list[str]:
    lines = ["keys that differ"] if keys else []
    for name, values in list(keys.items())[:_KEYS]:
        lines.append(f"  {name}: {' -> '.join('(not there)' if v is None else _short(v) for v in values)}")
    if len(keys) > _KEYS:
        lines.append(f"  .. and {len(keys) - _KEYS} more")
    rows = [("variable", "largest |A - B|", "of largest |A|", "relative L2", "where")]
    for d in found:
        if d.same:
            rows.append((d.name, "0", f"{d.size:.6g} {d.unit}".rstrip(), "0", d.how))
            continue
        errors = "" if d.sigmas is None else f"{d.sigmas:.2f} standard errors"
        where = ", ".join(part for part in (d.at, errors, d.how) if part)
        mark = " *" if d.name in beyond else ""
        rows.append(
            (d.name + mark, f"{d.largest:.3g}", f"{d.size:.6g} {d.unit}".rstrip(), f"{d.relative_l2:.2g}", where)
        )
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines += ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths)), row[4]]).rstrip() for row in rows]
    if alone:
        lines.append(f"not compared, or only in one of them: {', '.join(alone[:12])}")
    return lines


def _short(value: object) -> str:
    text = f"{value}"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
