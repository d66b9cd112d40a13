"""What linear systems are verified against is exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

from simsuite.backends import open_backend
from simsuite.solvers.matmul.sparse import filled
from simsuite.verify.linear import cases, exact_exponentials, hard_exponentials, products
from simsuite.verify.linear.runs import Case, run


def rational_taylor(A: Sequence[Sequence[float]], t: float) -> np.ndarray:
    """exp(A t) by 250 terms of its series, in fractions."""
    n, one = len(A), [[Fraction(a) * Fraction(t) for a in row] for row in A]
    term = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    total = term
    for k in range(1, 250):
        term = [[a / k for a in row] for row in exact_exponentials.multiply(term, one)]
        total = [[a + b for a, b in zip(*rows)] for rows in zip(total, term)]
    return np.array([[float(a) for a in row] for row in total])


@pytest.mark.parametrize("hard", hard_exponentials.HARD, ids=lambda hard: hard.name)
def test_exact_exponentials(hard: hard_exponentials.Hard) -> None:
    """The eigenvalues are those of the matrix, by Cayley and Hamilton; and, where it converges, the series agrees."""
    n = len(hard.rows)
    product = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    for value in hard.spectrum:
        shifted = [[Fraction(a) - value * (i == j) for j, a in enumerate(row)] for i, row in enumerate(hard.rows)]
        product = exact_exponentials.multiply(product, shifted)
    assert not any(a for row in product for a in row)
    if np.max(np.abs(hard.rows)) * hard.dt < 50:
        assert np.array_equal(hard.propagator(1), rational_taylor(hard.rows, hard.dt))


def test_published_exponentials() -> None:
    """As they stand in print: Moler and Van Loan, 1978, section 3; Ward, 1977, tests 1 and 3."""
    exact = {hard.name: hard.propagator(1) for hard in hard_exponentials.HARD}
    moler = [[-0.735759, 0.551819], [-1.471518, 1.103638]]
    np.testing.assert_allclose(exact["Moler, Van Loan, -1 and -17"], moler, atol=5e-7)
    ward = [
        [147.866622446369, 127.781085523181, 127.781085523182],
        [183.765138646367, 183.765138646366, 163.679601723179],
        [71.797032399996, 91.8825693231832, 111.968106246371],
    ]
    np.testing.assert_allclose(exact["Ward, 1, defective"], np.transpose(ward), rtol=2e-14)
    ward = [
        [-1.50964415879218, 0.367879439109187, 0.135335281175235],
        [-5.6325707998812, 1.47151775849686, 0.406005843524598],
        [-4.934938326092, 1.10363831732856, 0.541341126763207],
    ]
    np.testing.assert_allclose(exact["Ward, 3"], ward, rtol=1e-11)


@pytest.mark.parametrize(
    "case",
    [case for case in cases.cases(quick=True) if case.kind in ("closed form", "input", "Jordan block")],
    ids=lambda case: case.name,
)
def test_closed_forms_are_those_of_the_documented_systems(case: Case) -> None:
    """Against powers and SciPy's exponential of the matrices that scenarios of these cases have."""
    problem = run(case.scenario(precision="float64"), open_backend("cpu")).problem
    A, dt = filled(problem.system.stated.A), case.dt
    for k in (1, 3):
        wanted = np.linalg.matrix_power(A, k) if dt is None else scipy.linalg.expm(A * k * dt)
        np.testing.assert_allclose(
            case.propagator(k), wanted, rtol=0, atol=1e-12 * max(1.0, float(np.abs(wanted).max()))
        )


def test_products_of_halves_are_exact() -> None:
    a, x = np.random.default_rng(1).standard_normal((2, 30))
    exact = sum((Fraction(p) * Fraction(q) for p, q in zip(a, x)), Fraction(0))
    terms = products._exact_products(a, x)
    assert sum(map(Fraction, terms), Fraction(0)) == exact
    assert math.fsum(terms) == float(exact)
