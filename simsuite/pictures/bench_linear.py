"""Panels of what `simsuite bench linear` measured: square products by each kernel, and steps a second."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from simsuite.pictures.bench_panels import Draw, Row, curve, legend
from simsuite.pictures.convergence import MARKERS
from simsuite.pictures.sheet import COLOURS, tidy


def panels(document: Row) -> list[Draw]:
    """The panels of a document. Steps that are not taken one by one are left out, as they have no operations of their
    own.
    """
    products = [row for row in document.get("products", []) if "flops" in row]
    square = [row for row in products if row["rows"] == row["inner"] == row["columns"]]
    steps = [row for row in document.get("steps", []) if "flops" in row and "steps_at_once" not in row]
    return [
        *(_curves(own, "rows", "kernel", f"square products, {precision}") for precision, own in _split(square)),
        *(_curves(own, "components", "states", f"steps, {precision}, by states") for precision, own in _split(steps)),
    ]


def _split(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    precisions = dict.fromkeys(row["precision"] for row in rows)
    return [(name, [row for row in rows if row["precision"] == name]) for name in precisions]


def _curves(rows: Sequence[Row], size: str, kind: str, title: str) -> Draw:
    """A panel with the fastest row of each kind and size. Of a program's name only the first word counts: all tiles are
    one kind.
    """

    def draw(ax: Axes) -> None:
        ax.set(xscale="log", yscale="log")
        tidy(ax, title, size, "GFLOP/s")
        best: dict[str, dict[int, float]] = {}
        for row in rows:
            own = best.setdefault(str(row[kind]).split()[0], {})
            own[row[size]] = max(own.get(row[size], 0.0), row["flops"] * 1e-9)
        for i, (name, found) in enumerate(best.items()):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            curve(ax, sorted(found), [found[n] for n in sorted(found)], colour, marker, name)
        sizes = sorted({row[size] for row in rows})
        ax.set_xticks(sizes, map(str, sizes))
        ax.xaxis.set_minor_locator(NullLocator())
        legend(ax)

    return draw
