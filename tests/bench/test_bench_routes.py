"""`simsuite bench routes`: roads that need no GPU are measured and right, others say why they are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simsuite.bench.routes import workloads
from simsuite.bench.routes.measurements import lines_of
from simsuite.bench.routes.once import main
from simsuite.bench.routes.reference import PLATE_STEPS, RX, RY, contracts, plate, stepped_plate
from simsuite.errors import LibraryMissing
from simsuite.pictures.bench import draw_bench
from simsuite.routes.roads import ROADS, roads_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("reference")
    np.save(found / "plate.npy", plate())
    np.save(found / "stepped.npy", stepped_plate())
    return found


def test_the_solver_steps_the_plate_as_a_matrix_does() -> None:
    """The reference of all roads, against powers of a matrix."""
    ny, nx = plate().shape
    inner = np.zeros((ny, nx), bool)
    inner[1:-1, 1:-1] = True
    second = [np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1) - 2 * np.eye(n) for n in (ny, nx)]
    change = RX * np.kron(np.eye(ny), second[1]) + RY * np.kron(second[0], np.eye(nx))
    step = np.eye(ny * nx) + change * inner.ravel()[:, None]
    expected = np.linalg.matrix_power(step, PLATE_STEPS) @ plate().ravel()
    np.testing.assert_allclose(stepped_plate(), expected.reshape(ny, nx), atol=1e-15)


@pytest.mark.parametrize(("problem", "size"), [("heat", 64), ("gbm", 64), ("matmul", 64)])
def test_a_road_without_a_gpu_is_measured(
    problem: str, size: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "LEAST", 0.001)
    monkeypatch.setattr(workloads, "PATHS", 1 << 12)
    row = main(problem, "numpy", "cpu", size, folder, 0.0)
    assert row["right"]
    assert row["rate"] > 0
    assert row["size"] == size
    json.dumps(row)


def test_a_wrong_road_gets_no_rate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsuite.bench.routes.once.opened", lambda *_: lambda u, steps, rx, ry: u * 1.001)
    row = main("heat", "numpy", "cpu", 64, folder, 0.0)
    assert not row["right"]
    assert "rate" not in row


def test_a_road_whose_library_is_missing_says_so(folder: Path) -> None:
    command = [sys.executable, "-m", "simsuite.bench.routes.once", "matmul", "torch", "cpu", "8", str(folder), "0.0"]
    if (done := subprocess.run(command, capture_output=True, text=True, timeout=100)).returncode:
        raise AssertionError(done.stderr)
    found = json.loads(done.stdout)
    if "skipped" not in found:
        pytest.skip("PyTorch is installed")
    assert found["skipped"].startswith("torch needs ")
    assert LibraryMissing.exit_code == 4


def test_lines_of_code_are_counted_without_words_about_them() -> None:
    numpy = next(road for road in ROADS if road.name == "numpy")
    assert lines_of("matmul", numpy) == 6  # three imports, a def, a check, a return
    for problem in ("heat", "gbm", "matmul"):
        assert all(5 <= lines_of(problem, road) <= 120 for road in roads_of(problem))


def test_the_prices_are_those_of_the_solver() -> None:
    (european, price), (asian, mean) = contracts().values()
    assert price == pytest.approx(10.450583572185565, abs=1e-9)
    assert not european.asian
    assert asian.asian
    assert 5.7 < mean < 5.9


def test_the_command_has_words_for_what_it_does_not_do(tmp_path: Path) -> None:
    for arguments, words in (
        (["heat", "gbm"], "write heat, gbm, matmul, or nothing for all"),
        (["wave"], "write heat, gbm, matmul, or nothing for all"),
        (["--sizes", "8"], "--sizes, --precision and --only have no place"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "simsuite", "bench", "routes", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2
        assert words in done.stderr


def test_the_picture_has_a_panel_a_problem(tmp_path: Path) -> None:
    row = {"road": "cupy", "library": "CuPy", "rate": 1e11, "of_limit": 0.2}
    document = {
        "solver": "routes",
        "device": "cuda:0",
        "device_name": "a GPU",
        "simsuite": "0",
        "heat": [row],
        "gbm": [row],
    }
    assert draw_bench(tmp_path / "bench.png", document | {"matmul": [{"road": "torch", "library": "", "skipped": "x"}]})
    assert (tmp_path / "bench.png").stat().st_size > 10_000
    assert not draw_bench(tmp_path / "none.png", document | {"heat": [], "gbm": []})
