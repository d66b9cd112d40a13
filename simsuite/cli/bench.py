"""`simsuite bench`: how fast the steps are, beside what the device can do and beside other libraries."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.bench_start import bench_start
from simsuite.cli.console import one_of, print_json, say, writable
from simsuite.cli.run import Device, Json
from simsuite.errors import UsageError

if TYPE_CHECKING:
    from simsuite.bench.findings import Wish
    from simsuite.core import Backend


@dataclass(frozen=True)
class _Benchmark:
    """A solver's benchmark. module: the module that measures. report: the module that puts results into words.
    precisions: the precisions that there are; by default all of them are measured. least: the smallest size that is
    allowed."""

    module: str
    report: str
    precisions: tuple[str, ...]
    least: int
    sizes: str


_BENCHMARKS = {
    "heat": _Benchmark("simsuite.bench.heat", "simsuite.bench.report", ("float64", "float32"), 8, "256,1024"),
    "gbm": _Benchmark(
        "simsuite.bench.gbm.measurements",
        "simsuite.bench.gbm.report",
        ("float32", "mixed", "float64"),
        1024,
        "65536,1048576",
    ),
    "linear": _Benchmark(
        "simsuite.bench.linear.measurements", "simsuite.bench.linear.report", ("float32", "float64"), 1, "256,4096"
    ),
    "scaling": _Benchmark(
        "simsuite.bench.scaling.measurements",
        "simsuite.bench.scaling.report",
        ("float64", "float32"),
        64,
        "1024,4096",
    ),
    "routes": _Benchmark("simsuite.bench.routes.measurements", "simsuite.bench.routes.report", ("float32",), 1, ""),
}


class Part(StrEnum):
    """A part of a benchmark that can be measured alone."""

    rates = "rates"
    precision = "precision"
    peers = "peers"


def bench(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[heat|gbm|linear|scaling|start|routes]",
            help="A solver, several processes, whole runs, or every road to CUDA.",
            show_default=False,
        ),
    ] = "heat",
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SCENARIO]...",
            help="With start: runs of these, not of what `simsuite new` writes. With routes: heat, gbm or matmul; with "
            "scaling: heat, gbm or linear.",
        ),
    ] = None,
    device: Device = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Smaller sizes, fewer of them: a minute or so; linear on a GPU takes three."),
    ] = False,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,..",
            help="heat: cells along an edge, gbm: paths, linear: components; default: what suits the device.",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option("--precision", metavar="P,..", help="float64, float32, gbm: also mixed; default: all of them."),
    ] = None,
    only: Annotated[
        Part | None,
        typer.Option(
            "--only",
            parser=one_of(Part),
            metavar="PART",
            help="One part: rates, time to an error (precision), or other libraries.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write bench.json and bench.png there.")
    ] = None,
    cold: Annotated[bool, typer.Option("--cold", help="With start: first runs as well, with an empty cache.")] = False,
    busy: Annotated[
        bool, typer.Option("--busy", help="With start: beside other processes that compute, one on every core.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure how fast a solver is on this device, and check what is timed; exit with 5 if any of it is wrong. Or, with
    start, how long whole runs take."""
    if what == "start":
        writable(output)
        bench_start(scenarios or [], device or "auto", cold, busy, output, as_json)
        return
    if what not in _BENCHMARKS:
        raise UsageError(f"there is no benchmark of {what}; there is one of each of {', '.join(_BENCHMARKS)}, start")
    if cold or busy or (scenarios and what not in ("routes", "scaling")):
        raise UsageError("scenarios, --cold and --busy go with `simsuite bench start`")
    problem = _problem(scenarios or [], sizes, precision, only) if what == "routes" else None
    if what == "scaling":
        problem = _shared_problem(scenarios or [], sizes, only)
    if device == "cudasim":
        raise UsageError("the simulator of GPUs is for tests; its time says nothing")
    known = _BENCHMARKS[what]
    numbers, precisions = _sizes(sizes, known), _precisions(precision, what, known)
    if what == "gbm" and numbers and only == Part.precision:
        raise UsageError("--sizes and --only precision: how many paths that takes follows from the error")
    if what == "linear" and only not in (None, Part.rates):
        raise UsageError(f"--only {only}: of linear there are rates, beside those of the device's library")
    writable(output)
    from simsuite.backends import open_backend
    from simsuite.bench.findings import Wish

    backend = open_backend(device or "auto")
    if backend.note is not None:
        say(f"note: {backend.note}")
    _bench(known, backend, Wish(numbers, precisions, quick, problem or only), output, as_json)


def _problem(named: list[Path], sizes: str | None, precision: str | None, only: Part | None) -> str | None:
    """The problem that `bench routes` is asked for; None for all of them."""
    if sizes is not None or precision is not None or only is not None:
        raise UsageError("roads are measured at one size, in float32: --sizes, --precision and --only have no place")
    from simsuite.routes.roads import FUNCTIONS

    words = [str(name) for name in named]
    if len(words) > 1 or not set(words) <= set(FUNCTIONS):
        raise UsageError(f"simsuite bench routes {' '.join(words)}: write heat, gbm, matmul, or nothing for all")
    return words[0] if words else None


def _shared_problem(named: list[Path], sizes: str | None, only: Part | None) -> str | None:
    """The problem that `bench scaling` is asked for; None for all of them."""
    from simsuite.bench.scaling.problems import SCENARIOS

    words = [str(name) for name in named]
    if only is not None or len(words) > 1 or not set(words) <= set(SCENARIOS):
        raise UsageError(
            f"simsuite bench scaling: write {', '.join(SCENARIOS)}, or nothing for all; there is no --only"
        )
    if sizes is not None and not words:
        raise UsageError("--sizes of bench scaling are cells along an edge, paths or components: name the problem, too")
    return words[0] if words else None


def _bench(known: _Benchmark, backend: Backend, wish: Wish, output: Path | None, as_json: bool) -> None:
    module, report = importlib.import_module(known.module), importlib.import_module(known.report)
    found = []
    section = ""
    for now, row in module.measurements(backend, wish):
        if not as_json:
            _show(report, backend, now, row, now != section)
        elif now != "machine":
            say(f"done: {module.described(row)}")
        section = now
        found.append((now, row))
    whole = module.document(backend, wish, found)
    if as_json:
        print_json(whole)
    if output is not None:
        _write(output, whole)
    module.require(found)


def _show(report: ModuleType, backend: Backend, section: str, row: dict[str, Any], first: bool) -> None:
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


def _sizes(text: str | None, known: _Benchmark) -> tuple[int, ...]:
    """The sizes in a text, without repetition, from small to large."""
    if text is None:
        return ()
    words = text.split(",")
    if not all(word.strip().isdecimal() and int(word) >= known.least for word in words):
        form = f"write numbers from {known.least} on with commas between them, such as {known.sizes}"
        raise UsageError(f"--sizes {text}: {form}")
    return tuple(sorted({int(word) for word in words}))


def _precisions(text: str | None, what: str, known: _Benchmark) -> tuple[str, ...]:
    if text is None:
        return known.precisions
    words = {word.strip() for word in text.split(",")}
    if not words <= set(known.precisions):
        *first, last = known.precisions
        raise UsageError(f"--precision {text}: {what} has {', '.join(first)} and {last}")
    return tuple(name for name in known.precisions if name in words)
