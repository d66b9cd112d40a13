"""Threads of a CPU: how many a run takes, that they sleep when they wait, and that nothing but time depends on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numba
import numpy as np
import pytest

import simsuite
from simsuite.backends import threads
from simsuite.backends.threads import cores, on_threads, threads_available
from simsuite.libraries import library_threads
from simsuite.solvers.heat.problem import CELLS_A_THREAD

PLATE: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 150, "ny": 160},
    "material": {"conductivity": "1 + x*y", "density": 1.0, "specific_heat": 1.0},
    "initial": {"temperature": "sin(3*x)*y"},
    "boundary": {"left": {"kind": "convection", "h": 2.0, "ambient": "sin(9*t)"}},
    "time": {"end": 0.01, "tolerance": 1e-4},
}
PATHS: dict[str, Any] = {
    "solver": "gbm",
    "market": {"rate": 0.03},
    "asset": [{"name": "stock", "spot": 100.0, "volatility": 0.2}],
    "paths": {"count": 5000},
    "time": {"end": 1.0, "steps": 7},
    "option": [{"name": "asian", "style": "asian", "payoff": "call", "strike": 100.0}],
}
SYSTEM: dict[str, Any] = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": {"generator": "random_stable", "size": 130, "radius": 0.9}},
    "initial": {"state": {"random": "normal", "batch": 60}},
    "time": {"steps": 50},
}


def _groups(path: Path, monkeypatch: pytest.MonkeyPatch, own: str, files: dict[str, str]) -> None:
    """Control groups as the kernel shows them, of which this process is in `own`."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    (path / "own").write_text(own)
    monkeypatch.setattr(threads, "_GROUPS", path)
    monkeypatch.setattr(threads, "_OWN_GROUPS", path / "own")
    monkeypatch.setattr(threads, "cores", lambda: 64)
    monkeypatch.setattr(threads, "_numba", lambda: None)
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def test_a_quota_of_any_group_around_counts_in_whole_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"cpu.max": "max 100000\n", "job/cpu.max": "250000 100000\n", "job/step/cpu.max": "max 100000\n"}
    _groups(tmp_path, monkeypatch, "0::/job/step\n", files)
    assert threads_available() == 3


def test_a_quota_below_one_core_leaves_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _groups(tmp_path, monkeypatch, "0::/\n", {"cpu.max": "20000 100000\n"})
    assert threads_available() == 1


def test_a_quota_of_version_1_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"cpu,cpuacct/job/cpu.cfs_quota_us": "400000\n", "cpu,cpuacct/job/cpu.cfs_period_us": "100000\n"}
    files |= {"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"}
    _groups(tmp_path, monkeypatch, "5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n", files)
    assert threads_available() == 4


def test_no_group_or_no_limit_leaves_all_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _groups(tmp_path, monkeypatch, "0::/\n", {"cpu.max": "max 100000\n"})
    assert threads_available() == 64
    (tmp_path / "own").unlink()
    assert threads_available() == 64


@pytest.mark.parametrize(("text", "count"), [("3", 3), ("5,2", 5), ("0", 64), ("many", 64), ("", 64)])
def test_the_environment_may_ask_for_fewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, count: int
) -> None:
    _groups(tmp_path, monkeypatch, "0::/\n", {})
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert threads_available() == count


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_affinity_counts() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
    code += "from simsuite.backends.threads import threads_available; print(threads_available())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1\n"


def test_what_numba_was_told_counts_and_comes_back() -> None:
    before = numba.get_num_threads()
    with on_threads(1):
        assert threads_available() == 1
        with on_threads(10**6):
            assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
    assert numba.get_num_threads() == before


@pytest.mark.skipif(cores() < 2, reason="one core")
def test_libraries_take_no_more_threads_and_get_them_back() -> None:
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = blas()
    with library_threads(1):
        assert blas()
        assert set(blas()) == {1}
    assert blas()[: len(before)] == before


RUN = """
from simsuite.__main__ import main, start_quickly
start_quickly("run")
import contextlib
from threadpoolctl import threadpool_info
import simsuite.execution
from simsuite.assembly import computing as usual

def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

@contextlib.contextmanager
def computing(*arguments, **options):
    with usual(*arguments, **options):
        print("in the run", *blas())
        yield

simsuite.execution.computing = computing
print("before", *blas())
main()
"""


@pytest.mark.skipif(cores() < 2, reason="one core")
@pytest.mark.parametrize(("name", "in_run"), [("heat_sine", "1"), ("linear", "2")])
def test_libraries_start_threads_where_there_is_work_for_them(name: str, in_run: str, tmp_path: Path) -> None:
    """A thread for each core, which spins when OpenBLAS is loaded, takes a tenth of a second on 16 cores."""
    scenario = Path(__file__).parents[2] / "scenarios" / f"{name}.toml"
    environment = {key: value for key, value in os.environ.items() if "NUM_THREADS" not in key}
    command = [sys.executable, "-c", RUN, "run", str(scenario), "-q", "--device", "cpu", "--threads", "2"]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "run")], env=environment, capture_output=True, text=True, check=True
    )
    before, during = (line.split()[-1] for line in done.stdout.splitlines())
    assert (before, during) == ("1", in_run)


@pytest.mark.skipif(cores() < 2, reason="one core")
def test_small_matrices_are_decomposed_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of OpenBLAS spin while they wait for each other, thousands of times in a decomposition."""
    from threadpoolctl import threadpool_info

    from simsuite.solvers.linear.analysis import spectrum
    from simsuite.solvers.linear.analysis.report import Analysis
    from simsuite.solvers.linear.spectral import decompose
    from simsuite.solvers.linear.state_space import StateSpace

    seen = list[int]()

    def looking(function: Any) -> Any:
        def looked(*args: Any, **options: Any) -> Any:
            seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
            return function(*args, **options)

        return looked

    monkeypatch.setattr(spectrum, "eig", looking(spectrum.eig))
    monkeypatch.setattr(decompose, "eig", looking(decompose.eig))
    A = np.random.default_rng(1).random((6, 6))
    with library_threads(2):
        assert Analysis(StateSpace(A, None, (), None, continuous=True)).results()["verdict"] == "unstable"
        assert seen
        before = len(seen)
        decompose.decompose(A)
        assert len(seen) > before
        assert set(seen) == {1}
        looking(len)("")
        assert 2 in seen


@pytest.mark.skipif(sys.platform != "linux", reason="OpenMP by GNU")
@pytest.mark.parametrize(("given", "waits"), [({}, True), ({"GOMP_SPINCOUNT": "77"}, False)])
def test_threads_of_openmp_sleep_soon(given: dict[str, str], waits: bool) -> None:
    """As OpenMP itself says when it is loaded; not where the environment says something else."""
    code = "from simsuite.backends.threads import load_openmp; load_openmp()"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    environment |= {"OMP_DISPLAY_ENV": "verbose", "NUMBA_THREADING_LAYER": "omp"} | given
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stderr
    assert f"GOMP_SPINCOUNT = '{threads.SPIN if waits else 77}'" in said


def _run(scenario: dict[str, Any], directory: Path, count: int) -> simsuite.Run:
    return simsuite.run(scenario, {"run.threads": count}, "cpu", directory / str(count))


@pytest.mark.parametrize("scenario", [PLATE, PATHS, SYSTEM], ids=lambda scenario: scenario["solver"])
def test_results_do_not_depend_on_threads(scenario: dict[str, Any], tmp_path: Path) -> None:
    one, two = (_run(scenario, tmp_path, count) for count in (1, 2))
    assert one.summary["threads"] == 1
    assert two.summary["threads"] == min(2, cores())
    apart = {"analysis"}  # whose last bits are those of LAPACK
    assert {k: v for k, v in one.results.items() if k not in apart} == {
        k: v for k, v in two.results.items() if k not in apart
    }
    first, second = (_arrays(run.directory / "results.h5") for run in (one, two))
    assert first
    assert first == second


def _arrays(path: Path) -> dict[str, bytes]:
    arrays: dict[str, bytes] = {}

    def note(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu" and not name.startswith("eigenvalue"):
            arrays[name] = np.ascontiguousarray(item[()]).tobytes()

    with h5py.File(path) as file:
        file.visititems(note)
    return arrays


def test_a_run_goes_on_with_another_number_of_threads(tmp_path: Path) -> None:
    simsuite.run(PLATE, {"run.threads": 1}, "cpu", tmp_path, max_minutes=0.0)
    assert simsuite.run(PLATE, {"run.threads": 2}, "cpu", tmp_path).summary["status"] == "complete"


def test_small_grids_take_one_thread(tmp_path: Path) -> None:
    nx = CELLS_A_THREAD // 100
    run = simsuite.run(PLATE, {"grid.nx": nx, "grid.ny": 100, "run.threads": 2}, "cpu", tmp_path)
    assert run.summary["threads"] == 1
