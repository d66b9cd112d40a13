"""The benchmark of the linear solver: what it times is checked, what is wrong is found, and its figures follow.

Nothing here depends on how fast the machine is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.image
import numpy as np
import pytest
import running
from cuda_host import host_cuda  # noqa: F401
from matplotlib.figure import Figure

from simsuite.backends import open_backend
from simsuite.bench import machine, machine_cpu
from simsuite.bench.findings import Wish, wrong
from simsuite.bench.linear import crossover, measurements, products, report
from simsuite.bench.linear.products import product_deviation, product_rows
from simsuite.bench.linear.shapes import FULL, PRECISIONS
from simsuite.bench.linear.steps import step_rows
from simsuite.bench.machine import Machine
from simsuite.bench.timing import Patience
from simsuite.pictures import bench_linear
from simsuite.solvers.linear.powers.power import PowerStepper
from simsuite.solvers.matmul import product_cpu
from simsuite.solvers.matmul.product import suitable

pytestmark = pytest.mark.usefixtures("one_thread")
HASTE = Patience(stretch=1e-5, repeats=1, most=0.0)
MACHINE = Machine(4e12, {"float32": 3e13, "float64": 1.5e13})


@pytest.fixture(scope="module")
def found() -> list[tuple[str, dict[str, Any]]]:
    tiny = replace(
        FULL,
        patience=HASTE,
        products={"cpu": ((5, 6, 7), (8, 8, 8))},
        systems={"cpu": ((2, 1), (5, 3))},
        crossing=(40,),
        lattices={"cpu": ((4, 1), (3, 5))},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurements, "FULL", tiny)
        patch.setattr(machine, "COPIED", 1 << 20)
        patch.setattr(machine_cpu, "ELEMENTS", 1 << 12)
        return list(measurements.measurements(open_backend("cpu"), Wish((), PRECISIONS)))


def test_every_combination_is_a_row_and_right(found):
    got = [(row["rows"], row["precision"], row["kernel"]) for section, row in found if section == "products"]
    assert got == [(n, p, kernel) for n in (5, 8) for p in PRECISIONS for kernel in ("NumPy", "vectors")]
    stepped = [(row["components"], row["precision"], row["kernel"]) for section, row in found if section == "steps"]
    assert stepped == [(n, p, way) for n in (2, 5) for p in PRECISIONS for way in ("numba", "numba, step")]
    sparse = [row for section, row in found if section == "lattices"]
    assert [(row["components"], row["states"], row["precision"]) for row in sparse] == [
        (n, m, p) for n, m in ((16, 1), (9, 5)) for p in PRECISIONS
    ]
    assert all(row["kernel"] == "csr" and row["of_copy"] > 0 and row["simsuite_is_faster_by"] > 0 for row in sparse)
    crossing = [row for section, row in found if section == "crossover"]
    assert [(row["precision"], row["kernel"]) for row in crossing] == [
        (p, method) for p in PRECISIONS for method in ("power", "spectral")
    ]
    assert all(16 <= row["from_steps"] <= 1 << 22 for row in crossing)
    assert not wrong(found)
    assert all(row["flops"] > 0 for section, row in found if section not in ("machine", "crossover"))


def test_rates_follow_from_seconds(found):
    by = [row for section, row in found if section == "products" and row["rows"] == 5]
    for row in by:
        assert row["flops"] * row["seconds"] == pytest.approx(2 * 5 * 6 * 7)
        assert row["of_fma"] == pytest.approx(
            row["flops"] / (2 * dict(found)["machine"]["fma_per_second"][row["precision"]])
        )
    assert by[1]["of_library"] == pytest.approx(by[1]["flops"] / by[0]["flops"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 40, 3000])
def test_one_wrong_entry_is_found_and_rounding_is_none(p, dtype):
    rng = np.random.default_rng(p)
    A, X = (2 * rng.random(shape) - 1 for shape in ((300, p), (p, 70)))
    A, X = A.astype(dtype), X.astype(dtype)
    product = A @ X
    assert product_deviation(A, X, product).right
    product[299, 69] *= 1 - 2e-3
    assert not product_deviation(A, X, product).right
    product[0, 0] = np.nan
    assert product_deviation(A, X, product).error == np.inf


def test_a_kernel_that_is_wrong_is_not_timed(monkeypatch):
    def off(self, X, bias, row, stride, n_steps, out):
        self._launch(X, bias, row, stride, n_steps, out)
        out[0, 0] += 1e-3

    monkeypatch.setattr(product_cpu.Multiplier, "__call__", off)
    rows = list(product_rows(open_backend("cpu"), MACHINE, HASTE, [(9, 9, 9)], ["float64"]))
    assert [row["right"] for row in rows] == [True, False]
    assert "seconds" not in rows[1]


def test_every_kernel_of_a_gpu_is_measured(host_cuda, monkeypatch):  # noqa: F811
    """With programs on the host."""
    rows = list(product_rows(host_cuda, MACHINE, HASTE, [(3, 4, 5)], PRECISIONS))
    assert [row["kernel"] for row in rows if row["precision"] == "float64"] == [
        *(
            "NumPy",
            "vectors",
            *(recipe.title for recipe in suitable((3, 4, 5), 8, host_cuda.processors, host_cuda.block_memory)),
            "auto",
        )
    ]
    assert all(row["right"] for row in rows)
    monkeypatch.setattr(products, "library", lambda backend: None)
    rows = list(product_rows(host_cuda, MACHINE, HASTE, [(3, 4, 5)], ["float32"]))
    assert len(rows) == 2 + len(suitable((3, 4, 5), 4, host_cuda.processors)) > 3


def test_steps_by_programs_are_measured(host_cuda):  # noqa: F811
    """With programs on the host, and by methods that need not take every step."""
    host_cuda.processors = 1  # blocks that wait for each other would take a minute
    rows = list(step_rows(host_cuda, HASTE, [(3, 4), (34, 1)], ["float32"]))
    ways = [(n, way) for n, method in ((3, "step"), (34, "power")) for way in ("nvrtc", "numba", f"nvrtc, {method}")]
    assert [(row["components"], row["kernel"]) for row in rows] == ways
    assert all(row["right"] for row in rows)
    assert ["steps_at_once" in row for row in rows] == [False, False, True] * 2


def test_the_command(found, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(measurements, "measurements", lambda backend, wish: iter(found))
    done = running.call(capsys, "bench", "linear", "--device", "cpu", "-o", tmp_path)
    assert done.returncode == 0
    assert "GFLOP/s" in done.stdout
    assert "vectors" in done.stdout
    assert np.ptp(matplotlib.image.imread(tmp_path / "bench.png")) > 0.5
    assert (tmp_path / "bench.json").exists()
    assert running.call(capsys, "bench", "linear", "--device", "cpu", "--only", "peers").returncode == 2


def test_methods_that_come_to_something_else_are_found(monkeypatch):
    monkeypatch.setattr(crossover, "_seconds_of_a_step", lambda *_: 1.0)
    advance = PowerStepper.advance
    monkeypatch.setattr(PowerStepper, "advance", lambda self, n: advance(self, n) or self._buffers[self._live].fill(1))
    rows = list(crossover.crossover_rows(open_backend("cpu"), HASTE, [8], ["float64"]))
    assert [(row["kernel"], row["right"]) for row in rows] == [("power", False), ("spectral", True)]
    assert all(row["from_steps"] == crossover._FIRST for row in rows)


def test_methods_that_never_pay_are_said_to(monkeypatch):
    monkeypatch.setattr(crossover, "_LAST", 2 * crossover._FIRST)
    monkeypatch.setattr(crossover, "_seconds_of_a_step", lambda *_: 0.0)
    rows = list(crossover.crossover_rows(open_backend("cpu"), HASTE, [8], ["float64"]))
    assert not any("from_steps" in row for row in rows)
    assert all("never" in line for row in rows for line in report.lines("crossover", row))


def test_the_picture_has_the_steps_that_were_taken():
    row = {"components": 2, "states": 1, "precision": "float64", "kernel": "numba", "flops": 3e9}
    (draw,) = bench_linear.panels({"steps": [row, row | {"steps_at_once": 1000, "flops": 7e12}]})
    ax = Figure().add_subplot()
    draw(ax)
    (line,) = ax.lines
    assert line.get_ydata() == [3.0]


def test_a_picture_has_one_curve_for_all_tiles():
    """A GPU tries a dozen of them: the best of each size counts."""
    names = ("cuBLAS", "tile 64 x 64 x 32, 3 stages, by 8", "tile 128 x 64 x 16, 3 stages, by 4", "auto")
    rows = [
        {"rows": n, "inner": n, "columns": n, "precision": "float64", "kernel": name, "flops": (1 + i) * 1e9}
        for n in (256, 512)
        for i, name in enumerate(names)
    ]
    (draw,) = bench_linear.panels({"products": rows})
    ax = Figure().subplots()
    draw(ax)
    curves = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert curves == {"cuBLAS": [1, 1], "tile": [3, 3], "auto": [4, 4]}
