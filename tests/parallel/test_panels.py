"""Linear systems whose rows processes share, in threads in place of processes: the bits of one process."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from counting import Counting
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_problems import few_threads, orthogonal, problem, without_workspaces
from meeting import OneOfThreads, of_threads
from shared_runs import simsuite, with_mpi
from test_shared_runs import written
from test_shares import OneOf, snapshot

from simsuite.backends.cpu import CpuBackend
from simsuite.communication.communicator import ALONE
from simsuite.core import Snapshot
from simsuite.solvers.linear import batch
from simsuite.solvers.linear.powers import power_error, squares
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.spectral.stepper import SpectralStepper
from simsuite.solvers.linear.stepping import step_product
from simsuite.solvers.matmul.shared_rows import Panel


@given(n=st.integers(1, 300), processes=st.integers(1, 20))
@settings(max_examples=300, deadline=None)
def test_each_row_is_that_of_one_process_which_holds_it(n: int, processes: int) -> None:
    panels = [Panel(n, p, processes) for p in range(processes)]
    owned = [range(n)[panel.own(p)] for p, panel in enumerate(panels)]
    assert [row for rows in owned for row in rows] == list(range(n))
    for panel, own in zip(panels, owned):
        held = range(n)[panel.held]
        assert len(held) == panel.height == -(-n // processes)
        assert set(own) <= set(held)
        assert [panel.own(p) for p in range(processes)] == [panels[0].own(p) for p in range(processes)]


# ---- random systems


def random_problem(seed: int, method: str) -> LinearProblem:
    """A random system with some of: noise, inputs that depend on time, an output, several states, a sparse matrix."""
    rng = np.random.default_rng(seed)
    m, p = (1, 1, 3)[seed % 3], int(rng.integers(1, 4))
    n = max(int(rng.integers(1, 70)), 2 * m)
    A = rng.standard_normal((n, n)) / np.sqrt(max(n, 4))
    system: dict[str, Any] = {"kind": ("discrete", "continuous")[seed % 2]}
    some = rng.random(4) < 0.5
    if some[0]:
        changing = "sin(3*t)" if method == "step" else "where(t < 0.21, 1, 2)"
        system |= {"input_matrix": rng.standard_normal((n, p)).tolist(), "input": [0.3, changing, 1.7][:p]}
    if some[1]:
        system["output_matrix"] = rng.standard_normal((3, n)).tolist()
    if some[2] and method == "step":
        system["noise_matrix"] = rng.standard_normal((n, 2)).tolist()
    precision = ("float64", "float32")[seed // 2 % 2]
    return problem(
        A, {"random": "normal", "batch": m}, 60, 0.01, method, 1.0 if method == "power" else None,
        system=system, run={"precision": precision}, output={"frames": 5},
    )  # fmt: skip


def course(whole: LinearProblem, start: Snapshot, steps: list[int], communicator: OneOfThreads) -> list[Snapshot]:
    numba.set_num_threads(1)
    part = whole.cut(start, communicator.rank, communicator.size)
    return looks(whole.part(CpuBackend(), part, communicator), steps)


def looks(stepper: Any, steps: list[int]) -> list[Snapshot]:
    found = []
    for n in steps:
        stepper.advance(n)
        found += [snapshot(stepper.observe("time")), snapshot(stepper.snapshot())]
    return found


def shared(whole: LinearProblem, start: Snapshot, steps: list[int], processes: int) -> list[Snapshot]:
    parts = of_threads(functools.partial(course, whole, start, steps), processes)
    return [whole.join(each) for each in zip(*parts)]


def require_bits(found: list[Snapshot], expected: list[Snapshot]) -> None:
    for ours, others in zip(found, expected, strict=True):
        assert ours.step == others.step
        assert ours.arrays.keys() == others.arrays.keys()
        for name in ours.arrays:
            assert ours.arrays[name].tobytes() == others.arrays[name].tobytes(), name


def without_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LARGE", 1)


@pytest.mark.parametrize("method", ["step", "power"])
@pytest.mark.parametrize("seed", range(12))
def test_parts_are_together_what_one_process_has(seed: int, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at between frames, and gone on with by another number of processes, some of them without rows."""
    without_thresholds(monkeypatch)
    whole = random_problem(seed, method)
    expected = looks(whole.stepper(CpuBackend(), whole.initial()), [7, 21, 1, 31])
    processes = 2 + seed % 4
    assert whole.by_rows(processes)
    first = shared(whole, whole.initial(), [7, 21], processes)
    require_bits([*first, *shared(whole, first[-1], [1, 31], processes % 4 + 2)], expected)


@pytest.mark.parametrize("method", ["step", "power"])
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_three_processes_have_what_numpy_has(seed: int, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_thresholds(monkeypatch)
    rng = np.random.default_rng(seed)
    n, m, steps = (1, 50, 127)[seed % 3], (1, 3)[seed % 2], 40
    A, X, B = 0.99 * orthogonal(n, seed), rng.standard_normal((n, m)), rng.standard_normal((n, 2))
    system = {"input_matrix": B.tolist(), "input": ["where(t < 17, 1, -1)", 0.5]}
    whole = problem(A, X, steps, 1.0, method, system=system)
    found = shared(whole, whole.initial(), [steps], 3)[-1].arrays["state"]
    for k in range(steps):
        X = A @ X + (B @ [1.0 if k < 17 else -1.0, 0.5])[:, None]
    np.testing.assert_allclose(found, X, rtol=1e-11, atol=1e-11)


def test_a_series_is_shared_product_by_product() -> None:
    matrix = {"generator": "heat1d", "points": 41, "format": "csr"}
    whole = problem(matrix, {"random": "normal", "batch": 1}, 12, 0.01, "step", system={"kind": "continuous"})
    assert whole.system.series is not None
    expected = looks(whole.stepper(CpuBackend(), whole.initial()), [5, 7])
    require_bits(shared(whole, whole.initial(), [5, 7], 3), expected)


def test_modes_take_over_where_powers_of_panels_lose_too_much() -> None:
    matrix = {"generator": "random_stable", "size": 30}
    whole = problem(matrix, {"random": "normal", "batch": 1}, 100_000, 0.01, "auto", 1e-16)
    alone = whole.stepper(CpuBackend(), whole.initial())
    assert isinstance(alone, SpectralStepper)
    require_bits(shared(whole, whole.initial(), [7, 60_000], 2), looks(alone, [7, 60_000]))


# ---- how many, how much


@pytest.mark.parametrize("method", ["step", "power"])
def test_part_bytes_count_every_array_of_a_panel(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_thresholds(monkeypatch)
    without_workspaces(monkeypatch)
    monkeypatch.setattr(step_product, "product_entries", lambda n, p: 2 * n * p + 4 * p)  # a little to work with
    n, processes = 300, 3
    system = {"input_matrix": [[1.0, 2.0]] * n, "input": ["where(t < 33, 1, 2)", 1.0], "output_matrix": [[1.0] * n]}
    p = problem(orthogonal(n), {"random": "normal", "batch": 2}, 300, 1.0, method, system=system)

    def allocated(communicator: OneOfThreads) -> int:
        counting = Counting()
        stepper = p.part(counting, p.cut(p.initial(), communicator.rank, processes), communicator)
        stepper.advance(300)
        return counting.most

    assert 0.3 * p.part_bytes(processes) < max(of_threads(allocated, processes)) <= p.part_bytes(processes)


@pytest.mark.parametrize("method", ["step", "power"])
def test_a_panel_needs_its_share_of_the_memory(method: str) -> None:
    n = 3000
    p = problem({"generator": "random_stable", "size": n}, {"unit": [0]}, 1000, 1.0, method)
    assert p.part_bytes(4) < 0.4 * p.device_bytes()
    assert p.part_bytes(8) < 0.75 * p.part_bytes(4)


def test_rows_are_shared_where_columns_are_few() -> None:
    def by_rows(n: int, m: int, processes: int, method: str = "step", kept: str = "dense") -> bool:
        matrix = {"generator": "markov", "states": n, "up": 0.3, "down": 0.35, "format": kept}
        return problem(matrix, {"random": "normal", "batch": m}, 10, 1.0, method).by_rows(processes)

    assert by_rows(5, 1, 2)
    assert by_rows(5, 1, 2, "power")
    assert by_rows(5, 1, 2, kept="csr")
    assert by_rows(batch.LARGE, 31, 2)
    assert not by_rows(batch.LARGE, 32, 2)
    assert by_rows(batch.LARGE, 32, 2, "power")
    assert not by_rows(batch.LARGE, 1025, 2, "power")
    assert not by_rows(batch.LARGE, 2, 2, kept="csr")
    assert not by_rows(batch.LARGE - 1, 2, 4)
    assert not by_rows(5, 1, 1)
    assert not by_rows(5, 1, 2, "spectral")


def test_what_cannot_be_shared_is_refused_with_the_reason() -> None:
    def why(m: int, method: str, kernel: str = "auto") -> str | None:
        state = {"random": "normal", "batch": m}
        return problem(orthogonal(4), state, 10, 1.0, method, run={"kernel": kernel}).indivisible(2)

    assert why(1, "step") is why(1, "power") is why(2, "spectral") is None
    assert str(why(1, "spectral")).startswith("it takes a single state by modes of A")
    assert str(why(1, "step", "cublas")).startswith('kernel = "cublas" sums in an order that depends')
    assert str(why(9, "step", "cublas")).startswith('kernel = "cublas" sums in an order that depends')


# ---- other devices


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("m", [1, 2])
def test_rows_of_each_panel_on_every_backend(backend: Any, m: int, precision: str, monkeypatch: Any) -> None:
    """Each process alone: after a step it has its own rows, while those of others are missing."""
    without_thresholds(monkeypatch)
    if backend.name == "cudasim":
        few_threads(backend, monkeypatch)
    n, processes = 5, 3
    system = {"input_matrix": [[0.1 * k] for k in range(n)], "input": ["sin(t)"], "noise_matrix": [[1.0]] * n}
    whole = problem(
        orthogonal(n), {"random": "normal", "batch": m}, 3, 1.0, "step", system=system, run={"precision": precision}
    )
    alone = whole.stepper(backend, whole.initial())
    alone.advance(1)
    expected = backend.to_host(alone.state["state"])
    for p in range(processes):
        stepper = whole.part(backend, whole.initial(), OneOf(p, processes))
        stepper.advance(1)
        own = Panel(n, p, processes).own(p)
        np.testing.assert_array_equal(backend.to_host(stepper.state["state"])[own], expected[own])


@pytest.mark.parametrize("method", ["step", "power"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_panel_of_all_rows_on_every_backend(backend: Any, method: str, precision: str, monkeypatch: Any) -> None:
    """All that processes with panels do, but for what goes from one to another."""
    if backend.name == "cudasim":
        few_threads(backend, monkeypatch)
        for name, few in {"DOUBLINGS": 1, "WALK": 1, "FOLLOWED": 4}.items():
            monkeypatch.setattr(power_error, name, few)
    n, steps = 4, 6
    system = {"input_matrix": [[0.1 * k, 1.0] for k in range(n)], "input": ["where(t < 3, 1, 2)", 0.5]}
    system["output_matrix"] = [[1.0, 2.0, 3.0, 4.0]]
    state = {"random": "normal", "batch": 1}
    whole = problem(
        orthogonal(n), state, steps, 1.0, method, 1.0 if method == "power" else None, system=system,
        run={"precision": precision}, output={"frames": 3},
    )  # fmt: skip
    expected = looks(whole.stepper(backend, whole.initial()), [2, 4])
    monkeypatch.setattr(squares, "_WIDTH", 2)
    monkeypatch.setattr(LinearProblem, "by_rows", lambda self, processes: True)
    require_bits(looks(whole.part(backend, whole.initial(), ALONE), [2, 4]), expected)


# ---- by MPI


@with_mpi
def test_powers_that_lose_too_much_are_refused_once(tmp_path: Path) -> None:
    """All processes find that out; the first one tells it."""
    written(tmp_path, "powers of rows", **{'method = "power"': 'method = "power"\ntolerance = 1e-16'})
    done = simsuite(2, ["run", "x.toml", "-o", "run", "-q"], tmp_path)
    assert done.code == 3, done
    assert done.err.count("error:") == 1, done.err
    assert "powers of A would lose about" in done.err


@with_mpi
def test_check_tells_the_memory_of_each_process(tmp_path: Path) -> None:
    written(tmp_path, "rows", **{"size = 45": "size = 2000"})
    needs = []
    for processes in ("1", "4"):
        done = simsuite(1, ["check", "x.toml", "--processes", processes, "--json"], tmp_path)
        assert done.code == 0, done
        needs.append(int(done.out.partition('"device_bytes": ')[2].partition(",")[0]))
    assert needs[1] < 0.5 * needs[0]
    done = simsuite(1, ["check", "x.toml", "--processes", "4", "--set", "time.method=spectral"], tmp_path)
    assert done.code == 2, done
    assert "4 processes cannot share this run: it takes a single state by modes of A" in done.err
