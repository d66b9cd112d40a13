"""Which values the members of a sweep have: all combinations, pairs, or samples."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from simsuite.errors import Advice, UsageError
from simsuite.words import counted

MOST_VALUES = 1_000_000  # of a key, and the most members that Python may ask for
_CALL = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*")
_SPACED = ("linspace", "geomspace")
_LAWS = ("uniform", "loguniform", "normal")
_HOW_MANY = Advice("add --random N, the number of samples", "give random=.., the number of samples")
_FORMS = "5,10,20, linspace(1,5,9), geomspace(1,100,3); at random uniform(1,5), loguniform(1,100), normal(5,0.5)"


@dataclass(frozen=True)
class Law:
    """A distribution to draw from: uniform between a and b, loguniform, whose logarithm is uniform, or normal with mean
    a and standard deviation b."""

    name: str
    a: float
    b: float

    def at(self, u: np.ndarray) -> np.ndarray:
        """The values that a variable of this law is below with probabilities u."""
        if self.name == "uniform":
            return self.a + (self.b - self.a) * u
        if self.name == "loguniform":
            return np.asarray(self.a * (self.b / self.a) ** u)
        from scipy.special import ndtri

        return np.asarray(self.a + self.b * ndtri(u))


@dataclass(frozen=True)
class Axis:
    """A key of the scenario, dotted, with its values in order, or the law that they are drawn from."""

    key: str
    values: tuple[object, ...] | Law


@dataclass(frozen=True)
class Plan:
    """The members of a sweep. keys: what varies. members: the values of these keys in each. shape: lengths of the axes
    of a product; one length where members are in a row."""

    keys: tuple[str, ...]
    members: tuple[tuple[object, ...], ...]
    shape: tuple[int, ...]

    @property
    def is_product(self) -> bool:
        """Whether the members are all combinations of the values of the keys, the last key changing fastest."""
        return len(self.shape) == len(self.keys)

    def settings(self, member: int) -> dict[str, object]:
        """The keys and values of a member."""
        return dict(zip(self.keys, self.members[member]))

    def words(self, member: int) -> str:
        """A member as people write it."""
        return " ".join(f"{key}={value_in_words(value)}" for key, value in self.settings(member).items())


def value_in_words(value: object) -> str:
    """A value as it stands in tables: numbers with six digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parse_axis(text: str) -> Axis:
    """The axis that a text such as ``boundary.right.h=5,10,20`` says. Raises UsageError."""
    key, sign, values = text.partition("=")
    if not sign or not key.strip() or not values.strip():
        raise UsageError(f"what varies is a key with its values, not `{text}`\n  = help: values are {_FORMS}")
    return Axis(key.strip(), _values(values, text))


def _values(values: str, text: str) -> tuple[object, ...] | Law:
    call = _CALL.fullmatch(values)
    if call and call[1] in (*_SPACED, *_LAWS):
        numbers = _numbers(call[2], text)
        return _spaced(call[1], numbers, text) if call[1] in _SPACED else _law(call[1], numbers, text)
    try:
        found: list[object] = tomllib.loads(f"v = [{values}]")["v"]
        if values.strip().startswith("[") and len(found) == 1 and isinstance(found[0], list):
            found = found[0]
    except tomllib.TOMLDecodeError:
        found = [_value(part.strip()) for part in values.split(",")]
    if not found or "" in found:
        raise UsageError(f"there is a value missing in `{text}`")
    return tuple(found)


def _value(text: str) -> object:
    try:
        value: object = tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text
    return value


def _numbers(text: str, whole: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"`{text}` are no numbers, in `{whole}`\n  = help: for example {_FORMS}") from None


def _spaced(name: str, numbers: list[float], text: str) -> tuple[object, ...]:
    if len(numbers) != 3 or not (numbers[2].is_integer() and 1 <= numbers[2] <= MOST_VALUES):
        raise UsageError(f"{name} takes the first value, the last and how many, in `{text}`")
    first, last, count = numbers[0], numbers[1], int(numbers[2])
    if not (math.isfinite(first) and math.isfinite(last)):
        raise UsageError(f"{name} takes finite numbers, in `{text}`")
    if name == "linspace":
        return tuple(np.linspace(first, last, count).tolist())
    if not first * last > 0:
        raise UsageError(f"geomspace takes two numbers of the same sign and not 0, in `{text}`")
    return tuple(np.geomspace(first, last, count).tolist())


def _law(name: str, numbers: list[float], text: str) -> Law:
    if len(numbers) != 2:
        takes = "a mean and a standard deviation" if name == "normal" else "the least and the largest value"
        raise UsageError(f"{name} takes {takes}, in `{text}`")
    a, b = numbers
    if name == "normal" and not b > 0:
        raise UsageError(f"the standard deviation must be above 0, in `{text}`")
    if name != "normal" and not a < b:
        raise UsageError(f"{name} goes from a number to a larger one, in `{text}`")
    if name == "loguniform" and not a > 0:
        raise UsageError(f"loguniform goes from a number above 0, in `{text}`")
    return Law(name, a, b)


def members_of(text: str) -> tuple[int, int]:
    """The numbers of the first and the last member that a text such as "8-15", or "8", says. Raises UsageError."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", text)
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise UsageError(f"members are a number or two, the first and the last, as in 8-15, not `{text}`")
    return int(found[1]), int(found[2] or found[1])


def make_plan(axes: Sequence[Axis], paired: bool, count: int | None, latin: bool, seed: int, most: int) -> Plan:
    """The members of a sweep over these axes: all combinations of their values; or, if `paired`, the first values, the
    second ones and so on; or `count` samples, by a Latin hypercube if `latin`. most: the most members that are
    allowed. Raises UsageError."""
    if not axes:
        raise UsageError(
            "nothing varies: ", Advice(f"give --vary KEY=VALUES\n  = help: values are {_FORMS}", "vary is empty")
        )
    keys = [axis.key for axis in axes]
    for i, key in enumerate(keys):
        if key in keys[:i]:
            raise UsageError(f"`{key}` is varied twice")
    size = count if count is not None else _size(axes, paired)
    if size > most:
        allowed = Advice(f"--max-runs {size} allows so many", f"at most {most} are allowed")
        raise UsageError(f"the sweep has {counted(size, 'member')}: ", allowed)
    if count is not None:
        return _samples(axes, count, latin, seed)
    if latin:
        raise UsageError("a Latin hypercube is a way to draw samples: ", _HOW_MANY)
    values = [axis.values for axis in axes]
    drawn = next((axis for axis in axes if isinstance(axis.values, Law)), None)
    if drawn is not None:
        raise UsageError(f"`{drawn.key}` is drawn at random: ", _HOW_MANY)
    lists = [v for v in values if not isinstance(v, Law)]
    if paired:
        return Plan(tuple(keys), tuple(zip(*lists)), (len(lists[0]),))
    return Plan(tuple(keys), tuple(product(*lists)), tuple(map(len, lists)))


def _size(axes: Sequence[Axis], paired: bool) -> int:
    lengths = [1 if isinstance(axis.values, Law) else len(axis.values) for axis in axes]
    if paired and len(set(lengths)) > 1:
        listed = ", ".join(f"`{axis.key}` {n}" for axis, n in zip(axes, lengths))
        raise UsageError(f"values in pairs need as many of each key: {listed}")
    return lengths[0] if paired else math.prod(lengths)


def _samples(axes: Sequence[Axis], count: int, latin: bool, seed: int) -> Plan:
    from scipy.stats import qmc

    if latin:
        u = qmc.LatinHypercube(len(axes), seed=seed).random(count)
    else:
        u = np.random.default_rng(seed).random((count, len(axes)))
    columns: list[list[object]] = []
    for axis, column in zip(axes, u.T):
        if isinstance(axis.values, Law):
            columns.append(axis.values.at(column).tolist())
        else:
            columns.append([axis.values[min(int(p * len(axis.values)), len(axis.values) - 1)] for p in column])
    return Plan(tuple(axis.key for axis in axes), tuple(zip(*columns)), (count,))
