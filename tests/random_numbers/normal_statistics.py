"""What sums over many normals should be: their moments, their tails, and the products of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numba import njit
from scipy import stats

from simsuite.rng import fill_normals32, fill_normals64

POWERS = range(1, 9)
TAILS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5)
PAIRS = ("next step", "next step but one", "next path", "next asset")
NAMES = (
    *(f"z^{k}" for k in POWERS),
    *(f"|z| > {t:g}" for t in TAILS),
    "no finite number",
    *(f"{what} {pair}" for pair in PAIRS for what in ("product with", "squares with")),
)
WARP = 32  # paths among which the next one is looked for
_COUNTED = 4.0  # from here on the quantised tail is counted, which below is that of the normal law to 1e-7


def drawn(dtype: type, paths: int, assets: int, blocks: int, seed: int) -> np.ndarray:
    """[path, asset, step]: the normals of the first paths, as `rng.py` has them."""
    per_block = 4 if dtype == np.float32 else 2
    z = np.empty((paths, assets, blocks, per_block), dtype)
    (_fill32 if dtype == np.float32 else _fill64)(z, np.uint64(seed))
    return z.reshape(paths, assets, blocks * per_block)


@njit
def _fill64(z, seed):
    for i in range(z.shape[0]):
        for a in range(z.shape[1]):
            for block in range(z.shape[2]):
                fill_normals64(z[i, a], block, block, a, i, seed)


@njit
def _fill32(z, seed):
    for i in range(z.shape[0]):
        for a in range(z.shape[1]):
            for block in range(z.shape[2]):
                fill_normals32(z[i, a], block, block, a, i, seed)


def sums_of(normals: np.ndarray) -> np.ndarray:
    """[statistic], in the order of `NAMES`, of normals[path, asset, step]; paths: a multiple of a warp."""
    z = normals.astype(np.float64)
    power, found = np.ones_like(z), []
    for _ in POWERS:
        power *= z
        found.append(power.sum())
    size = np.abs(z)
    found += [np.count_nonzero(size > t) for t in TAILS]
    found.append(np.count_nonzero(~np.isfinite(z)))
    warps = z.reshape(-1, WARP, *z.shape[1:])
    for first, second in (
        (z[:, :, :-1], z[:, :, 1:]),
        (z[:, :, :-2], z[:, :, 2:]),
        (warps[:, :-1], warps[:, 1:]),
        (z[:, :-1], z[:, 1:]),
    ):
        found += [(first * second).sum(), ((first * first - 1) * (second * second - 1)).sum()]
    return np.array(found)


def z_scores(sums: np.ndarray, dtype: type, paths: int, assets: int, steps: int) -> dict[str, float]:
    """How many standard deviations each sum is away from what it should be; for a count, those of a normal number that
    is as unlikely."""
    n = paths * assets * steps
    pairs = (
        paths * assets * (steps - 1),
        paths * assets * (steps - 2),
        paths // WARP * (WARP - 1) * assets * steps,
        paths * (assets - 1) * steps,
    )
    return dict(zip(NAMES, _z_scores(iter(sums), dtype, n, pairs), strict=True))


def _z_scores(sums: Iterator[float], dtype: type, n: int, pairs: tuple[int, ...]) -> Iterator[float]:
    for k in POWERS:
        expected, variance = moment(k), moment(2 * k) - moment(k) ** 2
        yield (next(sums) - n * expected) / math.sqrt(n * variance)
    for t in TAILS:
        yield surprise(next(sums), n * beyond(t, dtype))
    yield math.inf if next(sums) else 0.0
    for count in pairs:
        yield next(sums) / math.sqrt(count)
        yield next(sums) / math.sqrt(4 * count)  # the variance of z^2 is 2


def moment(k: int) -> int:
    """E z^k of a standard normal z."""
    return 0 if k % 2 else math.prod(range(k - 1, 0, -2))


def surprise(count: float, expected: float) -> float:
    """Of a Poisson count."""
    low, high = stats.poisson.cdf(count, expected), stats.poisson.sf(count - 1, expected)
    z = float(stats.norm.isf(min(low, high)))
    return max(z, 0.0) if high < low else -max(z, 0.0)


def beyond(t: float, dtype: type) -> float:
    """P(|z| > t). In float32 the radius is r_k = sqrt(-2 log((k + 1/2) / 2^32)), each k as likely, and
    P(|r cos(angle)| > t) = 2/pi arccos(t / r): far out only a few k contribute."""
    if dtype == np.float64 or t < _COUNTED:
        return float(2 * stats.norm.sf(t))
    k = np.arange(math.ceil(2.0**32 * math.exp(-(t**2) / 2)))
    r = np.sqrt(-2 * np.log((k + 0.5) / 2.0**32))
    return float((2 / math.pi * np.arccos(t / np.maximum(r, t))).sum()) / 2.0**32
