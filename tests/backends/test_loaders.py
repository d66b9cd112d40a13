"""What loads programs in CUDA C++ and launches their kernels: CuPy, CUDA Python, PyCUDA."""

from __future__ import annotations

import ctypes
import importlib.util
import struct
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import simsuite
from simsuite.backends import loaders, open_backend
from simsuite.backends.loaders.arguments import Arguments
from simsuite.backends.loaders.cupy_loader import CupyLoader
from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.scenario.common import AnyRun

SOURCE = """
struct Scaled { const double *x; int n; double factor; };

extern "C" __global__ void scale(
    const __grid_constant__ Scaled s, float shift, unsigned char twice, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.n) out[i] = (s.x[i] * s.factor + shift) * (twice ? 2 : 1);
}

extern "C" __global__ void reversed(int n, double *x)
{
    extern __shared__ double kept[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = kept[n - 1 - i];
}
"""
SCALED = np.dtype([("x", np.uint64), ("n", np.int32), ("factor", np.float64)], align=True)


def test_a_scenario_can_ask_for_each_loader() -> None:
    assert typing.get_args(AnyRun.model_fields["loader"].annotation) == ("auto", *loaders.LOADERS)


def test_arguments_lie_where_c_has_them() -> None:
    class Inner(ctypes.Structure):
        _fields_ = (("x", ctypes.c_uint64), ("n", ctypes.c_int32), ("factor", ctypes.c_double))

    class All(ctypes.Structure):
        _fields_ = (
            ("a", ctypes.c_int8),
            ("s", Inner),
            ("b", ctypes.c_float),
            ("c", ctypes.c_int16),
            ("p", ctypes.c_uint64),
            ("d", ctypes.c_int8),
        )

    scaled = np.array((2**63 + 5, -7, 1.5), SCALED)
    passed = [np.int8(-3), scaled, np.float32(0.1), np.int16(300), np.uint64(2**64 - 2), np.int8(9)]
    arguments = Arguments()
    packed = arguments.packed(list(passed))
    arguments.write(list(passed))
    found = All.from_buffer_copy(packed.ljust(ctypes.sizeof(All), b"\0"))
    assert (found.a, found.s.x, found.s.n, found.s.factor) == (-3, 2**63 + 5, -7, 1.5)
    assert (found.b, found.c, found.p, found.d) == (np.float32(0.1), 300, 2**64 - 2, 9)
    places = (ctypes.c_void_p * len(passed)).from_address(arguments.places)
    assert places[0] is not None
    offsets = [(place or 0) - places[0] for place in places]
    assert offsets == [getattr(All, name).offset for name, _ in All._fields_]
    assert ctypes.string_at(places[3] or 0, 2) == np.int16(300).tobytes()
    assert ctypes.string_at(places[0], len(packed)) == packed
    with pytest.raises(struct.error):
        arguments.write([*passed, np.int8(9)])


@pytest.mark.parametrize("name", ["cuda-core", "pycuda"])
def test_a_library_that_is_missing_is_named_with_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    for loader in ("CudaCoreLoader", "PyCudaLoader"):
        monkeypatch.setattr(loaders.opening, loader, missing)
    with pytest.raises(DeviceError, match=rf'run\.loader = "{name}" needs a package: pip install') as caught:
        loaders.open_loader(name, ModuleType("cupy"), 0)
    assert caught.value.exit_code == 4


def test_a_library_that_does_not_work_here_is_named_with_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise RuntimeError("cuInit failed: no device")

    monkeypatch.setattr(loaders.opening, "PyCudaLoader", broken)
    with pytest.raises(DeviceError, match=r'run\.loader = "pycuda" cannot be used on cuda:1: cuInit failed'):
        loaders.open_loader("pycuda", ModuleType("cupy"), 1)


def opened(name: str) -> Backend:
    if name == "pycuda" and importlib.util.find_spec("pycuda") is None:
        pytest.skip("PyCUDA is not installed")
    try:
        return open_backend("cuda", name)
    except DeviceError as reason:
        pytest.skip(str(reason))


def written(directory: Path) -> Path:
    source = directory / "loaders.cu"
    source.write_text(SOURCE)
    return source


@pytest.mark.gpu
@pytest.mark.parametrize("name", loaders.LOADERS)
@pytest.mark.parametrize("n", [1, 31, 33, 1500])
def test_numbers_structs_and_arrays_arrive(name: str, n: int, tmp_path: Path) -> None:
    backend, source = opened(name), written(tmp_path)
    program = backend.program(source, {})
    x = np.random.default_rng(n).standard_normal(n)
    given, out = backend.array(x), backend.zeros(n, np.float64)
    scaled = np.array((backend.address(given), n, 1.5), SCALED)
    program.launcher("scale", -(-n // 32), 32)(scaled, np.float32(0.25), np.uint8(1), out)
    np.testing.assert_array_equal(backend.to_host(out), (x * 1.5 + 0.25) * 2)
    program.launcher("reversed", 1, 64, shared_bytes=100_000)(np.int32(n), out)
    np.testing.assert_array_equal(backend.to_host(out), ((x * 1.5 + 0.25) * 2)[::-1])


@pytest.mark.gpu
@pytest.mark.parametrize("name", loaders.LOADERS)
def test_launches_are_recorded_in_graphs(name: str, tmp_path: Path) -> None:
    backend, source = opened(name), written(tmp_path)
    turn = backend.program(source, {}).launcher("reversed", 1, 64, shared_bytes=8 * 100)
    x, recorder = backend.array(np.arange(100.0)), backend.recorder()
    for k in range(1, 6):
        recorder.replay("turn", lambda: turn(np.int32(100), x))
        expected = np.arange(100.0)[:: -1 if k % 2 else 1]
        np.testing.assert_array_equal(backend.to_host(x), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("name", loaders.LOADERS)
def test_errors_name_the_kernel_the_grid_and_the_library(name: str, tmp_path: Path) -> None:
    backend, source = opened(name), written(tmp_path)
    program = backend.program(source, {})
    with pytest.raises(
        DeviceError, match=r"nothing cannot be launched \(1 x 1 x 1 blocks of 32 threads, .* by " + name
    ):
        program.launcher("nothing", 1, 32)
    launch = program.launcher("reversed", (2, 3), 4096)
    with pytest.raises(DeviceError, match=r"reversed cannot be launched \(2 x 3 x 1 blocks of 4096 threads, 0 bytes"):
        launch(np.int32(1), backend.zeros(1, np.float64))
    source.write_text(SOURCE.replace("kept[i] = x[i]", "kept[i] = y[i]"))
    with pytest.raises(DeviceError, match=r'cannot be compiled for sm_\d+: (.|\n)*identifier "y" is undefined'):
        backend.program(source, {"OTHER": 1}).launcher("reversed", 1, 32)


SCENARIOS = ("heat_sine", "gbm", "gbm_sobol", "linear", "markov", "lattice_walk", "rabi", "ornstein_uhlenbeck")
PLATE: dict[str, Any] = {
    "solver": "heat",
    "initial": {"temperature": "sin(pi*x)*sin(pi*y)"},
    "boundary": {"left": {"kind": "convection", "h": 3.0, "ambient": "sin(9*t)"}},
    "time": {"stepper": "explicit"},
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", loaders.LOADERS[1:])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_has_the_same_bits_by_each_loader(name: str, scenario: str, tmp_path: Path) -> None:
    opened(name)
    path = str(ROOT / "scenarios" / f"{scenario}.toml")
    few = {"run.device": "cuda", "run.kernel": "nvrtc"} if scenario.startswith("gbm") else {"run.device": "cuda"}
    runs = [
        simsuite.run(path, set=few | {"run.loader": loader}, directory=tmp_path / loader) for loader in ("cupy", name)
    ]
    one, other = (run.dataset for run in runs)
    assert set(one) == set(other)
    for variable in one:
        assert one[variable].values.tobytes() == other[variable].values.tobytes(), variable


@pytest.mark.gpu
@pytest.mark.parametrize("name", loaders.LOADERS)
@pytest.mark.parametrize(("nx", "ny"), [(1, 1), (31, 33), (256, 256), (1000, 1500)])
def test_explicit_steps_of_all_kinds_of_launches_have_the_same_bits(
    name: str, nx: int, ny: int, tmp_path: Path
) -> None:
    """Grids that stay on the chip, whose blocks wait for each other; and larger ones, whose launches may overlap."""
    opened(name)
    grid = {"nx": nx, "ny": ny, "lx": 1.0, "ly": 1.0}
    end = 200 * 0.2 / max(nx, ny) ** 2
    fields = []
    for kernel, loader in (("numba", "auto"), ("nvrtc", name)):
        scenario = PLATE | {
            "grid": grid,
            "material": {"diffusivity": 1.0},
            "time": {"stepper": "explicit", "end": end},
            "run": {"device": "cuda", "kernel": kernel, "loader": loader},
        }
        fields.append(simsuite.run(scenario, directory=tmp_path / kernel).dataset["temperature"].values)
    assert fields[0].tobytes() == fields[1].tobytes()


def test_the_loader_is_no_part_of_what_a_run_is(tmp_path: Path) -> None:
    """A run that was begun with one may be continued with another."""
    scenario = PLATE | {"grid": {"nx": 4, "ny": 4}, "material": {"diffusivity": 1.0}, "time": {"end": 0.01}}
    for loader in ("auto", "cupy"):
        run = {"device": "cpu", "loader": loader}
        assert simsuite.run(scenario | {"run": run}, directory=tmp_path / "run").results["max"] < 1.0


def test_cupys_loader_needs_no_other_library() -> None:
    assert CupyLoader.compiler is None
    assert not CupyLoader.notes
