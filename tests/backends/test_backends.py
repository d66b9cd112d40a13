"""What steppers rely on in every backend."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import cuda, float64

import simsuite
from simsuite.backends import open_backend
from simsuite.backends.address import address
from simsuite.backends.cuda_libraries import CuBlas, CuFft, columnwise
from simsuite.backends.kernel_cache import fingerprint
from simsuite.backends.tuning import Timed, choose, shortest, times
from simsuite.core import SNAPSHOTS, Backend, Pending, Snapshot
from simsuite.errors import DeviceError, LibraryMissing

TURNED = list(itertools.product((False, True), repeat=3))


def test_arrays_come_back_as_they_went(backend: Backend) -> None:
    a = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    device = backend.array(a)
    a_before, a[:] = a.copy(), 0
    assert np.array_equal(backend.to_host(device), a_before)
    target = backend.zeros((3, 5), np.float32)
    backend.copy(device, target)
    assert np.array_equal(backend.to_host(target), a_before)


def test_a_staged_snapshot_keeps_its_values(backend: Backend) -> None:
    """Work queued after `stage` must not show in the snapshot, whichever slot it has, however late it is read."""
    n = 1 << 18
    live = backend.array(np.zeros(n))
    ones = backend.array(np.ones(n))
    pending = []
    for step in range(2):
        pending.append(backend.stage(step, {"a": live, "b": ones}))
        backend.copy(ones, live)
    for step, held in enumerate(pending):
        with held as snapshot:
            assert snapshot.step == step
            assert np.all(snapshot.arrays["a"] == step)
            assert np.all(snapshot.arrays["b"] == 1)


def test_small_snapshots_do_not_wait_for_large_ones(backend: Backend) -> None:
    large, small = (backend.array(np.arange(n, dtype=np.float64)) for n in (1 << 18, 5))
    held = [backend.stage(step, {"a": large}) for step in range(SNAPSHOTS)]
    staged: list[Pending] = []
    thread = threading.Thread(target=lambda: staged.append(backend.stage(7, {"a": small})), daemon=True)
    thread.start()
    thread.join(10)
    assert staged
    for pending in [*staged, *held]:
        with pending as snapshot:
            assert snapshot.arrays["a"][4] == 4


def test_snapshots_held_at_the_same_time_are_apart(backend: Backend) -> None:
    """Also two that were staged in one slot: what is on the host does not need it any more."""
    held: list[Snapshot] = []
    with contextlib.ExitStack() as stack:
        for step in range(2 * SNAPSHOTS):
            pending = backend.stage(
                step, {"a": backend.array(np.full(1000, step)), "b": backend.array(np.ones((3, 7)))}
            )
            held.append(stack.enter_context(pending))
        for step, snapshot in enumerate(held):
            assert snapshot.step == step
            assert np.all(snapshot.arrays["a"] == step)
            assert snapshot.arrays["b"].shape == (3, 7)
            assert snapshot.arrays["b"].all()


def test_snapshots_of_growing_size(backend: Backend) -> None:
    for n in (1, 1000, 1 << 20, 3):
        with backend.stage(n, {"a": backend.array(np.arange(n, dtype=np.float64))}) as snapshot:
            assert np.array_equal(snapshot.arrays["a"], np.arange(n))


def test_two_steppers_on_one_backend_do_not_mix(heat: Callable, backend: Backend) -> None:
    """Their recordings have the same keys and other buffers."""
    text = "sin(3*x) + y"
    problems = [
        heat(grid={"nx": n, "ny": n}, initial={"temperature": text}, time={"end": 1.0, "dt": 1e-3}) for n in (4, 8)
    ]
    together = [p.stepper(backend, p.initial()) for p in problems]
    for _ in range(4):
        for stepper in together:
            stepper.advance(3)
    for problem, stepper in zip(problems, together):
        alone = problem.stepper(backend, problem.initial())
        alone.advance(12)
        assert np.array_equal(
            backend.to_host(alone.state["temperature"]), backend.to_host(stepper.state["temperature"])
        )


def test_state_waits_for_the_steps_and_the_steps_for_the_user(tmp_path: Path, backend: Backend) -> None:
    """A caller's work on the live arrays and the steps on the device's own stream keep their order."""
    n, steps = {"cudasim": (6, 3), "cpu": (256, 60)}.get(backend.name, (2048, 60))  # on a GPU, long enough to be late
    (tmp_path / "plate.toml").write_text(
        f"""
        solver = "heat"
        [run]
        device = "{backend.name}"
        [grid]
        nx = {n}
        ny = {n}
        [material]
        diffusivity = 1.0
        [initial]
        temperature = "sin(5*x) + y"
        [time]
        end = 1e-3
        stepper = "explicit"
        """,
        encoding="utf-8",
    )
    found = []
    for careful in (False, True):
        sim = simsuite.open_simulation(tmp_path / "plate.toml")
        for _ in range(2):
            sim.advance(steps)
            if careful:
                sim.synchronize()
            T = sim.state["temperature"]
            T *= 2
            T += T[::-1].copy()
            if careful:
                backend.to_host(T + 0)
        found.append(backend.to_host(sim.state["temperature"]))
    assert np.array_equal(*found)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 3, 48, 101, 8192])
def test_fourier_transforms_of_rows(backend: Backend, n: int, real: Any) -> None:
    rows, rng = 3, np.random.default_rng(n)
    x = rng.normal(size=(rows, n)).astype(real)
    z = (x + 1j * rng.normal(size=(rows, n))).astype(np.result_type(real, np.complex64))
    half = np.fft.rfft(x)
    for kind, source, want in (("real", x, half), ("back", half, n * x), ("complex", z, np.fft.fft(z))):
        given = backend.array(source.astype(real if kind == "real" else z.dtype))
        found = backend.zeros(want.shape, real if kind == "back" else z.dtype)
        transform = backend.fourier().plan(kind, rows, n, real)
        transform(given, found)
        assert np.abs(backend.to_host(found) - want).max() < 8 * np.finfo(real).eps * np.abs(want).max()


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("turned", TURNED, ids=str)
def test_products_of_arrays_and_transposes(backend: Backend, turned: tuple[bool, ...], real: Any) -> None:
    library = backend.products()
    if library is None:
        pytest.skip("there is none")
    for n, k, m in ((2, 3, 4), (33, 17, 5), (1, 7, 3), (7, 1, 1), (300, 200, 100)):
        rng = np.random.default_rng(n)
        A, B = rng.normal(size=(n, k)).astype(real), rng.normal(size=(k, m)).astype(real)
        found = backend.zeros((m, n) if turned[2] else (n, m), real)
        given = [backend.array(a.T).T if flag else backend.array(a) for a, flag in zip((A, B), turned)]
        library.multiply(*given, found.T if turned[2] else found)
        got = backend.to_host(found)
        np.testing.assert_allclose(got.T if turned[2] else got, A @ B, rtol=0, atol=1000 * np.finfo(real).eps)


@pytest.mark.parametrize("turned", TURNED, ids=str)
def test_products_column_by_column(turned: tuple[bool, ...]) -> None:
    """What cuBLAS is told, taken at its word by NumPy."""
    for n, k, m in ((2, 3, 4), (1, 7, 3), (7, 1, 1), (1, 1, 5), (1, 1, 1)):
        rng = np.random.default_rng(n)
        values = rng.normal(size=(n, k)), rng.normal(size=(k, m)), np.zeros((n, m))
        A, B, out = (np.asfortranarray(a) if flag else a for a, flag in zip(values, turned))
        operands, operations, (rows, columns, inner), leading = columnwise(A, B, out)
        parts = []
        for a, transposed, ld, shape in zip(operands, operations, leading, ((rows, inner), (inner, columns))):
            height, width = shape[::-1] if transposed else shape
            stored = np.lib.stride_tricks.as_strided(a, (height, width), (8, 8 * ld))
            assert ld >= height
            parts.append(stored.T if transposed else stored)
        np.lib.stride_tricks.as_strided(out, (rows, columns), (8, 8 * leading[2]))[:] = parts[0] @ parts[1]
        np.testing.assert_allclose(out, A @ B, rtol=0, atol=1e-14)


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        raise pathfinder.DynamicLibNotFoundError(name)

    monkeypatch.setitem(sys.modules, "cupy.cuda", None)
    with pytest.raises(LibraryMissing, match=r"cuFFT is not installed: pip install 'simsuite\[cuda13\]'"):
        CuFft(contextlib.nullcontext)
    pathfinder = pytest.importorskip("cuda.pathfinder")
    monkeypatch.setattr(pathfinder, "load_nvidia_dynamic_lib", nowhere)
    with pytest.raises(LibraryMissing, match="cuBLAS is not installed"):
        CuBlas(None, 0)


@pytest.mark.gpu
def test_libraries_allocate_nothing_when_they_work() -> None:
    """And can be recorded."""
    try:
        backend = open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    pool = importlib.import_module("cupy").get_default_memory_pool()
    a, b = (backend.array(np.random.default_rng(0).random((96, 96))) for _ in range(2))
    spectrum = backend.zeros((96, 49), np.complex128)
    there, back = (backend.fourier().plan(kind, 96, 96, np.float64) for kind in ("real", "back"))
    products = backend.products()

    def launches() -> None:
        there(a, spectrum)
        back(spectrum, b)
        products.multiply(b, b.T, a)

    backend.fence().wait()
    before, recorder = (pool.used_bytes(), pool.total_bytes()), backend.recorder()
    want = backend.to_host(a)
    for _ in range(4):
        recorder.replay("all", launches)
        want = 96**2 * want @ want.T
    assert (pool.used_bytes(), pool.total_bytes()) == before
    np.testing.assert_allclose(backend.to_host(a), want, rtol=1e-12)


def test_kernel_caches_follow_all_sources(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text("x = 1\n")
    b.write_text("y = 1\n")
    first = fingerprint([a, b])
    assert fingerprint([a, b]) == first
    b.write_text("y = 2\n")
    assert fingerprint([a, b]) != first


def test_serial_and_parallel_kernels_do_not_share_a_cache(tmp_path: Path) -> None:
    """Whichever is compiled first, the other is compiled too."""
    code = """
import numpy as np
from simsuite.backends import open_backend
k = open_backend("cpu").kernels("simsuite.solvers.heat.explicit.explicit")
T, mesh = np.zeros((4, 4)), (np.zeros(32), np.zeros(32), 1.0, False, False)
for f, more in ((k.steps_short, (0, 1)), (k.step, ())):
    f(T, T.copy(), mesh, 0, 0.1, *more)
    print(sum(f.stats.cache_misses.values()), sum(f.stats.cache_hits.values()))
"""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": "", "NUMBA_ENABLE_CUDASIM": "0"}
    done = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert done == ["1 0\n1 0\n", "0 1\n0 1\n"]
    assert list(tmp_path.rglob("*.kernel"))


@pytest.mark.gpu
def test_garbage_of_other_steppers_does_not_spoil_a_recording() -> None:
    """Graphs in a cycle of references are destroyed when the collector runs, which must not be during a recording."""
    try:
        backend = open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    source, target = backend.array(np.arange(8.0)), backend.zeros(8, np.float64)

    for _ in range(3):
        recorder, calls = backend.recorder(), []

        def launches(calls: list[int] = calls) -> None:
            backend.copy(source, target)
            calls.append(1)
            if len(calls) == 2 and gc.isenabled():  # in the recording, where the collector may come by
                gc.collect()

        for _ in range(3):
            recorder.replay("once", launches)
        cycle: list[Any] = [recorder]
        cycle.append(cycle)
        del recorder, cycle
    assert np.array_equal(backend.to_host(target), np.arange(8.0))


def test_times_are_measured_once(tmp_path: Path) -> None:
    asked: list[int] = []

    def measure(i: int) -> Timed:
        asked.append(i)
        return Timed(3.0 - i)

    assert times(tmp_path, "which?", 3, measure) == [3.0, 2.0, 1.0]
    assert choose(tmp_path, "which?", 3, measure) == 2
    assert asked == [0, 1, 2]
    assert times(tmp_path, "which, now?", 1, measure) == [3.0]
    assert asked == [0, 1, 2, 0]


def test_times_that_are_not_sure_are_not_kept(tmp_path: Path) -> None:
    assert times(tmp_path, "which?", 2, lambda i: Timed(1.0 + i, sure=i == 0)) == [1.0, 2.0]
    assert not list(tmp_path.iterdir())


def test_the_shortest_time_counts_once_it_was_met_again() -> None:
    """On a machine that does other work besides."""

    def after(*seconds: float) -> Timed:
        return shortest(iter(seconds).__next__, tries=4, trying=0.2, patience=2.0)

    assert after(0.5, 0.093, 0.3, 0.094, 0.001, 0.0011, 0.4, 0.0012, 9.0) == (0.001, True)
    assert after(0.06, 0.05, 0.05, 0.05, 9.0) == (0.05, True)
    assert after(0.01, *[0.011] * 18, 0.0102, 9.0) == (0.01, True), "at least 0.2 s in all"
    assert after(1.5, 0.7, 0.3, 0.2, 9.0) == (0.2, False), "no longer than 2 s, but for the least number of tries"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"question": "which?", "seconds": [1]}', '{"question": "which?", "seconds": [1, -1, 1]}']
)
def test_damaged_times_are_measured_again(tmp_path: Path, text: str) -> None:
    assert times(tmp_path, "which?", 3, lambda i: Timed(float(i))) == [0.0, 1.0, 2.0]
    (kept,) = tmp_path.iterdir()
    kept.write_text(text)
    assert times(tmp_path, "which?", 3, lambda i: Timed(2.0 * i)) == [0.0, 2.0, 4.0]
    assert times(tmp_path, "which?", 3, lambda i: Timed(float(i))) == [0.0, 2.0, 4.0]


SIMULATED = pytest.mark.parametrize("backend", ["cudasim"], indirect=True)


def launched(backend: Backend, kernel: Callable, n: int, *arrays: np.ndarray) -> None:
    """By two blocks of n threads."""
    backend.launcher(cuda.jit(kernel), (2 * n, 1, 1), (n, 1, 1))(*arrays)


@SIMULATED
def test_threads_of_a_simulated_block_meet_at_barriers(backend: Backend) -> None:
    """Those that have returned are not waited for."""

    def total(values, out):
        shared = cuda.shared.array(8, float64)
        i = cuda.threadIdx.x
        shared[i] = values[cuda.blockIdx.x, i]
        half = 4
        while half > 0:
            cuda.syncthreads()
            if i >= half:
                return
            shared[i] += shared[i + half]
            half //= 2
        out[cuda.blockIdx.x] = shared[0]

    values, out = np.arange(16.0).reshape(2, 8), np.zeros(2)
    launched(backend, total, 8, values, out)
    assert np.array_equal(out, values.sum(axis=1))


@SIMULATED
@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("missing", [False, True])
def test_a_missing_barrier_shows_in_the_simulator(backend: Backend, missing: bool, step: int) -> None:
    """Whether a later thread is read or one before, as their order turns around."""

    def shift(out):
        i, block = cuda.threadIdx.x, cuda.blockIdx.x
        for k in range(2):
            out[block, k, i] = i + 1
            if not missing:
                cuda.syncthreads()
            out[block, 2 + k, i] = out[block, k, min(max(i + step, 0), 4)]
            cuda.syncthreads()

    out = np.zeros((2, 4, 5))
    launched(backend, shift, 5, out)
    wanted = np.clip(np.arange(5) + step, 0, 4) + 1
    assert np.all(out[:, 2:] == wanted) == (not missing)


@SIMULATED
def test_a_simulated_thread_that_fails_ends_its_block(backend: Backend) -> None:
    def fail(out):
        cuda.syncthreads()
        if cuda.threadIdx.x == 3:
            raise ValueError("no")
        cuda.syncthreads()
        out[cuda.threadIdx.x] = 1

    out, before = np.zeros(5), threading.active_count()
    with pytest.raises(ValueError, match=r"tid=\[3, 0, 0\] ctaid=\[0, 0, 0\]: no"):
        launched(backend, fail, 5, out)
    assert not out.any()
    while threading.active_count() > before:  # those that waited end as well
        threading.Event().wait(0.001)


def test_programs_and_libraries_refuse_arrays_that_an_address_does_not_tell() -> None:
    """Not that rows are read as if they followed each other."""
    array = SimpleNamespace(__cuda_array_interface__={"shape": (3, 2), "data": (4096, False), "strides": None})
    assert address(array) == 4096
    array.__cuda_array_interface__["strides"] = (8, 24)
    with pytest.raises(ValueError, match=r"C order .* shape \(3, 2\) with strides \(8, 24\)"):
        address(array)


@pytest.mark.gpu
def test_views_of_arrays_in_c_order_have_an_address() -> None:
    """Also those of which a stride means nothing, and slices of rows."""
    try:
        backend = open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    made = backend.array(np.arange(12.0).reshape(4, 3))
    for array in (made, made[1:3], made[:1].T, made[:0], made[2:3, 1:2]):
        assert address(backend.view(array)) == address(array)
    for array in (made.T, made[:, :2], made[::2]):
        for given in (array, backend.view(array)):
            with pytest.raises(ValueError, match="C order"):
                address(given)
