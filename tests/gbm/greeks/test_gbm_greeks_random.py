"""Every Greek of random contracts against differences of the program's own prices, dividends on every kind of date."""

from __future__ import annotations

import numpy as np
import pytest
from gbm_contracts import DIVIDENDS, differences, draw, draw_two
from sm90 import others_long

from simsuite.backends import open_backend

pytestmark = pytest.mark.usefixtures("one_thread")

FAR = 6.0  # deviations of Student's law with 11 degrees of freedom: beyond are 9 of 10^5


def wrong(tables) -> list[str]:
    found = list(differences(open_backend("cpu"), tables))
    assert len(found) > 2 * len(tables["option"])
    return [
        f"{greek} is {estimate:.5g}, by differences {quotient:.5g} ({excess:.1f}): {contract}"
        for contract, greek, estimate, quotient, excess in found
        if excess > FAR
    ]


@pytest.mark.parametrize("paid", others_long([(), (2, 6, 6)], {(2, 6, 6)}), ids=str)
def test_one_asset(paid: tuple[int, ...]) -> None:
    assert not wrong(draw(np.random.default_rng(5), paid))


def test_two_assets() -> None:
    assert not wrong(draw_two(np.random.default_rng(6), (3, 6)))


@pytest.mark.long
@pytest.mark.parametrize("paid", DIVIDENDS, ids=str)
def test_300_contracts(paid: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(paid))
    markets = [*(draw(rng, paid) for _ in range(2)), draw_two(rng, paid)]
    assert not [text for tables in markets for text in wrong(tables)]
