"""Paths from Sobol points: the bridge's law and order, increments on CPU and GPU, and errors that fall faster."""

from __future__ import annotations

import io
import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from scipy.special import ndtri
from sm90 import ptx_of

from simsuite.backends.program import compile_program, program_text, whole_text
from simsuite.parallel_for import kernel
from simsuite.sobol.normal import inverse_normals64
from simsuite.sobol.replicates import estimate
from simsuite.sobol.scrambling import Scramble, scramble
from simsuite.solvers.gbm.closed_forms.geometric import geometric_asian
from simsuite.solvers.gbm.sobol import brownian_bridge
from simsuite.solvers.gbm.sobol.brownian_bridge import Bridge, device_points
from simsuite.solvers.gbm.sobol.sobol_cpu import SPAN, follow, start
from simsuite.solvers.gbm.sobol.sobol_tables import principal_components

__all__ = ["host_cuda"]  # a fixture

PER_BLOCK = {np.dtype(np.float64): 2, np.dtype(np.float32): 4}
SOURCE = Path(brownian_bridge.__file__).with_name("sobol.cuh")


def matrix(made: Bridge) -> np.ndarray:
    """[step, rank] of the map from numbers to increments, from the definition: W at every step, node by node."""
    n, W = made.n_steps, {0: np.zeros(made.n_steps)}
    W[n] = math.sqrt(n) * np.eye(n)[0]

    def split(left: int, right: int) -> list[tuple[float, int, int, int]]:
        if right - left < 2:
            return []
        m = brownian_bridge.middle(left, right)
        own = (-(m - left) * (right - m) / (right - left), m, left, right)
        return [own, *split(left, m), *split(m, right)]

    nodes = split(0, n)
    for rank, (variance, m, left, right) in enumerate(sorted(nodes), 1):
        share = np.eye(n)[rank] * math.sqrt(-variance)
        nodes[nodes.index((variance, m, left, right))] = (m, left, right, share)
    for m, left, right, share in nodes:  # a node after those that it stands between
        W[m] = ((right - m) * W[left] + (m - left) * W[right]) / (right - left) + share
    return np.diff([W[k] for k in range(n + 1)], axis=0)


@kernel
def increments(dw, bridge, point, begin, single):
    """dw[step, path] of some blocks from `begin` on, of one component of the first replicate."""
    n, per_block = dw.shape[1], bridge[1].shape[0] // bridge[0].shape[0]
    z = np.empty((1, per_block + 1 + bridge[5], n), dw.dtype)
    at = np.empty(2, np.int64)
    split = bridge, 0, point, n, (np.empty(n, dw.dtype), np.empty(n, np.uint32), np.empty(SPAN, np.uint32))
    start(z, at, begin, split, single)
    for k in range(dw.shape[0] // per_block):
        follow(z, at, begin + k, per_block, split, single)
        for j in range(per_block):
            for p in range(n):
                dw[k * per_block + j, p] = z[0, j, p]


def drawn(made: Bridge, points: Scramble, dtype: Any, first: int, n: int, begin: int, end: int, a: int = 0) -> Any:
    tables = [np.ascontiguousarray(t[:, :, a : a + 1]) for t in (points.directions, points.shift, points.offset)]
    bridge = (made.opened, made.weights.astype(dtype), *tables, made.depth)
    dw = np.empty(((end - begin) * made.per_block, n), dtype)
    increments(dw, bridge, first, begin, True if dtype == np.float32 else None)
    return dw


def uniform(scrambled: Scramble, r: int, index: np.ndarray, dtype: Any) -> np.ndarray:
    """[point, dimension]"""
    x = np.broadcast_to(scrambled.shift[r], (len(index), scrambled.shift.shape[1])).copy()
    for bit in range(32):
        x[index >> bit & 1 == 1] ^= scrambled.directions[r, :, bit]
    return (x + (scrambled.offset[r] if dtype == np.float64 else 0.5)) / 2.0**32


STEPS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 23, 50, 64, 250, 252]


@pytest.mark.parametrize("n", STEPS)
def test_the_bridge_is_orthogonal_and_begins_with_the_coarsest(n: int) -> None:
    assert np.abs(matrix(Bridge.of(n, 4)) @ matrix(Bridge.of(n, 4)).T - np.eye(n)).max() < 1e-14
    for per_block in (2, 4):
        made = Bridge.of(n, per_block)
        blocks = -(-n // per_block)
        assert len(made.rank) == blocks * per_block
        assert sorted(made.rank[made.rank >= 0]) == list(range(n))
        assert made.opened.sum() == blocks - 1
        assert made.depth <= max(1, math.ceil(math.log2(blocks)) + 1)
    if n & (n - 1) == 0:
        W = np.cumsum(matrix(Bridge.of(n, 4)), axis=0)
        for level in range(int(math.log2(n)) + 1):  # of what the first 2^level numbers decide, nothing is left open
            decided = W[(n >> level) - 1 :: n >> level]
            assert np.abs(decided[:, 1 << level :]).max(initial=0) < 1e-14


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", STEPS)
def test_increments(n: int, dtype: Any) -> None:
    """Of two components, far into the sequence, and cut out of it."""
    made, scrambled = Bridge.of(n, PER_BLOCK[np.dtype(dtype)]), scramble(5, 1, 2 * n)
    points, blocks, first, count = made.points(scrambled, np.ones(2)), len(made.opened), (1 << 31) + 700, 600
    z = ndtri(uniform(scrambled, 0, np.arange(first, first + count), dtype))
    for a in range(2):
        found = drawn(made, points, dtype, first, count, 0, blocks, a)
        tolerance = 1e-14 if dtype == np.float64 else 4e-6
        np.testing.assert_allclose(found[:n], matrix(made) @ z[:, a::2].T, rtol=0, atol=tolerance)
        assert not found[n:].any()
        for begin, end in ((0, 1), (blocks // 3, blocks // 3 + 1), (blocks // 2, blocks)):
            cut = drawn(made, points, dtype, first + 77, 400, begin, end, a)
            np.testing.assert_array_equal(cut, found[begin * made.per_block : end * made.per_block, 77:477])


def program_source(tmp_path: Path, text: str) -> Path:
    """The header and a kernel that writes increments."""
    source = tmp_path / "program.cu"
    kernel = Path(__file__).with_name("sobol_increments.cu").read_text(encoding="utf-8")
    source.write_text(text + kernel, encoding="utf-8")
    return source


def check_program(backend: Any, source: Path, n: int, assets: int, cuts: tuple[int, ...], dtype: Any) -> None:
    """What a program makes of points against what the CPU does, in stretches of blocks."""
    made, count, first = Bridge.of(n, PER_BLOCK[np.dtype(dtype)]), 150, (1 << 30) + 45
    points, blocks = made.points(scramble(5, 1, n * assets), np.ones(assets)), len(made.opened)
    real = "double" if dtype == np.float64 else "float"
    program = backend.program(source, {"NORMAL": real, "ASSETS": assets, "STACK": made.depth})
    launch = program.launcher("increments", 2, 128)
    tables = [made.opened, made.weights.astype(dtype), made.inside().astype(dtype), device_points(points)[0]]
    tables = [backend.array(np.ascontiguousarray(t)) for t in (*tables, points.offset[0].astype(dtype))]
    for begin, end in itertools.pairwise((0, *(c for c in cuts if c < blocks), blocks)):
        dw = backend.array(np.full(((end - begin) * made.per_block, assets, count), np.nan, dtype))
        launch(dw, np.uint32(count), np.uint32(first), np.int32(begin), np.int32(end), *tables, np.int32(blocks))
        for a in range(assets):
            expected = drawn(made, points, dtype, first, count, begin, end, a)
            tolerance = 1e-14 if dtype == np.float64 else 6e-6
            np.testing.assert_allclose(backend.to_host(dw)[:, a], expected, rtol=0, atol=tolerance)


PROGRAMS = [(1, 1, (1,)), (13, 2, (1, 2)), (37, 1, (3, 5)), (250, 3, (60, 61))]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "assets", "cuts"), PROGRAMS)
def test_increments_of_the_program_on_the_host(
    host_cuda: HostCuda, tmp_path: Path, n: int, assets: int, cuts: tuple[int, ...], dtype: Any
) -> None:
    """The source itself: see `cuda_host`."""
    special = whole_text(SOURCE.parents[1] / "random_numbers" / "special.cuh")
    check_program(host_cuda, program_source(tmp_path, whole_text(SOURCE).replace(special, "")), n, assets, cuts, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda"], indirect=True)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "assets", "cuts"), PROGRAMS)
def test_increments_of_the_program(
    backend: Any, tmp_path: Path, n: int, assets: int, cuts: tuple[int, ...], dtype: Any
) -> None:
    check_program(backend, program_source(tmp_path, whole_text(SOURCE)), n, assets, cuts, dtype)


@pytest.mark.parametrize("assets", [1, 4])
@pytest.mark.parametrize("real", ["float", "double"])
def test_the_cuda_program_as_compiled(tmp_path: Path, real: str, assets: int) -> None:
    source, log = program_source(tmp_path, whole_text(SOURCE)), io.StringIO()
    macros = {"NORMAL": real, "ASSETS": assets, "STACK": 7}
    compile_program(source, macros, "sm_75")  # has no reduction over a warp
    compile_program(source, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
    size = 4 if real == "float" else 8
    stack = int(re.findall(r"(\d+) bytes stack", log.getvalue())[0])
    assert stack <= size * 7 * assets + 8, "nothing else is in local memory"
    assert ("%fd" in ptx_of(program_text(source, macros))) == (real == "double")


def test_dimensions_are_in_order_of_the_variance_that_they_decide() -> None:
    """Of 4 steps, whose nodes have the variances 4, 1, 1/2 and 1/2; a table with the number of the dimension in it."""
    numbers = Scramble(*(np.arange(8, dtype=np.uint32)[None] for _ in range(3)))
    for per_block in (2, 4):
        made = Bridge.of(4, per_block)
        for deviations, of_components in (
            ((1.0, 1.0), ([0, 2, 4, 6], [1, 3, 5, 7])),
            ((1.0, 1.0 + 1e-15), ([0, 2, 4, 6], [1, 3, 5, 7])),
            ((1.0, 0.1), ([0, 1, 2, 3], [4, 5, 6, 7])),
            ((1.0, 0.6), ([0, 2, 3, 4], [1, 5, 6, 7])),
        ):
            chosen = made.points(numbers, np.array(deviations)).shift[0][np.argsort(made.rank)]
            assert chosen.T.tolist() == list(of_components)


def test_principal_components() -> None:
    covariance = np.array([[0.04, 0.03, 0.01], [0.03, 0.09, 0.02], [0.01, 0.02, 0.01]])
    rotation, deviation = principal_components(np.linalg.cholesky(covariance))
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
    factor = np.linalg.cholesky(covariance) @ rotation
    assert (np.diff(deviation) < 0).all()
    np.testing.assert_allclose(factor.T @ factor, np.diag(deviation**2), atol=1e-16)
    rotation, _ = principal_components(np.array([[1.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_allclose(np.array([[1.0, 0.0], [1.0, 0.0]]) @ rotation, [[1, 0], [1, 0]], atol=1e-15)
    uneven = np.array([[1.0, 0.0], [3e-9, 4e-9]])  # each asset keeps its deviation to the last digits but one
    size = np.linalg.norm(uneven @ principal_components(uneven)[0], axis=1)
    np.testing.assert_allclose(size, [1.0, 5e-9], rtol=1e-15)


def standard_errors(n: int, bridged: bool) -> dict[int, float]:
    """Of an option on a geometric mean at n dates, by the number of points of each of 16 replicates."""
    spot, strike, rate, sigma, replicates = 100.0, 105.0, 0.05, 0.3, 16
    made = Bridge.of(n, 2)
    scrambled = scramble(2024, replicates, n)
    points = made.points(scrambled, np.ones(1))
    weight = np.arange(n, 0, -1) / n
    exact = geometric_asian(spot, strike, rate, rate, sigma, 1.0, [(k + 1) / n for k in range(n)], "call")
    errors, most = {}, 1 << 14
    z = np.empty((n, most))
    payoffs = np.empty((replicates, most))
    for r in range(replicates):
        own = Scramble(points.directions[r : r + 1], points.shift[r : r + 1], points.offset[r : r + 1])
        if bridged:
            z = drawn(made, own, np.float64, 0, most, 0, len(made.opened))[:n]
        else:
            for k in range(n):
                bits = np.full(most, scrambled.shift[r, k])
                for bit in range(32):
                    bits[np.arange(most) >> bit & 1 == 1] ^= scrambled.directions[r, k, bit]
                inverse_normals64(z[k], bits, scrambled.offset[r, k], most)
        log_mean = (rate - sigma**2 / 2) / n * weight.sum() + sigma * math.sqrt(1 / n) * weight @ z
        payoffs[r] = math.exp(-rate) * np.maximum(spot * np.exp(log_mean) - strike, 0)
    for points_each in (1 << m for m in range(8, 15, 2)):
        found = estimate(payoffs[:, :points_each].mean(axis=1).tolist())
        assert abs(found.mean - exact) < 4 * found.standard_error
        errors[points_each] = found.standard_error
    return errors


@pytest.mark.parametrize("n", [16, 64])
def test_errors_fall_faster_than_those_of_random_numbers(n: int) -> None:
    bridged, in_order = standard_errors(n, True), standard_errors(n, False)
    order = -np.polyfit(np.log(list(bridged)), np.log(list(bridged.values())), 1)[0]
    assert order > 0.8, "0.5 is that of random numbers"
    most = max(bridged)
    assert bridged[most] < in_order[most] / 2
