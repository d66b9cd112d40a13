"""Transforms to modes against the matrices of modes and SciPy's transforms, and φ functions against long arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft
from counting import Counting

import simsuite
from simsuite.backends.cpu import CpuBackend
from simsuite.core import Backend
from simsuite.errors import LibraryMissing
from simsuite.solvers.heat.exact import transform as transforms
from simsuite.solvers.heat.exact.exact import LEAST, TERMS
from simsuite.solvers.heat.exact.modes import Axis
from simsuite.solvers.heat.exact.transform import Dense, Fast, Single, Turned, is_fast, rows_at_once, transform

BETAS = {"hartley": (0, 0), "cosine2": (0, 0), "sine2": (2, 2), "cosine4": (0, 2), "sine4": (2, 0), "": (0.3, 1.7)}
FAST = [kind for kind in BETAS if kind]
TRIGONOMETRIC = "simsuite.solvers.heat.exact.trigonometric"


def axis(kind: str, n: int) -> Axis:
    made = Axis(n, kind == "hartley", *BETAS[kind])
    assert made.kind == kind
    return made


def transformed(
    backend: Backend, cells: Axis, field: np.ndarray, back: bool, made: Fast | Single | Dense | Turned | None = None
) -> np.ndarray:
    source = backend.array(field)
    target = backend.array(np.full(field.shape[::-1], np.nan, field.dtype))
    (made or transform(backend, cells, field.dtype)).bind(source, target, back)()
    return backend.to_host(target)


def fields(backend: Backend, n: int) -> list[np.ndarray]:
    rows = (1, 2, 37) if backend.name != "cudasim" else (2,) if n < 40 else ()
    return [np.random.default_rng([n, m]).normal(size=(m, n)) for m in rows]


@pytest.mark.parametrize("kind", BETAS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31, 33, 48, 100, 257])
def test_rows_are_multiplied_by_the_modes(backend: Backend, kind: str, n: int) -> None:
    cells = axis(kind, n)
    for field in fields(backend, n):
        error = np.abs(transformed(backend, cells, field, False) - (field @ cells.matrix).T).max()
        error = max(error, np.abs(transformed(backend, cells, field, True) - (field @ cells.matrix.T).T).max())
        assert error < (2e-15 + 1e-17 * n) * np.abs(field).max() * 5


@pytest.mark.parametrize("kind", FAST)
@pytest.mark.parametrize("n", [48, 63, 4096, 8191])
def test_rows_are_transformed_as_scipy_does(backend: Backend, kind: str, n: int) -> None:
    """Also in float32, relative to the largest mode."""
    if backend.name == "cudasim" and n > 50:
        pytest.skip("takes long there")
    field = np.random.default_rng(n).normal(size=(3, n))
    if kind == "hartley":
        spectrum = scipy.fft.fft(field, norm="ortho")
        want = spectrum.real - spectrum.imag
    else:
        want = (scipy.fft.dct if kind[:-1] == "cosine" else scipy.fft.dst)(field, int(kind[-1]), norm="ortho")
    for real in (np.float64, np.float32):
        modes = transformed(backend, axis(kind, n), field.astype(real), False)
        assert modes.dtype == real
        assert np.abs(modes.T - want).max() < 8 * np.finfo(real).eps * np.abs(want).max()
        back = transformed(backend, axis(kind, n), np.ascontiguousarray(modes.T), True)
        assert np.abs(back.T - field).max() < 8 * np.finfo(real).eps * np.abs(field).max()


@pytest.mark.parametrize("kind", FAST)
def test_rows_are_taken_in_parts(backend: Backend, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """33 and 32 of them at a time, whatever that leaves for the last part; and fewer later by the same object."""
    m, n = (40, 6) if backend.name == "cudasim" else (205, 42)
    monkeypatch.setattr(backend.kernels(TRIGONOMETRIC), "CHUNK", 33 * n)
    cells = axis(kind, n)
    field = np.random.default_rng(m).normal(size=(m, n))
    made = transform(backend, cells, np.float64)
    for back, V in ((False, cells.matrix), (True, cells.matrix.T)):
        for some in (field, field[:2]):
            np.testing.assert_allclose(transformed(backend, cells, some, back, made), (some @ V).T, rtol=0, atol=2e-14)


def test_parts_of_rows() -> None:
    assert rows_at_once(100, 10, 10**6) == 100
    assert rows_at_once(100, 10, 1000) == 100
    assert rows_at_once(8192, 8192, 1 << 21) == 256
    assert rows_at_once(8200, 8192, 1 << 21) == 256  # 33 parts, aligned
    assert rows_at_once(3, 10**7, 1 << 21) == 3


def test_transforms_of_length_one_are_products(backend: Backend) -> None:
    """Libraries need not know them. One cell is its own mode, whatever its edges."""
    assert [n for n in range(1, 5) if not is_fast(axis("cosine2", n))] == [1]
    assert [n for n in range(1, 5) if not is_fast(axis("sine4", n))] == [1, 2]
    assert isinstance(transform(backend, axis("sine4", 2), np.float64), Turned if backend.name == "cpu" else Dense)
    for kind in BETAS:
        np.testing.assert_allclose(axis(kind, 1).matrix, 1.0, rtol=1e-15)
        one = transformed(backend, axis(kind, 1), np.array([[2.0], [3.0], [5.0]]), False)
        np.testing.assert_array_equal(one, [[2.0, 3.0, 5.0]])


def missing() -> Any:
    raise LibraryMissing("libfft is not installed")


@pytest.mark.parametrize("shape", [(5, 7), (1, 3), (40, 33)], ids=str)
def test_without_libraries_products_do_and_say_so(
    backend: Backend, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, field = axis("cosine2", shape[1]), np.random.default_rng(0).normal(size=shape)
    usual = transform(backend, cells, np.float64)
    assert isinstance(usual, Fast)
    assert usual.note is None
    assert usual.libraries
    monkeypatch.setattr(backend, "fourier", missing)
    monkeypatch.setattr(backend, "products", missing)
    slow = transform(backend, cells, np.float64)
    assert isinstance(slow, Turned)
    assert slow.libraries == set()
    assert "libfft is not installed" in str(slow.note)
    assert "slow" in str(slow.note)
    for back, V in ((False, cells.matrix), (True, cells.matrix.T)):
        np.testing.assert_allclose(transformed(backend, cells, field, back, slow), (field @ V).T, rtol=0, atol=1e-14)


def test_a_run_says_what_it_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plate = tmp_path / "plate.toml"
    text = """
        solver = "heat"
        [run]
        device = "cpu"
        [grid]
        nx = 7
        ny = 5
        [material]
        diffusivity = 1.0
        [time]
        end = 1e-2
        stepper = "exact"
        """
    plate.write_text(text, encoding="utf-8")
    usual = simsuite.run(plate, directory=tmp_path / "usual")
    assert usual.summary["kernel"] == "numba + SciPy"
    assert "kernel_note" not in usual.summary
    monkeypatch.setattr(CpuBackend, "fourier", lambda self: missing())
    slow = simsuite.run(plate, directory=tmp_path / "slow")
    assert slow.summary["kernel"] == "numba"
    assert "libfft is not installed" in slow.summary["kernel_note"]
    assert slow.dataset.attrs["kernel"] == "numba"
    assert "libfft is not installed" in slow.dataset.attrs["kernel_note"]
    assert "libfft is not installed" in (tmp_path / "slow" / "log.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("sources", [[], [{"power": "x"}]], ids=["", "source"])
@pytest.mark.parametrize("kind", ["insulated", "convection"])
@pytest.mark.parametrize("shape", [(300, 200), (1, 700), (70, 1)], ids=str)
def test_device_bytes_are_enough(heat: Callable, shape: tuple[int, int], kind: str, sources: list[Any]) -> None:
    edge = {"kind": kind} if kind == "insulated" else {"kind": kind, "h": 2.0, "ambient": 1.0}
    grid, time = {"ny": shape[0], "nx": shape[1]}, {"stepper": "exact", "end": 1.0}
    problem = heat(grid=grid, boundary={"left": edge, "bottom": edge}, source=sources, time=time)
    backend = Counting()
    problem.stepper(backend, problem.initial())
    assert backend.most <= problem.device_bytes()


@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 1), (1, 700)], ids=str)
def test_device_bytes_of_one_row_are_not_those_of_large_products(heat: Callable, shape: tuple[int, int]) -> None:
    """They were 30 MB for whatever a row holds. Its only mode takes no product at all."""
    problem = heat(grid={"ny": shape[0], "nx": shape[1]}, time={"stepper": "exact", "end": 1.0})
    backend = Counting()
    stepper = problem.stepper(backend, problem.initial())
    assert backend.most <= problem.device_bytes() < 10 * backend.most
    assert stepper.chosen["kernel"] == ("numba" if shape == (1, 1) else "numba + SciPy")


@pytest.mark.parametrize("shape", [(8, 8), (1, 12), (30, 20)], ids=str)
def test_device_bytes_of_small_products_are_small(
    heat: Callable, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many for each core as its columns take, not as many as it could work on."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 2)
    edge = {"kind": "convection", "h": 2.0, "ambient": 1.0}
    grid, time = {"ny": shape[0], "nx": shape[1]}, {"stepper": "exact", "end": 1.0}
    problem = heat(grid=grid, boundary={"left": edge, "bottom": edge}, time=time)
    backend = Counting()
    problem.stepper(backend, problem.initial())
    assert backend.most <= problem.device_bytes() < 1e6


def test_the_largest_part_is_that_of_some_device(backend: Backend) -> None:
    assert backend.kernels(TRIGONOMETRIC).CHUNK <= transforms.LARGEST


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_phi_functions(backend: Backend, real: Any) -> None:
    """φ₁ and φ₂ of all pairs of rates, from changes and integrals of modes, in long double by expm1 and the series."""
    nx, ny = (9, 5) if backend.name == "cudasim" else (41, 35)
    dt = real(0.37)
    rates = [np.concatenate([[0.0], 10.0 ** np.linspace(-30, 4, n - 1)]).astype(real) for n in (nx, ny)]
    working = backend.kernels("simsuite.solvers.heat.exact.exact").working_precision(real)
    for a, s in ((1.0, 0.0), (0.0, 1.0)):
        change, sides = propagated(backend, [r.astype(working) for r in rates], working.type(dt), a, s)
        z = (rates[0].astype(np.longdouble) + rates[1][:, None]) * np.longdouble(dt)
        phi1, phi2 = phi(z)
        want = (np.longdouble(dt) * s - z * a) * phi1
        tolerance = 8 * np.finfo(working).eps
        assert np.all(np.abs(change - want) <= tolerance * np.abs(want))
        integral = dt * (phi1 * a + phi2 * np.longdouble(dt) * s)
        assert np.all(np.abs(sides - integral.sum(axis=1)) <= 2 * tolerance * integral.sum(axis=1))


def phi(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ₁(-z) and φ₂(-z) for z ≥ 0."""
    some = np.where(z > 0, z, 1)
    phi1 = np.where(z > 0, -np.expm1(-some) / some, 1)
    series, term = np.zeros_like(z), np.full_like(z, 0.5)
    for k in range(3, 60):
        series, term = series + term, -term * np.minimum(z, 1) / k
    return phi1, np.where(z > 1, (1 - phi1) / some, series)


def propagated(backend: Backend, rates: list[np.ndarray], dt: Any, a: float, s: float) -> tuple[np.ndarray, np.ndarray]:
    """(change (ny, nx), sums of the integrals of each row) of modes that are all a, heated by s."""
    k = backend.kernels("simsuite.solvers.heat.exact.exact")
    (nx, ny), real = map(len, rates), type(dt)
    parts, extent, block = k.tiles_of(ny, nx)
    shapes = {"modes": (ny, nx), "source": (ny, nx), "line_x": (3, nx), "line_y": (3, ny), "step": (1,)}
    shapes |= {"ends_x": (2, nx), "ends_y": (2, ny), "sums_x": (parts[0], 2, ny), "sums_y": (parts[1], 2, nx)}
    shapes |= {"sides": (2, ny), "ends": (2, nx)}
    values = {"modes": a, "source": s, "ends_x": 1.0, "ends_y": 1.0}
    held = {name: backend.array(np.full(shape, values.get(name, np.nan), real)) for name, shape in shapes.items()}
    v = {name: backend.view(array) for name, array in held.items()}
    for line, rate in zip(("line_x", "line_y"), rates):
        device = backend.array(rate)
        decay = backend.launcher(k.decay, (len(rate),), (len(rate),))
        decay(backend.view(device), dt, real(1), real(TERMS), v[line], v["step"])
        backend.fence().wait()
    tables = [v[name] for name in ("ends_x", "ends_y", "sums_x", "sums_y")]
    lines = [v[name] for name in ("line_x", "line_y", "step")]
    backend.launcher(k.propagate, extent, block)(v["modes"], v["source"], *lines, real(1), real(LEAST), *tables)
    for sums, out, n in (("sums_x", "sides", ny), ("sums_y", "ends", nx)):
        backend.launcher(k.total, *k.sums_of(n))(v[sums], v[out])
    sides, ends = (backend.to_host(held[name]).astype(np.longdouble) for name in ("sides", "ends"))
    np.testing.assert_allclose(sides[0].sum(), ends[1].sum(), rtol=1e-5)
    return backend.to_host(held["modes"]).astype(np.longdouble), sides[1]
