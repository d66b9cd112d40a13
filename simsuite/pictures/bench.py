"""Pictures of what `simsuite bench` measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.pictures import bench_gbm, bench_heat, bench_linear, bench_routes, bench_scaling
from simsuite.pictures.bench_panels import Row
from simsuite.pictures.convergence import PANEL_HEIGHT
from simsuite.pictures.sheet import Sheet

COLUMNS = 2
TITLES = {"routes": "Every road from Python to CUDA", "scaling": "Several processes beside one"}
PANELS = {
    "heat": bench_heat.panels,
    "gbm": bench_gbm.panels,
    "linear": bench_linear.panels,
    "routes": bench_routes.panels,
    "scaling": bench_scaling.panels,
}


@dataclass(frozen=True)
class _Measured:
    title: str
    finished: bool = True


def draw_bench(path: Path, document: Row) -> bool:
    """Draw the measurements of a document into `path`; False where there are none. Raises UsageError where it cannot be
    written.
    """
    panels = PANELS[document["solver"]](document)
    if not panels:
        return False
    rows = -(-len(panels) // COLUMNS)
    subtitle = f"{document['device_name']}, {document['device']}, simsuite {document['simsuite']}"
    title = TITLES.get(document["solver"], f"{document['solver']}, measured")
    sheet = Sheet(_Measured(title), 0.9 + PANEL_HEIGHT * rows, subtitle)
    axes = sheet.figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax, draw in zip(axes, panels):
        draw(ax)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    try:
        sheet.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    return True
