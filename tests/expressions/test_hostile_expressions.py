"""Texts that are meant to hang, crash or escape: each is refused at once, alone and in a scenario file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from running import no_hang

from simsuite.errors import ScenarioError
from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario import load

VARIABLES = ("x", "y", "t", "T")
MEGABYTE = 10**6
FILE_LIMIT = 1 << 20

ESCAPES = [
    "__import__('os').system('true')",
    "__import__",
    "__builtins__",
    "x.__class__.__mro__",
    "(1).__class__",
    "1 .real",
    "sin.__globals__",
    "x[0]",
    "x[::]",
    "(x, y)",
    "lambda: x",
    "(lambda f: f(f))(lambda f: f(f))",
    'f"{x}"',
    'f"{x!r:>{10**9}}"',
    "b'x'",
    "(x := 9**9)",
    "[x for x in (1,)*10**9]",
    "sum(1 for a in x for b in x for c in x)",
    "{x: y for x in y}",
    "{*x}",
    "max(*[1]*10**9, 1)",
    "max(**x)",
    "eval(x)",
    "exec(x)",
    "open(x)",
    "globals()",
    "getattr(x, y)",
    "import os",
    "x; import os",
    "x\nimport os\n",
    "yield x",
    "await x",
    "assert x",
    "del x",
    "x if y",
    "x = y = t",
    "x @ y",
    "x << 10**9",
    "1 << 99999999999",
    "~x",
    "x is y",
    "x in y",
    "...",
    "True",
    "1j",
    "0x" + "f" * 1000,
]
HUGE = {
    "integer of a million digits": "9" * MEGABYTE,
    "integer of the longest text": "9" * 2000,
    "integer above the largest float": "1" + "0" * 400,
    "float above the largest float": "1e999999999",
    "exponent of a million digits": "1e" + "9" * MEGABYTE,
    "hexadecimal": "0x" + "f" * MEGABYTE,
    "megabyte of blanks": " " * MEGABYTE,
    "megabyte of a name": "x" * MEGABYTE,
    "megabyte of a sum": "x+" * (MEGABYTE // 2) + "x",
    "long sum": "1+" * 999 + "1",
    "long product": "x*" * 999 + "x",
    "long tower": "2**" * 600 + "2",
    "long comparison": "x<" * 999 + "x",
    "long disjunction": "x or " * 399 + "x",
    "comparison of the longest text": "1<" * 990 + "x",
    "many arguments": "max(" + "1," * 999 + "1)",
    "deep parentheses": "(" * 999 + "x" + ")" * 999,
    "unclosed parentheses": "(" * 2000,
    "deep brackets": "[" * 999 + "]" * 999,
    "deep braces": "{" * 999 + "}" * 999,
    "deep calls": "abs(" * 400 + "x" + ")" * 400,
    "deep signs": "-" * 1999 + "x",
    "deep pluses": "+" * 1999 + "x",
    "mixed signs": "+-" * 999 + "x",
    "deep complements": "~" * 1999 + "x",
    "deep not": "not " * 490 + "x",
    "deep conditions": "1 if x else " * 160 + "2",
    "deep lambdas": "lambda:" * 280 + "x",
    "deep f-strings": "f'{" * 300 + "x" + "}'" * 300,
}
ODD_CHARACTERS = {
    "nul": "x\0",
    "nul first": "\0",
    "full-width letter": "ｘ",
    "full-width digit": "１",
    "Arabic digit": "٣",
    "mathematical letter": "𝑥",
    "ligature": "ﬂoor(x)",
    "long s": "ſin(x)",
    "Greek": "2*π",
    "zero-width joiner": "x\u200dx",
    "right-to-left override": "x\u202ey",
    "no-break space": "x\u00a0+ y",
    "line separator": "x\u2028y",
    "combining accent": "x\u0301",
    "byte order mark": "\ufeffx",
    "half a surrogate": "\ud800",
    "line continuation": "x + \\\n y",
    "comment": "x # y",
    "escape": "\x1b[2J",
    "form feed and more": "x\x0c\x08y",
}
REFUSED = {**{text[:40]: text for text in ESCAPES}, **HUGE, **ODD_CHARACTERS}
ONLY_LARGE = ["9**9**9**9", "10**10**10", "9**9**9", "2.0**1e300", "(9**8)**8**8**8", "exp(exp(exp(99)))"]


def test_the_lists_are_as_long_as_they_look() -> None:
    assert len(REFUSED) == len(ESCAPES) + len(HUGE) + len(ODD_CHARACTERS) > 90


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_at_once(name: str) -> None:
    text = REFUSED[name]
    with no_hang(), pytest.raises(ExpressionError) as caught:
        Expression.parse(text, VARIABLES)
    assert 0 <= caught.value.column <= len(text)
    assert 0 < len(caught.value.message) < 2200


@pytest.mark.parametrize("text", ONLY_LARGE)
def test_powers_are_of_floats_and_overflow(text: str) -> None:
    with no_hang():
        expression = Expression.parse(text, VARIABLES)
        assert expression() == math.inf
        assert expression.simulated_function(VARIABLES)(0.0, 0.0, 0.0, 0.0) == math.inf


SCENARIO = """\
solver = "heat"
[grid]
nx = 8
ny = 8
[material]
diffusivity = {diffusivity}
[initial]
temperature = {initial}
[boundary]
left = {{kind = "temperature", value = {value}}}
[[source]]
power = {power}
[time]
end = 0.1
"""
PLACES = ["diffusivity", "initial", "value", "power"]


def toml(text: str) -> str:
    """A TOML string in double quotes."""
    escaped = "".join(f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c for c in text)
    return f'"{escaped}"'


@pytest.fixture
def mistakes(tmp_path: Path) -> Callable[..., ScenarioError]:
    """The error for a scenario with some expressions."""

    def refused(**texts: str) -> ScenarioError:
        path = tmp_path / "plate.toml"
        values = dict.fromkeys(PLACES, "1.0") | {place: toml(text) for place, text in texts.items()}
        path.write_text(SCENARIO.format(**values), encoding="utf-8")
        with no_hang(), pytest.raises(ScenarioError) as caught:
            load(path)
        return caught.value

    load(_plain(tmp_path))  # so that imports are not counted, and as proof that nothing else is wrong
    return refused


def _plain(directory: Path) -> Path:
    path = directory / "plain.toml"
    path.write_text(SCENARIO.format(**dict.fromkeys(PLACES, "1.0")), encoding="utf-8")
    return path


IN_A_FILE = [name for name, text in REFUSED.items() if len(text) <= 2000 and name != "half a surrogate"]  # no UTF-8


@pytest.mark.parametrize("name", IN_A_FILE)
def test_is_refused_wherever_it_stands_in_a_file(name: str, mistakes: Callable[..., ScenarioError]) -> None:
    error = mistakes(**dict.fromkeys(PLACES, REFUSED[name]))
    paths = [("material", "diffusivity"), ("initial", "temperature"), ("boundary", "left", "value")]
    assert [m.path for m in error.mistakes] == [*paths, ("source", 0, "power")]
    assert all(c == "\n" or c.isprintable() for c in error.report)
    assert len(error.report) < 50_000


MEGABYTES = ["x+", "(", "-", "9", " ", "é", "9**", "__import__('os')."]


@pytest.mark.parametrize(("place", "unit"), [*zip(PLACES * 2, MEGABYTES), *((place, "x+") for place in PLACES[1:])])
def test_a_file_of_a_megabyte_is_refused(place: str, unit: str, mistakes: Callable[..., ScenarioError]) -> None:
    size = len(unit.encode())
    error = mistakes(**{place: unit * ((FILE_LIMIT - 1000) // size)})
    assert [m.message for m in error.mistakes] == ["the expression is longer than 2000 characters"]
    assert len(error.report) < 2000
    beyond = mistakes(**{place: unit * (FILE_LIMIT // size + 1)})
    assert "is larger than 1 MiB" in beyond.report


@pytest.mark.parametrize("text", ONLY_LARGE)
def test_constants_that_overflow_are_refused(text: str, mistakes: Callable[..., ScenarioError]) -> None:
    error = mistakes(**dict.fromkeys(PLACES, text))
    assert len(error.mistakes) == len(PLACES)
    assert all("must be a finite number" in mistake.message for mistake in error.mistakes)


@pytest.mark.parametrize(
    "text",
    ["9" * 100_000, "0x" + "f" * 100_000, "1e" + "9" * 100_000, "1" + "0" * 399, "1e400", "inf", "nan", "-1e999"],
)
def test_hostile_numbers_without_quotes_are_refused(text: str, tmp_path: Path) -> None:
    path = _plain(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("power = 1.0", f"power = {text}"), encoding="utf-8")
    with no_hang(), pytest.raises(ScenarioError) as caught:
        load(path)
    assert len(caught.value.mistakes) == 1
