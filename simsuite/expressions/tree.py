"""What a checked expression is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


class ExpressionError(Exception):
    """Why a text is no expression. column: 0-based offset into the text. help: what to do about it, if known."""

    def __init__(self, message: str, column: int = 0, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.help = help


class NumberWithUnit(ExpressionError):
    """The error for a number with a unit behind it. Which unit a number without one has depends on where the expression
    stands."""

    def __init__(self, number: str, unit: str, column: int) -> None:
        message = f"`{number}` has a unit, `{unit}`, which has no place within an expression"
        super().__init__(message, column, "write the plain number")


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Name:
    """One of the variables."""

    name: str


@dataclass(frozen=True)
class Apply:
    """An operation: an operator as Python writes it (`neg` for the sign) or one of `FUNCTIONS`, on its arguments.

    Truth is a number: comparisons, `and`, `or` and `not` give 1 or 0, and whatever is not 0 (NaN too) is true.
    """

    op: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class IntegerPower:
    """`base` to a small integer power, by multiplication: exact where that is, and fast."""

    base: Node
    exponent: int


@dataclass(frozen=True)
class Marked:
    """1 in the cells of a grid that a table marks and 0 in the others, as a function of x and y: see `marked`.

    digest: of the table and the grid, by which equal ones are known. cells: (ny, nx), bool. counts: (ny + 1, nx + 1),
    how many cells are marked below and left of each corner. dx, dy: the size of a cell."""

    digest: str
    cells: Any = field(compare=False, repr=False)  # NumPy arrays, which this module does not import
    counts: Any = field(compare=False, repr=False)
    dx: float
    dy: float


Node: TypeAlias = Number | Name | Apply | IntegerPower | Marked

MARK = "marked"  # what functions that are written from an expression call their argument for the value of a `Marked`

LARGEST_INTEGER_POWER = 8
BRANCH_DEPTH = 3  # levels of depth that a branch counts as: generated Python nests an `if` for each and allows 100
MOST_PARTS = 20_000  # the most nodes of an expression that is made of others
MAX_DEPTH = 200  # the greatest depth of a text that is parsed: a sum of n terms is n deep
# the greatest depth of an expression made of others: evaluation needs a few of Python's 1000 frames for each level
DEEPEST = 250
CONSTANTS = {"pi": math.pi, "e": math.e}
MANY = 10_000  # more arguments than an expression can hold
FUNCTIONS: dict[str, tuple[int, int]] = {  # the least and the largest number of arguments of each function
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), (1, 1)),
    **dict.fromkeys(("exp", "log", "log10", "sqrt", "abs", "sign", "floor", "ceil", "erf", "erfc", "step"), (1, 1)),
    **dict.fromkeys(("atan2", "hypot"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, MANY)),
    "where": (3, 3),
}


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Apply):
        return node.args
    return (node.base,) if isinstance(node, IntegerPower) else ()


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from walk(child)


def names_in(node: Node) -> frozenset[str]:
    """The variables of a tree."""
    found: set[str] = set()
    for part in walk(node):
        if isinstance(part, Name):
            found.add(part.name)
        elif isinstance(part, Marked):
            found |= {"x", "y"}
    return frozenset(found)


def power_steps(exponent: int) -> list[bool]:
    """How to raise to a positive power: from the base on, square, and multiply by the base where True."""
    return [bit == "1" for bit in bin(exponent)[3:]]


def substitute(node: Node, trees: Mapping[str, Node]) -> Node:
    """The tree with other trees in place of the variables with these names."""
    return replaced(node, lambda part: trees.get(part.name) if isinstance(part, Name) else None)


def replaced(node: Node, instead: Callable[[Node], Node | None]) -> Node:
    """The tree with what `instead` returns in place of each of its parts, outermost first, for which that is not
    None."""
    other = instead(node)
    if other is not None:
        return other
    if isinstance(node, IntegerPower):
        return IntegerPower(replaced(node.base, instead), node.exponent)
    if isinstance(node, Apply):
        return Apply(node.op, tuple(replaced(argument, instead) for argument in node.args))
    return node


def check_size(tree: Node) -> None:
    """Raises `ExpressionError` if a tree is too large to be compiled in reasonable time or too deep to be walked."""
    parts = 0
    level = [(tree, 1)]
    while level:
        node, depth = level.pop()
        parts += 1
        if parts > MOST_PARTS:
            raise ExpressionError(f"the expression has more than {MOST_PARTS} parts")
        if depth > DEEPEST:
            raise ExpressionError("the expression is nested too deeply")
        branch = isinstance(node, Apply) and node.op in ("where", "and", "or")
        level += [(child, depth + (BRANCH_DEPTH if branch else 1)) for child in children(node)]
