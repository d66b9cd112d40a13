"""The roads by name, and how the function of each is got."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from simsuite.backends.numba_cuda import import_numba_cuda, is_simulator
from simsuite.errors import LibraryMissing, UsageError

FUNCTIONS = {"heat": "advance", "gbm": "payoffs", "matmul": "product"}
"""The problems, and the name of the function that each of their modules has."""
CUPY, CUDA_PYTHON = ("cupy", "pip install 'simsuite[cuda13]'"), ("cuda.bindings", "pip install 'simsuite[cuda13]'")
PYCUDA = ("pycuda", "pip install 'simsuite[pycuda]', which builds it and needs the CUDA toolkit")
TORCH = ("torch", "pip install torch")


@dataclass(frozen=True)
class Road:
    """A way from Python to numbers. name: as the command line has it. library: whose it is. modules: the module in the
    folder of each problem that it is taken for. needs: the modules that have to be importable, each with how to get it.
    on_gpu: whether it takes arrays in the memory of a GPU, rather than NumPy's. simulated: whether it can also be taken
    in Numba's simulator, without a GPU and without what it needs otherwise. words: what makes the random numbers of
    "gbm".
    """

    name: str
    library: str
    modules: Mapping[str, str]
    needs: tuple[tuple[str, str], ...] = ()
    on_gpu: bool = True
    simulated: bool = False
    words: str = "Philox"


def _named(heat: str = "", gbm: str = "", matmul: str = "") -> dict[str, str]:
    return {name: module for name, module in (("heat", heat), ("gbm", gbm), ("matmul", matmul)) if module}


ROADS = (
    Road("numpy", "NumPy", _named("numpy_slices", "numpy_paths", "numpy_product"), on_gpu=False, words="PCG64"),
    Road("numba-cpu", "Numba", _named("numba_cpu", "numba_cpu", "numba_cpu"), on_gpu=False, words="simsuite's own"),
    Road("numba-cuda", "Numba", _named("numba_cuda", "", "numba_cuda"), (CUDA_PYTHON,), simulated=True),
    Road("numba-shared", "Numba", _named("numba_shared", "", "numba_shared"), (CUDA_PYTHON,), simulated=True),
    Road("numba-graph", "Numba", _named("numba_graph"), (CUDA_PYTHON, CUPY)),
    Road("numba-xoroshiro", "Numba", _named(gbm="numba_xoroshiro"), (CUDA_PYTHON,), words="xoroshiro128+"),
    Road("numba-philox", "Numba", _named(gbm="numba_philox"), (CUDA_PYTHON,), simulated=True),
    Road("cupy", "CuPy", _named("cupy_slices", "cupy_arrays", "cupy_product"), (CUPY,), words="cuRAND's Philox"),
    Road("cupy-elementwise", "CuPy", _named("cupy_elementwise", "cupy_elementwise"), (CUPY,)),
    Road("cupy-reduction", "CuPy", _named(matmul="cupy_reduction"), (CUPY,)),
    Road("cupy-raw", "CuPy", _named("cupy_raw", "cupy_raw", "cupy_raw"), (CUPY,)),
    Road("pycuda-arrays", "PyCUDA", _named("pycuda_arrays", "pycuda_arrays", "pycuda_arrays"), (PYCUDA,)),
    Road("pycuda-module", "PyCUDA", _named("pycuda_module", "pycuda_module", "pycuda_module"), (PYCUDA,)),
    Road(
        "cuda-core",
        "CUDA Python",
        _named("cuda_core_launch", "cuda_core_launch", "cuda_core_launch"),
        (CUDA_PYTHON, CUPY),
    ),
    Road("cuda-driver", "CUDA Python", _named("cuda_driver", "cuda_driver", "cuda_driver"), (CUDA_PYTHON, CUPY)),
    Road("torch", "PyTorch", _named("torch_operator", "torch_operator", "torch_operator"), (TORCH, CUPY)),
)


def roads_of(problem: str) -> tuple[Road, ...]:
    """The roads that lead to a problem. Raises UsageError if there is no such problem."""
    if problem not in FUNCTIONS:
        raise UsageError(f"there is no problem {problem!r} here; there are {', '.join(FUNCTIONS)}")
    return tuple(road for road in ROADS if problem in road.modules)


def module_of(problem: str, name: str) -> ModuleType:
    """The module of a road. Raises UsageError if there is none of that name, or if Numba's simulator is on and cannot
    run it; LibraryMissing if a library that it needs is not installed, or cannot be loaded."""
    known = {road.name: road for road in roads_of(problem)}
    if name not in known:
        raise UsageError(f"no road {name!r} leads to {problem}; there are {', '.join(known)}")
    road = known[name]
    simulating = road.library == "Numba" and road.on_gpu and is_simulator()
    if simulating and not road.simulated:
        others = ", ".join(name for name, road in known.items() if road.simulated)
        raise UsageError(f"{name} does not run in Numba's simulator; of the roads to {problem} these do: {others}")
    for library, install in () if simulating else road.needs:
        if not _installed(library):
            raise LibraryMissing(f"{name} needs {library}, which is not installed: {install}")
    if road.library == "Numba" and road.on_gpu:
        import_numba_cuda()
    try:
        return importlib.import_module(f"simsuite.routes.{problem}.{road.modules[problem]}")
    except ImportError as e:
        raise LibraryMissing(f"{name} cannot be taken: {e}") from e


def open_road(problem: str, name: str) -> Callable[..., Any]:
    """The function of a road: `advance(u, steps, rx, ry)` for "heat", `payoffs(contract, seed, out)` for "gbm",
    `product(a, b)` for "matmul". Raises what `module_of` raises."""
    function: Callable[..., Any] = getattr(module_of(problem, name), FUNCTIONS[problem])
    return function


def _installed(library: str) -> bool:
    try:
        return importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:  # the package that it is a part of is not there
        return False
