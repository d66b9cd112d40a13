"""Random numbers: Philox against published answers and an independent implementation, normals against their law."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32, float64, njit, uint64
from scipy import stats

from simsuite.rng import direction32, direction64, fill_normals32, fill_normals64, philox4x32, radius32, radius64, words

# Random123, tests/kat_vectors: counter, key, answer
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def numpy_philox(counter: np.ndarray, key: np.ndarray) -> np.ndarray:
    """[n, 4] words of [n, 4] counters and [n, 2] keys, in unsigned 64-bit arithmetic throughout."""
    c, k, mask = counter.astype(np.uint64), key.astype(np.uint64), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[:, 0], np.uint64(0xCD9E8D57) * c[:, 2]
        high0, high1 = p0 >> np.uint64(32), p1 >> np.uint64(32)
        c = np.stack([high1 ^ c[:, 1] ^ k[:, 0], p1 & mask, high0 ^ c[:, 3] ^ k[:, 1], p0 & mask], axis=1)
        k = (k + np.array([0x9E3779B9, 0xBB67AE85], np.uint64)) & mask
    return c.astype(np.uint32)


def random_words(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 2**32, shape, dtype=np.uint32)


@njit
def philox_rows(counter, key, out):
    for i in range(len(counter)):
        words = philox4x32(counter[i, 0], counter[i, 1], counter[i, 2], counter[i, 3], key[i, 0], key[i, 1])
        for j in range(4):  # a whole row at once takes ten times as long to compile
            out[i, j] = words[j]


@njit
def normals(out, single, block, stream, first_path, seed):
    for i in range(len(out)):
        if single:
            fill_normals32(out, i, block, stream, first_path + i, seed)
        else:
            fill_normals64(out, i, block, stream, first_path + i, seed)


def draw(dtype, n, block=0, stream=0, first_path=0, seed=1) -> np.ndarray:
    single = dtype == np.float32
    out = np.empty((n, 4 if single else 2), dtype)
    normals(out, single, block, stream, first_path, np.uint64(seed))
    return out


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter, key, answer):
    assert tuple(philox4x32(*counter, *key)) == answer
    assert tuple(numpy_philox(np.array([counter]), np.array([key]))[0]) == answer


def test_random_counters():
    counter, key = random_words((5000, 4)), random_words((5000, 2))
    found = np.empty_like(counter)
    philox_rows(counter, key, found)
    np.testing.assert_array_equal(found, numpy_philox(counter, key))


def test_words_use_every_part_of_path_and_seed():
    path, seed = 0x123456789ABC, 0xFEDCBA9876543210
    expected = numpy_philox(np.array([[7, 3, 0x56789ABC, 0x1234]]), np.array([[0x76543210, 0xFEDCBA98]]))[0]
    assert tuple(words(7, 3, path, np.uint64(seed))) == tuple(expected)


@cuda.jit
def cuda_kernel(counter, key, philox, mapped, z64, z32):
    i = cuda.grid(1)
    if i < counter.shape[0]:
        c, k = counter[i], key[i]
        a = cuda.local.array((1, 2), float64)
        b = cuda.local.array((1, 4), float32)
        philox[i, 0], philox[i, 1], philox[i, 2], philox[i, 3] = philox4x32(c[0], c[1], c[2], c[3], k[0], k[1])
        mapped[i, 0], mapped[i, 1], mapped[i, 2], mapped[i, 3] = words(i, 1, 5 * i, uint64(k[0]))
        fill_normals64(a, 0, 3, 1, i, uint64(9))
        fill_normals32(b, 0, 3, 1, i, uint64(9))
        for j in range(2):
            z64[i, j] = a[0, j]
        for j in range(4):
            z32[i, j] = b[0, j]


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
def test_same_numbers_in_a_cuda_kernel(backend):
    counter = np.concatenate([np.array([c for c, _, _ in KNOWN], np.uint32), random_words((30, 4))])
    key = np.concatenate([np.array([k for _, k, _ in KNOWN], np.uint32), random_words((30, 2))])
    n = len(counter)
    empty = [((n, 4), np.uint32), ((n, 4), np.uint32), ((n, 2), np.float64), ((n, 4), np.float32)]
    arrays = [backend.array(counter), backend.array(key), *(backend.zeros(*spec) for spec in empty)]
    backend.launcher(cuda_kernel, (n,), (32,))(*map(backend.view, arrays))
    philox, mapped, z64, z32 = map(backend.to_host, arrays[2:])
    np.testing.assert_array_equal(philox, numpy_philox(counter, key))
    i, zero = np.arange(n), np.zeros(n, int)
    np.testing.assert_array_equal(
        mapped, numpy_philox(np.stack([i, zero + 1, 5 * i, zero], axis=1), np.stack([key[:, 0], zero], axis=1))
    )
    np.testing.assert_allclose(z64, draw(np.float64, n, 3, 1, seed=9), rtol=0, atol=4e-15)
    np.testing.assert_allclose(z32, draw(np.float32, n, 3, 1, seed=9), rtol=0, atol=2e-6)


def test_box_muller_parts():
    """Radius and direction against their definitions, in extended precision."""
    for high, low in [*random_words((2000, 2)), (0, 0), (0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0), (0, 1 << 11)]:
        high, low = int(high), int(low)
        u = np.longdouble((high << 32 | low) >> 11) * np.longdouble(2) ** -53 + np.longdouble(2) ** -54
        assert radius64(high, low) == pytest.approx(float(np.sqrt(-2 * np.log(u))), rel=1e-15, abs=2.0**-26)
        assert radius32(high) == pytest.approx(np.sqrt(-2 * np.log((high + 0.5) / 2**32)), rel=2e-7, abs=3e-4)
        for found, bits, size, ulp in (
            (direction64(high, low), high << 32 | low, 64, 2.0**-52),
            (direction32(high), high, 32, 2.0**-23),
        ):
            angle = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * (np.longdouble(bits) / 2**size)
            np.testing.assert_allclose(found, [np.cos(angle), np.sin(angle)], rtol=0, atol=ulp)


def test_the_tail_reaches_as_far_as_the_radius_has_bits():
    assert radius64(0, 0) == pytest.approx(8.65, abs=0.01)
    assert radius32(0) == pytest.approx(6.76, abs=0.01)
    assert radius64(0xFFFFFFFF, 0xFFFFFFFF) == 0
    assert radius32(0xFFFFFFFF) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_normals_have_the_normal_law(dtype):
    z = draw(dtype, 1 << 19, seed=11).astype(np.float64)
    n = z.size
    for moment, expected, error in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**moment).mean() - expected) < 4.5 * np.sqrt(error / n), moment
    assert stats.kstest(z[:20000].ravel(), "norm").pvalue > 1e-3
    tail = np.abs(z) > 4
    assert abs(tail.sum() - 6.334e-5 * n) < 4.5 * np.sqrt(6.334e-5 * n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neighbours_are_independent(dtype):
    """Next step in the block, next block, next asset, next path, next seed: correlations of z and of z^2."""
    n = 1 << 18
    z = draw(dtype, n, seed=3)
    for other in (
        np.roll(z, 1, axis=1),
        draw(dtype, n, block=1, seed=3),
        draw(dtype, n, stream=1, seed=3),
        draw(dtype, n, first_path=1, seed=3),
        draw(dtype, n, seed=4),
    ):
        for power in (1, 2):
            a, b = (v.astype(np.float64).ravel() ** power for v in (z, other))
            # a rolled sample meets itself in both directions, so its correlation has twice the variance
            assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 * np.sqrt(2 / a.size)
