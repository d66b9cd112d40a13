"""Fixtures that all tests share: one test body, every backend that works here.

Numba takes real GPU or simulator once a process, so tests on the simulator run in a pytest of their own, with
NUMBA_ENABLE_CUDASIM=1 (`make test` runs both), and skip elsewhere.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Several test processes share the cores, with those that they start: threads that wait are to leave them to the others.
# OpenMP reads this when Numba loads it, and OpenBLAS when NumPy does.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numba
import pytest
import quick

from simsuite.backends import open_backend
from simsuite.backends.kernel_cache import cache_directory
from simsuite.core import Backend
from simsuite.errors import DeviceError

SIMULATING = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
ROOT = Path(__file__).parents[1]
gc.disable()  # while test files are read: it would look at all of their objects again and again
numba.config.CACHE_DIR = str(cache_directory())  # for kernels that tests import themselves


@pytest.fixture(autouse=True, scope="session")
def _one_thread_a_process() -> None:
    """Several test processes share the cores: Numba's threads would mostly wait for each other."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        numba.set_num_threads(1)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For runs so short that waiting for other threads would take most of their time."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)


def pytest_addoption(parser: pytest.Parser) -> None:
    """An option for a part of the tests, see `quick`."""
    help = "quick: a few cases of each test function that does not take long; rest: all others"
    parser.getgroup("simsuite").addoption("--part", choices=("quick", "rest"), help=help)


def pytest_configure(config: pytest.Config) -> None:
    """Processes that tests start can import what tests can."""
    paths = [*map(str, config.getini("pythonpath")), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """With the simulator on, files that do not mention a backend need not even be read."""
    tests = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    if SIMULATING and tests and not re.search("backend|cudasim", collection_path.read_text(encoding="utf-8")):
        return True
    return None


def pytest_collection_finish() -> None:
    """Collections leave alone what is there now, and come less often: to compile a kernel makes many objects."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the simulator on, only what uses it has anything to show. What takes long runs only if it is asked for.

    Monte Carlo comes first and heat last. Of two processes one begins with the first test and one with that in the
    middle, so that they do not compile the same kernels at the same time.
    """
    if "long" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("long") is None]
    if SIMULATING:
        items[:] = [item for item in items if "cudasim" in item.name]
    if part := config.option.part:
        names = [(item.path.stem, getattr(item, "originalname", item.name), "cudasim" in item.name) for item in items]
        kept = quick.quick(names, quick.read_costly())
        items[:] = [item for item, is_quick in zip(items, kept) if is_quick == (part == "quick")]
    items.sort(key=lambda item: place(item.path.stem))


def place(name: str) -> int:
    """Of a file of tests, among the others. Those that run problems of all kinds find the kernels of heat compiled."""
    if "gbm" in name or name in ("test_resume", "test_scenarios"):
        return 0
    return 2 if "heat" in name or name in ("test_bench", "test_kernels_sm90") else 1


@pytest.fixture(
    params=["cpu", pytest.param("cudasim"), pytest.param("cuda", marks=pytest.mark.gpu)],
)
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "cudasim" and not SIMULATING:
        pytest.skip("needs NUMBA_ENABLE_CUDASIM=1")
    try:
        return open_backend(request.param)
    except DeviceError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def cuda() -> Backend:
    """A real GPU."""
    try:
        return open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def heat(tmp_path: Path) -> Callable[..., Any]:
    """Makes a heat problem from the sections that differ from a plain 8 × 8 plate; stepped explicitly by default."""
    from simsuite.scenario.heat import HeatScenario
    from simsuite.solvers.heat.problem import HeatProblem

    def make(**sections: Any) -> HeatProblem:
        plain = {
            "solver": "heat",
            "grid": {"nx": 8, "ny": 8},
            "material": {"diffusivity": 1.0},
            "time": {"end": 1e-2},
            "output": {"frames": 2},
        }
        whole = plain | sections
        whole["time"] = {"stepper": "explicit", **whole["time"]}
        return HeatProblem.from_scenario(HeatScenario.model_validate(whole), tmp_path)

    return make
