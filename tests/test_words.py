"""Numbers in words."""

from __future__ import annotations

import pytest

from simsuite.words import about


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1505, 13545, "some 1000 to 20000"),
        (400, 4000, "some 400 to 4000"),
        (4, 37, "some 4 to 40"),
        (1, 9, "some 1 to 9"),
        (99, 900.5, "some 90 to 1000"),
        (1.5e11, 4e11, "some 100000000000 to 400000000000"),
        (2999, None, "some 2000 or many more"),
    ],
)
def test_a_range_is_rather_too_wide_than_too_narrow(low: float, high: float | None, said: str) -> None:
    assert about(low, high) == said
