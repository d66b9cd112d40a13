"""`simsuite bench`: how fast the steps are, beside what the device can do and beside other libraries."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import print_json, say, writable
from simsuite.cli.run import Device, Json
from simsuite.errors import UsageError

if TYPE_CHECKING:
    from simsuite.bench.heat import Wish
    from simsuite.core import Backend

BENCHED = ("heat",)
LEAST = 8  # cells along an edge
PRECISIONS = ("float64", "float32")


class Part(StrEnum):
    """What can be measured alone."""

    rates = "rates"
    precision = "precision"
    peers = "peers"


def bench(
    what: Annotated[str, typer.Argument(metavar="[heat]", help="A solver.", show_default=False)] = "heat",
    device: Device = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less than a minute: smaller grids, fewer steppers.")] = False,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", metavar="N,..", help="Cells along an edge; default: what suits the device."),
    ] = None,
    precision: Annotated[
        str | None, typer.Option("--precision", metavar="P,..", help="float64, float32 or both; default: both.")
    ] = None,
    only: Annotated[
        Part | None, typer.Option("--only", help="One part: rates, time to solution (precision), or other libraries.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write bench.json and bench.png there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how fast a solver is on this device, and check what is timed; exit with 5 if any of it is wrong."""
    if what not in BENCHED:
        raise UsageError(f"there is no benchmark of {what}; there is one of {', '.join(BENCHED)}")
    if device == "cudasim":
        raise UsageError("the simulator of GPUs is for tests; its time says nothing")
    cells, precisions = _sizes(sizes), _precisions(precision)
    writable(output)
    from simsuite.backends import open_backend
    from simsuite.bench.heat import Wish

    backend = open_backend(device or "auto")
    if backend.note is not None:
        say(f"note: {backend.note}")
    _bench_heat(backend, Wish(cells, precisions, quick, only), output, as_json)


def _bench_heat(backend: Backend, wish: Wish, output: Path | None, as_json: bool) -> None:
    from simsuite.bench.heat import described, document, measurements, require

    found = []
    section = ""
    for now, row in measurements(backend, wish):
        if not as_json:
            _show(backend, now, row, now != section)
        elif "n" in row:
            say(f"done: {described(row)}")
        section = now
        found.append((now, row))
    whole = document(backend, wish, found)
    if as_json:
        print_json(whole)
    if output is not None:
        _write(output, whole)
    require(found)


def _show(backend: Backend, section: str, row: dict[str, Any], first: bool) -> None:
    from simsuite.bench import report

    if section == "machine":
        lines = list(report.machine_lines(backend.name, backend.device_name, row))
    else:
        lines = [*(report.head(section) if first else ()), *report.lines(section, row)]
    print("\n".join(lines), flush=True)


def _write(directory: Path, whole: dict[str, Any]) -> None:
    from simsuite.io.directory import without_nan
    from simsuite.pictures.bench import draw_bench

    text = json.dumps(without_nan(whole), indent=1, ensure_ascii=False)
    try:
        (directory / "bench.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {directory / 'bench.json'}: {error.strerror or error}") from error
    say(f"wrote {directory / 'bench.json'}")
    if draw_bench(directory / "bench.png", whole):
        say(f"wrote {directory / 'bench.png'}")


def _sizes(text: str | None) -> tuple[int, ...]:
    """Cells along an edge, without repetition, from small to large."""
    if text is None:
        return ()
    words = text.split(",")
    if not all(word.strip().isdecimal() and int(word) >= LEAST for word in words):
        raise UsageError(f"--sizes {text}: write numbers from {LEAST} on with commas between them, such as 256,1024")
    return tuple(sorted({int(word) for word in words}))


def _precisions(text: str | None) -> tuple[str, ...]:
    if text is None:
        return PRECISIONS
    words = {word.strip() for word in text.split(",")}
    if not words <= set(PRECISIONS):
        raise UsageError(f"--precision {text}: there are {' and '.join(PRECISIONS)}")
    return tuple(name for name in PRECISIONS if name in words)
