"""Sobol points: direction numbers against SciPy's, scrambles against what a net is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from simsuite.sobol.directions import MOST_DIMENSIONS, directions
from simsuite.sobol.replicates import estimate
from simsuite.sobol.scrambling import scramble


def coordinates(index: np.ndarray, own: np.ndarray) -> np.ndarray:
    """uint32[index, dimension] of the directions own[dimension, bit]."""
    x = np.zeros((len(index), len(own)), np.uint32)
    for bit in range(own.shape[1]):
        x[(index >> bit & 1) == 1] ^= own[:, bit]
    return x


def gray(index: np.ndarray) -> np.ndarray:
    return index ^ index >> 1


def test_first_points() -> None:
    """Of the table that Joe and Kuo give to check programs by, where points are in the order of Gray's code."""
    first = coordinates(gray(np.arange(5)), directions(5)) / 2.0**32
    expected = [[0] * 5, [0.5] * 5, [0.75, 0.25, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.75, 0.25]]
    np.testing.assert_array_equal(first, [*expected, [0.375, 0.375, 0.625, 0.875, 0.375]])


def test_points_in_all_dimensions() -> None:
    expected = qmc.Sobol(MOST_DIMENSIONS, scramble=False, bits=32).random(64)
    np.testing.assert_array_equal(coordinates(gray(np.arange(64)), directions(MOST_DIMENSIONS)) / 2.0**32, expected)


def test_directions_of_all_bits() -> None:
    """Points far into the sequence use all 32 of them."""
    reference = qmc.Sobol(4000, scramble=False, bits=32)._sv  # in units of 2^-32
    np.testing.assert_array_equal(directions(4000), reference)
    np.testing.assert_array_equal(directions(40, 20), qmc.Sobol(40, scramble=False, bits=20)._sv)
    with pytest.raises(ValueError, match="21202"):
        directions(MOST_DIMENSIONS + 1)


def test_scrambled_points_are_as_even_as_unscrambled_ones() -> None:
    """2^m points of a (t, m, s)-net in base 2: 2^t in every box of volume 2^(t-m) with sides 2^-k. The first two
    dimensions have t = 0, a single one always; t of some others is what it is without scrambles."""
    m, plain = 10, directions(8)
    made = scramble(7, 3, 8)

    def boxes_are_even(x: np.ndarray, sides: tuple[int, ...], t: int) -> bool:
        box = np.zeros(len(x), np.int64)
        for column, k in zip(x.T, sides):
            box = box << k | (column >> np.uint32(32 - k) if k else 0)
        return bool((np.bincount(box, minlength=1 << sum(sides)) == 1 << t).all())

    for dimensions in ((0,), (5,), (0, 1), (2, 3), (0, 1, 2), (4, 5, 7)):
        for first in (0, 3 << m):
            index = np.arange(first, first + (1 << m))
            unscrambled = coordinates(index, plain[list(dimensions)])
            for t in range(m):
                shapes = [k for k in itertools.product(range(m + 1), repeat=len(dimensions)) if sum(k) == m - t]
                if all(boxes_are_even(unscrambled, k, t) for k in shapes):
                    break
            assert t == 0 or dimensions not in ((0,), (5,), (0, 1))
            for r in range(3):
                own = coordinates(index, made.directions[r][list(dimensions)]) ^ made.shift[r][list(dimensions)]
                assert all(boxes_are_even(own, k, t) for k in shapes)


def test_scrambles_are_functions_of_seed_replicate_and_dimension() -> None:
    made, fewer, other = scramble(1, 3, 50), scramble(1, 2, 20), scramble(2, 3, 50)
    for name in ("directions", "shift", "offset"):
        np.testing.assert_array_equal(getattr(made, name)[:2, :20], getattr(fewer, name))
        for a, b in ((made, other), (made, None)):
            left, right = getattr(a, name)[0, 1:], getattr(b, name)[0, 1:] if b else getattr(a, name)[1, 1:]
            assert (left == right).mean() < 0.02


def test_scrambles_are_random() -> None:
    """Every digit of a shift and every digit of a direction below its first, half of the time; offsets uniform."""
    made, plain = scramble(3, 40, 500), directions(500)
    n = made.shift.size
    for digit in range(32):
        assert abs((made.shift >> digit & 1).mean() - 0.5) < 4.5 * math.sqrt(0.25 / n)
    assert stats.kstest(made.offset.ravel(), "uniform").pvalue > 1e-3
    assert 0 < made.offset.min() < made.offset.max() < 1
    for bit in (0, 1, 9):
        top = np.frexp(plain[:, bit].astype(float))[1] - 1  # the first digit that is 1 stays one
        for below in (1, 2, 15):
            digit = made.directions[:, :, bit] >> np.maximum(top - below, 0).astype(np.uint32) & 1
            share = digit[:, top >= below]
            assert abs(share.mean() - 0.5) < 4.5 * math.sqrt(0.25 / share.size)
        assert (made.directions[:, :, bit] >> top.astype(np.uint32) == 1).all()


def test_points_are_uniform_over_scrambles() -> None:
    made = scramble(11, 4000, 2)
    for point in (0, 1, 0b1011):
        x = made.shift.copy()
        for bit in range(4):
            if point >> bit & 1:
                x ^= made.directions[:, :, bit]
        u = (x + made.offset) / 2.0**32
        assert stats.kstest(u[:, 0], "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(u.T)[0, 1]) < 4.5 / math.sqrt(len(u))


def test_error_from_replicates() -> None:
    means = [1.0, 2.0, 4.0, 3.5, 2.25]
    found = estimate(means, 0.9)
    assert found.mean == pytest.approx(np.mean(means))
    assert found.standard_error == pytest.approx(stats.sem(means))
    np.testing.assert_allclose(found.interval, stats.t.interval(0.9, 4, np.mean(means), stats.sem(means)))
    with pytest.raises(ValueError, match="two"):
        estimate([1.0])
