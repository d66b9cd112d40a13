"""Numbers in words."""

from __future__ import annotations

import pytest

from simsuite.words import LIKE_SHORT, about, closest, digits_apart, written_unit


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


@pytest.mark.parametrize(
    ("a", "b", "digits"), [(50.0, 25.0, 9), (50.0, 50.0 + 9e-12, 13), (1.0, 1.0 + 2**-52, 17), (3.0, 3.0, 9)]
)
def test_two_numbers_get_as_many_digits_as_tell_them_apart(a: float, b: float, digits: int) -> None:
    assert digits_apart(a, b, 9) == digits
    assert (f"{a:.{digits}g}" == f"{b:.{digits}g}") == (a == b)


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("xO", ["state", "x0"], "x0"),
        ("1x", ["nx", "lx"], "lx"),
        ("Iy", ["nx", "ly"], "ly"),
        ("a", ["matrix", "A"], "A"),
        ("td", ["steps", "dt"], "dt"),
        ("Step-Size", ["step_size", "steps"], "step_size"),
        ("lenght", ["width", "length"], "length"),
        ("q", ["nx", "ny"], None),
        ("", ["nx"], None),
    ],
)
def test_the_name_that_was_meant(name: str, known: list[str], meant: str | None) -> None:
    assert closest(name, known) == meant


def test_names_of_a_letter_are_not_meant_by_longer_words() -> None:
    assert closest("ab", ["A"]) == "A"
    assert closest("ab", ["A"], LIKE_SHORT) is None


@pytest.mark.parametrize(
    ("stored", "written"),
    [
        ("J m-1", "J/m"),
        ("m s-1", "m/s"),
        ("K", "K"),
        ("price year0.5", "currency·year^0.5"),
        ("K/s", "K/s"),
        ("K m2 s-1", "K·m²/s"),
        ("K m3", "K·m³"),
        ("J m-2 K-1", "J/(m²·K)"),
        ("price2", "currency²"),
        ("degC", "°C"),
        ("s-1", "s-1"),
        ("1", "1"),
        ("", ""),
    ],
)
def test_units_are_written_as_people_write_them(stored: str, written: str) -> None:
    assert written_unit(stored) == written
