"""Normals in the numbers that long runs take: moments, tails, and independence over paths, steps and assets."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path

import numpy as np
import pytest
from normal_statistics import NAMES, TAILS, beyond, drawn, moment, sums_of, surprise, z_scores
from scipy import integrate, stats

from simsuite.backends.program import compile_program, whole_text
from simsuite.solvers.gbm.random_numbers import precision
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK

LIMIT = 5.0  # standard deviations
ASSETS, THREADS = 4, 256
C = {np.float32: "float", np.float64: "double"}
DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
ON_GPU = pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The sums over normals, with the normals that paths on a GPU are made of."""
    solver = Path(precision.__file__)
    parts = [
        solver.with_name("philox.cuh"),
        solver.with_name("normals.cuh"),
        Path(__file__).with_name("normal_statistics.cu"),
    ]
    made = tmp_path / "normal_statistics.cu"
    made.write_text("\n".join(map(whole_text, parts)), encoding="utf-8")
    return made


def macros(dtype: type) -> dict[str, str | int]:
    return {"NORMAL": C[dtype], "ASSETS": ASSETS, "THREADS": THREADS}


def summed(backend, program: Path, dtype: type, paths: int, steps: int, seed: int) -> np.ndarray:
    """[statistic]"""
    blocks = min(8 * backend.processors, -(-paths // THREADS))
    sums = backend.zeros((blocks, len(NAMES)), np.float64)
    launch = backend.program(program, macros(dtype)).launcher("statistics", blocks, THREADS)
    launch(sums, np.uint64(paths), np.uint64(seed), np.int32(steps // NORMALS_PER_BLOCK[np.dtype(dtype)]))
    return np.array([math.fsum(column) for column in backend.to_host(sums).T])


def too_far(found: dict[str, float]) -> dict[str, float]:
    return {name: z for name, z in found.items() if not abs(z) < LIMIT}


@DTYPES
def test_moments_tails_and_neighbours_of_many_normals(dtype: type) -> None:
    paths, steps, total, seed = 64, 256, np.zeros(len(NAMES)), 7
    z = drawn(dtype, 1 << 14, ASSETS, steps // NORMALS_PER_BLOCK[np.dtype(dtype)], seed)
    assert z.size == 1 << 24
    for first in range(0, len(z), paths):
        total += sums_of(z[first : first + paths])
    found = z_scores(total, dtype, len(z), ASSETS, steps)
    assert too_far(found) == {}
    assert max(map(abs, found.values())) > 0.5  # they are numbers of deviations, and not all next to nothing


@ON_GPU
@DTYPES
def test_moments_tails_and_neighbours_of_2_36_normals_on_a_gpu(backend, program: Path, dtype: type) -> None:
    paths, steps = 1 << 26, 256
    assert paths * ASSETS * steps == 1 << 36
    sums = summed(backend, program, dtype, paths, steps, seed=7)
    found = z_scores(sums, dtype, paths, ASSETS, steps)
    print({name: (float(total), round(z, 2)) for (name, z), total in zip(found.items(), sums)})
    assert too_far(found) == {}


@ON_GPU
@DTYPES
def test_sums_on_a_gpu_are_those_of_the_numbers_here(backend, program: Path, dtype: type) -> None:
    z = drawn(dtype, 320, ASSETS, 6, seed=3)
    found = summed(backend, program, dtype, len(z), z.shape[2], seed=3)
    tolerance = 1e-10 if dtype == np.float64 else 2e-5  # of each term, by the special function unit
    np.testing.assert_allclose(found, sums_of(z), rtol=tolerance, atol=z.size * tolerance)


@DTYPES
def test_sums_compile_without_spills(program: Path, dtype: type) -> None:
    log = io.StringIO()
    compile_program(program, macros(dtype), "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}


# ---- that they would find what is wrong


def made(harm: str) -> np.ndarray:
    """[path, asset, step]: 2^20 normals of NumPy's, with something the matter."""
    z = np.random.default_rng(1).standard_normal((1024, ASSETS, 256))
    if harm == "variance":
        z *= 1.005
    if harm == "skewness":
        z += 0.005 * (z**2 - 1)
    if harm == "step":
        z[:, :, 1:] += 0.01 * z[:, :, :-1]
    if harm == "pair":
        z[:, :, 2:] += 0.01 * z[:, :, :-2]
    if harm == "path":
        z[1:] += 0.01 * z[:-1]
    if harm == "asset":
        z[:, 1:] += 0.01 * z[:, :-1]
    if harm == "radius":  # independent signs, and sizes that are not
        z[:, :, 1::2] = np.abs(z[:, :, ::2]) * np.sign(z[:, :, 1::2])
    if harm == "tail":
        z[np.abs(z) > 4] = 4
    if harm == "fault":
        z[3, 2, 1] = np.nan
    return z


@pytest.mark.parametrize(
    ("harm", "found_by"),
    [
        ("variance", "z^2"),
        ("skewness", "z^3"),
        ("step", "product with next step"),
        ("pair", "product with next step but one"),
        ("path", "product with next path"),
        ("asset", "product with next asset"),
        ("radius", "squares with next step"),
        ("tail", "|z| > 4"),
        ("fault", "no finite number"),
    ],
)
def test_what_is_wrong_is_found(harm: str, found_by: str) -> None:
    z = made(harm)
    assert found_by in too_far(z_scores(sums_of(z), np.float64, len(z), ASSETS, z.shape[2]))


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    z = made("")
    assert too_far(z_scores(sums_of(z), np.float64, len(z), ASSETS, z.shape[2])) == {}


def test_what_is_expected_is_that_of_the_normal_law() -> None:
    for k in range(1, 17):
        exact, _ = integrate.quad(lambda z, k=k: z**k * stats.norm.pdf(z), -14, 14, limit=200)
        assert moment(k) == pytest.approx(exact, rel=1e-8, abs=1e-5)
    for t in TAILS[:-2]:
        assert beyond(t, np.float32) == pytest.approx(beyond(t, np.float64), rel=2e-3)
    assert beyond(6.0, np.float64) == pytest.approx(1.973175e-9, rel=1e-6)
    # by hand: r_0, r_1 and r_2 are 6.7637, 6.5992 and 6.5213
    radii = [6.763749, 6.599321, 6.521454]
    assert beyond(6.5, np.float32) == pytest.approx(
        sum(2 / math.pi * math.acos(6.5 / r) for r in radii) / 2**32, rel=1e-4
    )
    assert surprise(100.0, 100.0) == 0
    assert surprise(150.0, 100.0) == pytest.approx(4.65, abs=0.1)
    assert surprise(0.0, 30.0) == pytest.approx(-7.358, abs=1e-3)
