"""What `simsuite bench linear` measured: square products by each kernel, and steps a second."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from simsuite.pictures.bench_panels import Draw, Row, curve, legend
from simsuite.pictures.convergence import MARKERS
from simsuite.pictures.sheet import COLOURS, tidy


def panels(document: Row) -> list[Draw]:
    """Of a document. Steps that are not taken one by one have no operations of their own."""
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
    """The fastest of each kind and size."""

    def draw(ax: Axes) -> None:
        ax.set(xscale="log", yscale="log")
        tidy(ax, title, size, "GFLOP/s")
        for i, name in enumerate(dict.fromkeys(row[kind] for row in rows)):
            best: dict[int, float] = {}
            for row in rows:
                if row[kind] == name:
                    best[row[size]] = max(best.get(row[size], 0.0), row["flops"] * 1e-9)
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            curve(ax, sorted(best), [best[n] for n in sorted(best)], colour, marker, f"{name}")
        legend(ax)

    return draw
