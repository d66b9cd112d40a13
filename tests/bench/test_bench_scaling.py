"""`simsuite bench scaling`: what it measures, and the model by which it predicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shared_runs
from running import simsuite
from shared_runs import with_mpi

from simsuite.bench.scaling.measurements import _numbers
from simsuite.bench.scaling.model import Link, Share
from simsuite.bench.scaling.problems import SCENARIOS, SHARED, SIZES
from simsuite.pictures.bench import draw_bench
from simsuite.scenario.load import load_table


def test_a_link_is_found_by_its_exchanges() -> None:
    sizes = [1 << k for k in range(10, 25, 2)]
    noise = 1 + 0.05 * np.random.default_rng(1).standard_normal(len(sizes))
    link = Link.fitted(sizes, [float(each) for each in (5e-6 + np.array(sizes) / 4e9) * noise])
    assert link.latency == pytest.approx(5e-6, rel=0.1)
    assert link.bandwidth == pytest.approx(4e9, rel=0.1)
    assert Link.fitted(sizes, [1e-5] * len(sizes)).latency == pytest.approx(1e-5)


def test_the_model_has_its_limits() -> None:
    """A plate of 1024 rows, 1000 steps of a millisecond, halos 8 deep."""
    free, slow = Link(0.0, np.inf), Link(1e-3, np.inf)
    plate = Share(1.0, 1000, 1024, row_bytes=8192)
    assert plate.efficiency(1024, free, weak=True) == pytest.approx(1024 / 1040)
    assert plate.efficiency(64, free, weak=False) == pytest.approx(16 / 32)
    # 125 exchanges and seven messages at the end, a millisecond each, beside a second of steps or an eighth of it
    assert plate.efficiency(8, slow, weak=True) == pytest.approx(1 / (1040 / 1024 + 0.132))
    assert plate.efficiency(8, slow, weak=False) == pytest.approx(0.125 / (0.125 * 144 / 128 + 0.132))
    assert plate.efficiency(2, free, weak=False) == pytest.approx(512 / 520), "there is one neighbour"
    assert plate.efficiency(2048, free, weak=False) == 0.0
    high = Share(1.0, 1000, 16384, row_bytes=8192)  # halos 64 deep
    assert high.efficiency(3, slow, weak=True) == pytest.approx(1 / (16512 / 16384 + 0.015625 + 0.002))
    paths = Share(1.0, 252, 96, look_bytes=1e6)
    assert paths.efficiency(64, free, weak=False) == pytest.approx(96 / 128), "one process has two groups, others one"
    assert paths.efficiency(11, Link(0.0, 1e8), weak=True) == pytest.approx(1 / 1.1)


@pytest.mark.parametrize(("devices", "expected"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_numbers_of_processes_double_up_to_all_devices(devices: int, expected: list[int]) -> None:
    assert _numbers(devices) == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_weak_scaling_has_as_many_times_more_to_share(name: str) -> None:
    size = SIZES[name]["cpu"][1]
    once, thrice = (
        load_table(SCENARIOS[name](size, times, "cpu", "float64"), Path("x.toml")).model for times in (1, 3)
    )
    count: Any = {
        "heat": lambda model: model.grid.ny,
        "gbm": lambda model: model.paths.count // 1024,
        "linear": lambda model: model.initial.state.batch,
    }[name]
    assert (count(once), count(thrice)) == (SHARED[name](size), 3 * SHARED[name](size))


@with_mpi
def test_scaling_is_measured_predicted_checked_and_drawn(tmp_path: Path) -> None:
    words = ("bench", "scaling", "heat", "--sizes", "64", "--precision", "float64", "--device", "cpu", "--quick")
    done = shared_runs.simsuite(1, [*words, "--json", "-o", "out"], tmp_path)
    assert done.code == 0, done
    found = json.loads(done.out)
    assert found == json.loads((tmp_path / "out/bench.json").read_text())
    rows = found["measured"]
    assert rows[0]["processes"] == 1
    for scaling in ("weak", "strong"):
        own = [row for row in rows if row["scaling"] == scaling]
        one, *others = own
        assert (one["efficiency"], one["waited"]) == (1.0, 0.0)
        for row in others:
            assert row["efficiency"] == row["rate"] / one["rate"] / row["processes"]
            assert 0 < row["waited"] < 1
            assert row["exchanges"] == pytest.approx(1 / 8, rel=0.1)
            assert row["bytes"] == 8 * 64 * 8
            assert row["digest"] == one["digest"] or scaling == "weak"
    if len(rows) > 2:
        assert {row["processes"] for row in found["predicted"]} >= {64, 1024}
        assert all(row["measured"] is None for row in found["predicted"] if row["processes"] in (64, 1024))
        assert found["links"][0]["latency"] >= 0
        assert draw_bench(tmp_path / "again.png", found)


@pytest.mark.parametrize("words", [["matmul"], ["heat", "gbm"], ["--only", "rates"], ["--sizes", "64"]])
def test_what_cannot_be_asked_for_is_refused(tmp_path: Path, words: list[str]) -> None:
    done = simsuite("bench", "scaling", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "error: " in done.stderr
