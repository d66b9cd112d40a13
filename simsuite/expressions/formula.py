"""The text of a tree: what a user could have written for it, with no more parentheses than that needs."""

from __future__ import annotations

from simsuite.expressions.tree import CONSTANTS, FUNCTIONS, MARK, IntegerPower, Marked, Name, Node, Number, names_in

_LEVELS = (("or",), ("and",), ("not",), ("<", "<=", ">", ">=", "==", "!="), ("+", "-"), ("*", "/", "//", "%"), ("neg",))
_LEVEL = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_COMPARISON, _SIGN = _LEVEL["<"], _LEVEL["neg"]
_POWER = _SIGN + 1
_ATOM = _POWER + 1


def formula(tree: Node) -> str:
    """A text that parses to a tree of the same value everywhere; numbers keep every digit. A `Marked` has no such text:
    what stands for it tells it from others."""
    words = {value: word for word, value in CONSTANTS.items() if word not in names_in(tree)}
    return _written(tree, words)[0]


def _written(node: Node, words: dict[float, str]) -> tuple[str, int]:
    """The text of a node, and the precedence level of its outermost operation. words: names of constants by their
    values."""

    def part(child: Node, least: int) -> str:
        text, level = _written(child, words)
        return text if level >= least else f"({text})"

    if isinstance(node, Number):
        text = words.get(node.value) or repr(node.value).removesuffix(".0")
        return text, _SIGN if text.startswith("-") else _ATOM
    if isinstance(node, Name):
        return node.name, _ATOM
    if isinstance(node, Marked):
        return f"{MARK}[{node.digest}]", _ATOM
    if isinstance(node, IntegerPower):
        return f"{part(node.base, _ATOM)}**{node.exponent}", _POWER
    if node.op in FUNCTIONS:
        return f"{node.op}({', '.join(part(argument, 0) for argument in node.args)})", _ATOM
    if node.op == "**":
        return f"{part(node.args[0], _ATOM)}**{part(node.args[1], _SIGN)}", _POWER
    level = _LEVEL[node.op]
    if node.op in ("neg", "not"):
        return f"{'-' if node.op == 'neg' else 'not '}{part(node.args[0], level)}", level
    left = part(node.args[0], level + (level == _COMPARISON))  # `a < b < c` would mean something else
    return f"{left} {node.op} {part(node.args[1], level + 1)}", level
