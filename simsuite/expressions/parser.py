"""From a user's text to a checked tree: everything that is not plainly arithmetic is refused, with its column."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Mapping
from itertools import pairwise

from simsuite.expressions.faults import (
    FOREIGN,
    character_fault,
    decimal_comma,
    names_known,
    number_with_unit,
    syntax_fault,
)
from simsuite.expressions.foreign import ANSWERS, SQUARE_WAVE, TRANSLATIONS
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import (
    BRANCH_DEPTH,
    CONSTANTS,
    FUNCTIONS,
    LARGEST_INTEGER_POWER,
    MANY,
    MAX_DEPTH,
    Apply,
    ExpressionError,
    IntegerPower,
    Name,
    Node,
    Number,
    names_in,
    substitute,
)
from simsuite.words import closest

MAX_LENGTH = 2000
MAX_NODES = 1000

_INTEGER_POWERS = {n for n in range(-LARGEST_INTEGER_POWER, LARGEST_INTEGER_POWER + 1) if n != 0}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_DIVISIONS = ("/", "//", "%")
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.Not: "not"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
# functions of one argument that others have with two, and how to write these
_OF_TWO = {"log": "log(a)/log(b)", "step": "step(a - b)"}
_FOREIGN_OPERATORS = {ast.BitXor: "^", ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>"}
_MOST_SHOWN = 80  # the most characters of a formula that a help shows


def parse(text: str, variables: tuple[str, ...]) -> Node:
    """The tree of `text`. Raises `ExpressionError`."""
    return parse_with_constants(text, variables, {})[0]


def parse_with_constants(text: str, variables: tuple[str, ...], constants: Mapping[str, float]) -> tuple[Node, str]:
    """The tree of `text`, and the text with numbers in place of the names of constants. A variable hides a constant of
    the same name. Raises `ExpressionError`."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters")
    if not text.strip():
        raise ExpressionError("the expression is empty")
    if fault := character_fault(text, variables):
        raise decimal_comma(text) or number_with_unit(text, variables) or fault
    # Line ends become blanks, so that a long expression may span lines; leading blanks would be an indentation error.
    flat = re.sub(r"\s", " ", text)
    offset = len(flat) - len(flat.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(flat.lstrip(), mode="eval").body
    except SyntaxError as error:
        raise syntax_fault(flat, (error.offset or 1) - 1 + offset, variables) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExpressionError("the expression is nested too deeply") from None
    checker = _Checker(flat, offset, variables, constants)
    tree = checker.node(body, 1)
    written = checker.with_numbers(text)
    if len(written) > MAX_LENGTH:
        raise ExpressionError(f"with numbers in place of constants, it is longer than {MAX_LENGTH} characters")
    return tree, written


class _Checker:
    """Walks Python's syntax tree and keeps only what it knows."""

    def __init__(
        self, text: str, offset: int, variables: tuple[str, ...], constants: Mapping[str, float] | None = None
    ) -> None:
        self._text = text
        self._offset = offset
        self._variables = variables
        self._constants = constants or {}
        self._found: list[tuple[int, str]] = []
        self._nodes = 0

    def with_numbers(self, text: str) -> str:
        """The text, whose tree has been made, with numbers in place of the names of constants."""
        for column, name in sorted(self._found, reverse=True):
            written = repr(self._constants[name])
            alone = text.strip() == name
            text = (
                text[:column] + (written if alone or written[0] != "-" else f"({written})") + text[column + len(name) :]
            )
        return text

    def _error(self, place: ast.expr, message: str, help: str | None = None) -> ExpressionError:
        return ExpressionError(message, place.col_offset + self._offset, help)

    def node(self, tree: ast.expr, depth: int) -> Node:
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise self._error(tree, "the expression is nested too deeply")
        if self._nodes > MAX_NODES:
            raise self._error(tree, f"the expression has more than {MAX_NODES} parts")
        match tree:
            case ast.Constant():
                return self._number(tree)
            case ast.Name():
                return self._name(tree)
            case ast.BinOp():
                return self._binary(tree, depth)
            case ast.UnaryOp():
                return self._unary(tree, depth)
            case ast.Compare():
                return self._comparison(tree, depth)
            case ast.BoolOp():
                op = "and" if isinstance(tree.op, ast.And) else "or"
                depth += (
                    BRANCH_DEPTH + len(tree.values) - 2
                )  # a chain nests to the left, which is as deep as it is long
                first, *others = (self.node(value, depth) for value in tree.values)
                for other in others:
                    first = Apply(op, (first, other))
                return first
            case ast.IfExp():
                parts = (tree.test, tree.body, tree.orelse)
                return Apply("where", tuple(self.node(part, depth + BRANCH_DEPTH) for part in parts))
            case ast.Call():
                return self._call(tree, depth)
            case ast.Attribute():
                raise self._attribute(tree)
        if isinstance(tree, ast.Tuple) and (fault := decimal_comma(self._text)):
            raise fault
        help = "only numbers, names, operators and function calls are"
        raise self._error(tree, f"{_KINDS.get(type(tree), 'this')} is not allowed", help)

    def _attribute(self, tree: ast.Attribute) -> ExpressionError:
        """The error for a name with a dot, as in `np.sin`: functions are written here without their modules."""
        known = tree.attr in FUNCTIONS or tree.attr in CONSTANTS or tree.attr in TRANSLATIONS
        help = f"write `{tree.attr}` alone" if known else "only arithmetic and named functions are"
        return self._error(tree, "attributes (`.`) are not allowed", help)

    def _number(self, tree: ast.Constant) -> Number:
        if isinstance(tree.value, bool) or not isinstance(tree.value, (int, float)):
            shown = self._text[tree.col_offset + self._offset :][: (tree.end_col_offset or 0) - tree.col_offset]
            raise self._error(tree, f"`{shown}` is no real number")
        try:
            value = float(tree.value)
        except OverflowError:
            value = math.inf
        if math.isinf(value):
            raise self._error(tree, "this number is too large")
        return Number(value)

    def _name(self, tree: ast.Name) -> Node:
        if tree.id in self._variables:
            return Name(tree.id)
        if tree.id in CONSTANTS:
            return Number(CONSTANTS[tree.id])
        if tree.id in self._constants:
            self._found.append((tree.col_offset + self._offset, tree.id))
            value = self._constants[tree.id]
            return Number(value) if math.copysign(1.0, value) > 0 else Apply("neg", (Number(-value),))
        if tree.id in FUNCTIONS:
            raise self._error(tree, f"`{tree.id}` is a function", f"call it: `{tree.id}(...)`")
        known = [*self._variables, *CONSTANTS, *self._constants]
        close = closest(tree.id, known)
        help = f"did you mean `{close}`?" if close else names_known((*self._variables, *self._constants))
        raise self._error(tree, f"unknown name `{tree.id}`", help)

    def _binary(self, tree: ast.BinOp, depth: int) -> Node:
        if type(tree.op) not in _BINARY:
            sign = _FOREIGN_OPERATORS.get(type(tree.op), "@")
            column = self._text.index(sign, (tree.left.end_col_offset or 0) + self._offset)
            raise ExpressionError(f"`{sign}` is no operator here", column, FOREIGN.get(sign))
        op = _BINARY[type(tree.op)]
        left, right = self.node(tree.left, depth + 1), self.node(tree.right, depth + 1)
        if op in _DIVISIONS and _literal(right) == 0.0:
            raise self._error(tree.right, f"`{op}` by 0 has no value", "divide by something that is not 0")
        exponent = _literal(right)
        if op == "**" and exponent in _INTEGER_POWERS:
            return IntegerPower(left, round(exponent))
        return Apply(op, (left, right))

    def _unary(self, tree: ast.UnaryOp, depth: int) -> Node:
        if isinstance(tree.op, ast.Invert):
            raise self._error(tree, "`~` is no operator here", FOREIGN["~"])
        operand = self.node(tree.operand, depth + 1)
        return operand if isinstance(tree.op, ast.UAdd) else Apply(_UNARY[type(tree.op)], (operand,))

    def _comparison(self, tree: ast.Compare, depth: int) -> Node:
        depth += len(tree.ops)  # a chain becomes comparisons joined by `and`
        operands = [self.node(part, depth) for part in (tree.left, *tree.comparators)]
        if any(type(op) not in _COMPARE for op in tree.ops):
            help = "compare with `<`, `<=`, `>`, `>=`, `==`, `!=`"
            raise self._error(tree, "`in` and `is` are not allowed", help)
        pairs = [Apply(_COMPARE[type(op)], pair) for op, pair in zip(tree.ops, pairwise(operands))]
        result: Node = pairs[0]
        for pair in pairs[1:]:
            result = Apply("and", (result, pair))
        return result

    def _call(self, tree: ast.Call, depth: int) -> Node:
        if not isinstance(tree.func, ast.Name):
            if isinstance(tree.func, ast.Attribute):
                self.node(tree.func, depth)
            raise self._error(tree, "only functions can be called", "write `*` to multiply")
        name = tree.func.id
        if tree.args and not tree.keywords and isinstance(tree.args[0], ast.Name):
            numbers = [self._plain_number(argument) for argument in tree.args[1:]]
            applied = f"{name}({', '.join([tree.args[0].id, *map(repr, numbers)])})"
            if applied in self._variables:
                self._found += [(a.col_offset + self._offset, a.id) for a in tree.args[1:] if isinstance(a, ast.Name)]
                return Name(applied)
        if name not in FUNCTIONS:
            raise self._unknown_function(tree, name, depth)
        if tree.keywords:
            raise self._error(tree.keywords[0].value, "arguments have no names here")
        least, most = FUNCTIONS[name]
        if not least <= len(tree.args) <= most:
            if name in _OF_TWO and len(tree.args) == 2:
                raise self._error(
                    tree, f"`{name}` takes 1 argument, not 2", self._translated(_OF_TWO[name], tree, depth)
                )
            if name == "where" and len(tree.args) == 2:
                help = f"{self._translated('where(a, b, 0)', tree, depth)}, 0 being its value elsewhere"
                raise self._error(tree, "`where` takes 3 arguments, not 2", help)
            if len(tree.args) > most and (fault := decimal_comma(self._text)):
                raise fault
            wanted = f"at least {least} arguments" if most == MANY else f"{least} argument" + "s" * (least > 1)
            raise self._error(tree, f"`{name}` takes {wanted}, not {len(tree.args)}")
        depth += BRANCH_DEPTH if name == "where" else 1
        return Apply(name, tuple(self.node(argument, depth) for argument in tree.args))

    def _plain_number(self, tree: ast.expr) -> float | None:
        """The value of a number or a named constant; None for anything else."""
        if isinstance(tree, ast.Name):
            return self._constants.get(tree.id)
        value = tree.value if isinstance(tree, ast.Constant) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            return float(value)
        except OverflowError:
            return None

    def _unknown_function(self, tree: ast.Call, name: str, depth: int) -> ExpressionError:
        if name in self._variables or name in CONSTANTS:
            return self._error(tree, f"`{name}` is not a function", f"write `{name}*(...)` to multiply")
        message, lower = f"unknown function `{name}`", name.lower()
        if lower in FUNCTIONS or lower in ANSWERS:
            return self._error(tree, message, ANSWERS.get(lower, f"did you mean `{lower}`?"))
        if lower in TRANSLATIONS:
            wave = SQUARE_WAVE if lower == "square" and self._has_time(tree) else ""
            return self._error(tree, message, self._translated(TRANSLATIONS[lower], tree, depth) + wave)
        close = closest(name, FUNCTIONS)
        help = f"did you mean `{close}`?" if close else "functions: " + ", ".join(FUNCTIONS)
        return self._error(tree, message, help)

    def _has_time(self, tree: ast.expr) -> bool:
        return "t" in self._variables and any(isinstance(n, ast.Name) and n.id == "t" for n in ast.walk(tree))

    def _translated(self, template: str, call: ast.Call, depth: int) -> str:
        """What to write in place of a call. template: what to write for arguments a, b and c. The help has the
        arguments of the call in their places if there are as many and the result is short."""
        letters = ("a", "b", "c")
        wanted = parse(template, letters)
        if len(names_in(wanted)) == len(call.args):
            arguments = dict(zip(letters, (self.node(argument, depth + 1) for argument in call.args)))
            result = substitute(wanted, arguments)
            written = formula(result)
            if depth > 1 and not (isinstance(result, Apply) and result.op in FUNCTIONS):
                written = f"({written})"  # so that it can stand where the call does
            if len(written) <= _MOST_SHOWN:
                return f"write `{written}`"
        return f"for `{ast.unparse(call.func)}({', '.join(sorted(names_in(wanted)))})` write `{formula(wanted)}`"


def _literal(node: Node) -> float | None:
    if isinstance(node, Apply) and node.op == "neg" and isinstance(node.args[0], Number):
        return -node.args[0].value
    return node.value if isinstance(node, Number) else None


_KINDS: dict[type[ast.expr], str] = {
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.List: "a list",
    ast.Tuple: "a tuple",
    ast.Set: "a set",
    ast.Dict: "a dictionary",
    ast.Subscript: "an index (`[...]`)",
    ast.NamedExpr: "an assignment",
    ast.Starred: "`*` before an argument",
}
