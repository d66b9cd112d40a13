"""How much memory payoffs take, and what is said where it is too little."""

from __future__ import annotations

import gc
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, problem, tables
from running import call
from test_resume import write

from simsuite.assembly import memory_needed
from simsuite.backends.cpu import CpuBackend
from simsuite.expressions import sharing
from simsuite.expressions.parser import parse
from simsuite.expressions.sharing import evaluate_each, shared, values_at_once
from simsuite.io.reading import open_results
from simsuite.solvers.gbm.portfolio.portfolio import PAYOFFS_CHUNK

pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = ("exp(x) * log(y) + exp(x)", "sqrt(exp(x) * log(y)) - y", "x", "exp(x) * log(y)", "3", "max(x, y, exp(x))")


class Counted:
    """What stands for an array, and knows how many of its kind there are."""

    alive = most = 0

    def __init__(self) -> None:
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1


def trees() -> tuple[Any, ...]:
    return shared([parse(text, ("x", "y")) for text in TEXTS])


def test_values_are_those_of_each_expression() -> None:
    x, y = np.linspace(1, 2, 5), np.linspace(2, 3, 5)
    found = evaluate_each(trees(), {"x": x, "y": y})
    for text, value in zip(TEXTS, found, strict=True):
        expected = eval(text, {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "x": x, "y": y}
                        | {"max": lambda *args: np.max(args, axis=0)})  # fmt: skip
        np.testing.assert_array_equal(value, expected)


def test_what_is_computed_on_the_way_goes_as_soon_as_nothing_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the garbage collector, which nobody knows when it comes; and as many as was foreseen are held."""
    monkeypatch.setattr(sharing, "apply", lambda node, parts, values: Counted())
    gc.disable()
    try:
        for _ in evaluate_each(trees(), {}):
            pass
        del _
        assert Counted.alive == 0
    finally:
        gc.enable()
    names_and_result = 4
    assert 0 <= Counted.most - values_at_once(trees()) <= names_and_result


def test_memory_of_payoffs_is_that_of_a_chunk_and_is_foreseen() -> None:
    """It grew with the number of paths, to gigabytes: 16 chunks are made without a collection of garbage."""
    p = problem(
        market={"rate": 0.05, "correlation": [[1.0, 0.4], [0.4, 1.0]]},
        asset=[ASSET, ASSET | {"name": "B"}],
        paths={"count": 16 * PAYOFFS_CHUNK, "batch": PAYOFFS_CHUNK},
        option=[
            option | {"greeks": True} for option in (CALL, ASIAN, {"style": "basket", "payoff": "call", "strike": 99.0})
        ],
    )
    stepper = p.stepper(CpuBackend(), p.initial())
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        stepper.advance(p.clock.end)
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert left < 100_000
    assert most < 8 * (p.passing_arrays + len(p.payoffs.values)) * PAYOFFS_CHUNK < p.device_bytes() < memory_needed(p)


@pytest.mark.parametrize(
    "place", ["problem.GbmProblem.stepper", "paths.stepper.PathStepper.advance", "problem.GbmProblem.rows"]
)
def test_memory_that_runs_out_amid_a_run_is_no_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def no_room(*args: object) -> None:
        raise MemoryError("Unable to allocate 9.3 GiB")

    scenario = write(tmp_path / "s.toml", tables(paths={"count": 4096, "batch": 2048}), {"run.device": "cpu"})
    monkeypatch.setattr(f"simsuite.solvers.gbm.{place}", no_room)
    done = call(capsys, "run", scenario, "-o", tmp_path / "run", "--json")
    assert done.returncode == 4
    assert "error: there is not enough memory for this run: Unable to allocate 9.3 GiB\n" in done.stderr
    assert "= help: take a smaller paths.batch than 2048" in done.stderr
    assert "bug" not in done.stderr
    assert json.loads(done.stdout)["exit_code"] == 4
    if place != "problem.GbmProblem.stepper":
        with open_results(tmp_path / "run" / "results.h5") as file:
            assert file.attrs["status"] == b"failed"


def test_a_run_that_ran_out_of_memory_goes_on_with_smaller_batches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bits that any batch gives. Checkpoints go by batches: where there is one, the message names the key."""

    def no_room(*args: object) -> None:
        raise MemoryError("Unable to allocate 9.3 GiB")

    scenario = write(tmp_path / "s.toml", tables(paths={"count": 4096, "batch": 2048}), {"run.device": "cpu"})
    small = "--set", "paths.batch=1024"
    with monkeypatch.context() as little:
        little.setattr("simsuite.solvers.gbm.paths.stepper.PathStepper.advance", no_room)
        assert call(capsys, "run", scenario, "-o", tmp_path / "run").returncode == 4
    after = call(capsys, "run", scenario, "-o", tmp_path / "run", "--json", *small)
    assert after.returncode == 0, after.stderr
    whole = call(capsys, "run", scenario, "-o", tmp_path / "whole", "--json")
    assert json.loads(after.stdout)["results"] == json.loads(whole.stdout)["results"]

    assert call(capsys, "run", scenario, "-o", tmp_path / "stopped", "--max-minutes", "0").returncode == 75
    refused = call(capsys, "run", scenario, "-o", tmp_path / "stopped", *small)
    assert refused.returncode == 2
    assert "it differs in paths.batch" in refused.stderr


def test_memory_that_runs_out_elsewhere_is_no_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*args: object) -> None:
        raise MemoryError("Unable to allocate 9.3 GiB")

    (tmp_path / "results.h5").touch()  # a directory that seems to hold a run
    monkeypatch.setattr("simsuite.pictures.draw", no_room)
    done = call(capsys, "plot", tmp_path)
    assert done.returncode == 4
    assert done.stderr == "error: there is not enough memory on this machine: Unable to allocate 9.3 GiB\n"
