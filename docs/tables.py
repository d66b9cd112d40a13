"""Writes the tables of performance.md, routes.md and two notes from what `simsuite bench --json` printed.

    python docs/tables.py            # replaces the tables in these pages
    python docs/tables.py --print    # prints them

Their sources are docs/notes/bench/heat.json, gbm.json, linear.json and routes.json. After another measurement copy its
JSON there and run this again. A table stands between the lines `<!-- table: NAME -->` and `<!-- end of table -->`; what
is outside of these is not changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOTES = HERE / "notes"
PAGES = (HERE / "performance.md", HERE / "routes.md", NOTES / "heat_steppers_gpu.md", NOTES / "gbm_paths.md")
PRECISIONS = ("float64", "float32")
SMALLEST_PLATE = 1024  # cells along an edge: on smaller ones launches are timed rather than steps

Row = dict[str, Any]
Document = dict[str, Any]


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown, without a line end after its last row."""
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def digits(value: float | None, unit: float = 1.0) -> str:
    """Three significant digits, without an exponent; nothing where there is no value."""
    if value is None:
        return ""
    rounded = float(f"{value / unit:.3g}")
    return f"{rounded:.0f}" if rounded >= 100 else f"{rounded:.3g}"


def the_row(rows: Iterable[Row], **wanted: Any) -> Row:
    """The first row with these values; an empty one if there is none, so that its cells stay empty."""
    return next((row for row in rows if all(row.get(key) == value for key, value in wanted.items())), {})


def distinct(rows: Iterable[Row], *keys: str) -> list[tuple[Any, ...]]:
    """The values that these keys have together, in the order in which they come up."""
    return list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))


def heat(document: Document) -> str:
    """Explicit steps, in G cell-steps a second: the fastest kernel, beside the wall of one pass and Numba's kernel."""
    head = ["material", "cells"]
    for precision in PRECISIONS:
        head += [precision, "one-pass wall", "times the wall", "`numba`"]
    return markdown(head, [*_heat_rates(document), *_heat_peers(document)])


def _heat_rates(document: Document) -> Iterator[list[str]]:
    for material, n in distinct([r for r in document["rates"] if r["n"] >= SMALLEST_PLATE], "material", "n"):
        cells = [material, f"{n}²"]
        for precision in PRECISIONS:
            alike = {"material": material, "n": n, "precision": precision}
            fastest = max((r for r in document["rates"] if alike.items() <= r.items()), key=_rate)
            numba = the_row(document["rates"], kernel="numba", **alike)
            cells += [digits(fastest.get("rate"), 1e9), digits(fastest.get("one_pass_limit"), 1e9)]
            cells += [digits(fastest.get("fraction_of_one_pass")), digits(numba.get("rate"), 1e9)]
        yield cells


def _heat_peers(document: Document) -> Iterator[list[str]]:
    """What other libraries reach on the largest grid, with edges held at 0."""
    for (name,) in distinct(document["peers"], "name"):
        rows = [row for row in document["peers"] if row["name"] == name and "rate" in row]
        if rows and not name.startswith("simsuite"):
            cells = [f"{name} {rows[0]['version']}", f"{rows[0]['n']}²"]
            for precision in PRECISIONS:
                row = the_row(rows, precision=precision)
                cells += [digits(row.get("rate"), 1e9), "", digits(row.get("fraction_of_one_pass")), ""]
            yield cells


def _rate(row: Row) -> float:
    return float(row.get("rate", 0.0))


def heat_auto(document: Document) -> str:
    """Seconds to an error, by each stepper, and what `auto` takes for a tolerance of as much."""
    head = [
        "material, cells",
        "error",
        "explicit",
        "rkl2",
        "adi",
        "exact",
        "`auto` takes",
        "its error",
        "seconds",
        "over the best",
    ]
    return markdown(head, _solutions(document))


def _solutions(document: Document) -> Iterator[list[str]]:
    for row in document["work_precision"]:
        for reached, auto in zip(row["reached"], row["auto"]):
            cells = [f"{row['material']}, {row['n']}², {row['precision']}", f"{reached['error']:.0e}"]
            for stepper in ("explicit", "rkl2", "adi", "exact"):
                cells.append(digits((reached["steppers"].get(stepper) or {}).get("seconds")))
            cells += [auto["stepper"], f"{auto['error']:.0e}", digits(auto["seconds"]), digits(auto.get("ratio"))]
            yield cells


def gbm(document: Document) -> str:
    """Rates of the kernel in G path-steps a second, and parts of the limit."""
    precisions = [precision for (precision,) in distinct(document["rates"], "precision")]
    head = ["case", *(text for precision in precisions for text in (precision, "of the limit"))]
    return markdown(head, [*_gbm_rates(document, precisions), *_gbm_peers(document, precisions)])


def _gbm_rates(document: Document, precisions: list[str]) -> Iterator[list[str]]:
    for (case,) in distinct(document["rates"], "case"):
        cells = [case]
        for precision in precisions:
            row = the_row(document["rates"], case=case, precision=precision)
            cells += [digits(row.get("kernel_rate"), 1e9), digits(row.get("fraction_of_limit"))]
        yield cells


def _gbm_peers(document: Document, precisions: list[str]) -> Iterator[list[str]]:
    for (name,) in distinct(document["peers"], "name"):
        rows = [row for row in document["peers"] if row["name"] == name and "rate" in row]
        if rows and name != "simsuite nvrtc":
            cells = [f"asian, by {name} {rows[0]['version']}"]
            for precision in precisions:
                cells += [digits(the_row(rows, precision=precision).get("rate"), 1e9), ""]
            yield cells


def gbm_accuracy(document: Document) -> str:
    """Milliseconds to the smallest standard error that was asked for; forecasts where that takes too long to be run."""
    target = min(row["target"] for row in document["accuracy"])
    rows = [row for row in document["accuracy"] if row["target"] == target]
    precisions = [precision for (precision,) in distinct(rows, "precision")]
    head = ["method", *(f"{precision}, ms" for precision in precisions), "paths"]
    return markdown(head, [_accuracy(rows, method, precisions) for (method,) in distinct(rows, "method")])


def _accuracy(rows: list[Row], method: str, precisions: list[str]) -> list[str]:
    cells = [method]
    for precision in precisions:
        row = the_row(rows, method=method, precision=precision)
        seconds = digits(row.get("seconds", row.get("forecast_seconds")), 1e-3)
        missed = "" if row.get("met", True) else f" (reached {row['standard_error']:.3g})"
        cells.append(seconds + (missed if "seconds" in row else " (forecast)"))
    return [*cells, f"{the_row(rows, method=method)['paths']:.2g}".replace("e+0", "e")]


def linear(document: Document) -> str:
    """Products A X in TFLOP/s by what `auto` takes, beside the device's library."""
    rows = document["products"]
    head = ["rows × inner × columns"]
    for precision in PRECISIONS:
        head += [precision, "the library", "part of it"]
    shapes = distinct(rows, "rows", "inner", "columns")
    return markdown(head, [_product(rows, shape) for shape in shapes])


def _product(rows: list[Row], shape: tuple[int, ...]) -> list[str]:
    cells = [f"{shape[0]}³" if len(set(shape)) == 1 else " × ".join(map(str, shape))]
    for precision in PRECISIONS:
        alike = [r for r in rows if (r["rows"], r["inner"], r["columns"], r["precision"]) == (*shape, precision)]
        ours = the_row(alike, kernel="auto") or max(alike[1:], key=lambda row: row.get("flops", 0.0), default={})
        library: Row = next((row for row in alike if "of_library" not in row), {})
        cells += [digits(ours.get("flops"), 1e12), digits(library.get("flops"), 1e12), digits(ours.get("of_library"))]
    return cells


def linear_steps(document: Document) -> str:
    """Steps a second, and how many times the library's loop that is; sparse systems as well."""
    head = ["components, states", "method"]
    for precision in PRECISIONS:
        head += [precision, "times the library"]
    return markdown(head, [*_steps(document["steps"]), *_lattices(document.get("lattices", []))])


def _steps(rows: list[Row]) -> Iterator[list[str]]:
    for components, states in distinct(rows, "components", "states"):
        for stride, how in ((None, "a step at a time"), (1000, "`auto`, a frame every 1000 steps")):
            alike = {"components": components, "states": states, "steps_at_once": stride}
            yield [f"{components}, {states}", how, *_faster_by_precision(rows, alike)]


def _lattices(rows: list[Row]) -> Iterator[list[str]]:
    for components, states in distinct(rows, "components", "states"):
        alike = {"components": components, "states": states}
        yield [f"{components}, {states}", "sparse, a step at a time", *_faster_by_precision(rows, alike)]


def _faster_by_precision(rows: list[Row], alike: Row) -> Iterator[str]:
    for precision in PRECISIONS:
        row = the_row(rows, precision=precision, **alike)
        yield thousands(row.get("steps_per_second"))
        yield digits(row.get("simsuite_is_faster_by"))


def thousands(value: float | None) -> str:
    """A rate with the letter k or M."""
    if value is None:
        return ""
    return f"{digits(value, 1e6)} M" if value >= 1e6 else f"{digits(value, 1e3)} k"


def roads(problem: str) -> Callable[[Document], str]:
    """A function that writes the roads to a problem: what they cost, and how fast they are."""

    def write(document: Document) -> str:
        head = ["road", "library", "lines", "compiling, s", "first answer, s", "µs a launch", "rate, G/s"]
        return markdown([*head, "of the limit", "times slower"], map(_road, document[problem]))

    return write


def _road(row: Row) -> list[str]:
    cells = [f"`{row['road']}`" if row["library"] else "simsuite itself", row["library"], str(row.get("lines") or "")]
    cells += [digits(row.get("compiling")), digits(row.get("first_answer")), digits(row.get("launch"), 1e-6)]
    return [*cells, digits(row.get("rate"), 1e9), digits(row.get("of_limit")), digits(row.get("times_slower"))]


TABLES: dict[str, tuple[str, Callable[[Document], str]]] = {
    "heat": ("heat", heat),
    "heat auto": ("heat", heat_auto),
    "gbm": ("gbm", gbm),
    "gbm accuracy": ("gbm", gbm_accuracy),
    "linear": ("linear", linear),
    "linear steps": ("linear", linear_steps),
    "roads heat": ("routes", roads("heat")),
    "roads gbm": ("routes", roads("gbm")),
    "roads matmul": ("routes", roads("matmul")),
}


def table(name: str, sources: Path = HERE / "notes" / "bench") -> str:
    """The table of that name, of the document that it is made from."""
    solver, write = TABLES[name]
    return write(json.loads((sources / f"{solver}.json").read_text(encoding="utf-8")))


def replaced(page: str) -> str:
    """The page with all its tables written anew."""
    return re.sub(
        r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end of table -->)",
        lambda match: f"{match[1]}{table(match[2])}\n{match[3]}",
        page,
        flags=re.DOTALL,
    )


def main() -> None:
    if sys.argv[1:] == ["--print"]:
        print("\n\n".join(f"{name}\n\n{table(name)}" for name in TABLES))
    elif not sys.argv[1:]:
        for page in PAGES:
            page.write_text(replaced(page.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
