"""The quick tests and the others: each test is in one of both, and the list of costly ones is of tests that exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from quick import CASES, costly, functions, quick, read_costly, some

HERE = Path(__file__).parents[1]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 100])
def test_some_cases_are_the_first_the_last_and_some_between(count: int) -> None:
    found = some(range(count))
    assert len(found) == len(set(found)) == min(count, CASES)
    assert found[:1] == [0][:count]
    assert found[-1:] == [count - 1][:count]


def test_each_function_has_its_own_cases() -> None:
    few, many, long = ("a", "few", False), ("a", "many", False), ("b", "many", False)
    kept = quick([few, *5 * [many], few, *2 * [long]], [long])
    assert kept == [True, True, False, True, False, True, True, False, False]


def test_functions_are_costly_by_what_their_quick_cases_take() -> None:
    measured = {("a", "many", False): [0.1] * 1000, ("a", "one", False): [3.0], ("b", "ends", True): [0.8, 0.0, 0.8]}
    assert costly(measured) == [("a", "one", False), ("b", "ends", True)]


def test_costly_functions_are_there() -> None:
    """A function that is called otherwise now, or in another file, would be quick unnoticed."""
    assert {name[:2] for name in read_costly()} <= functions()


def test_all_tests_are_quick_or_among_the_rest() -> None:
    """In a file with costly functions and others, some with more cases than are quick."""
    file = "heat/steppers/test_heat_adi.py"

    def collected(*options: str) -> list[str]:
        words = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *options, file]
        done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if "::" in line]

    parts = collected("--part", "quick"), collected("--part", "rest")
    assert all(parts)
    assert sorted([*parts[0], *parts[1]]) == sorted(collected())
