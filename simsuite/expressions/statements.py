"""The statements that compute a checked expression, whatever language they are written in.

Straight assignments to new variables, so that nothing needs a helper function, with `if` where only one branch may be
evaluated. The same operation on the same operands is written once: a derivative says most things many times. Which
operations there are, on what and in what order, is decided here; a `Language` says how one of them looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from simsuite.expressions.tree import MARK, Apply, IntegerPower, Marked, Name, Node, Number, power_steps


@dataclass(frozen=True)
class Language:
    """How a language writes statements.

    operations: a template for each operation on the operands {0}, {1}; or several, of which each is a value that those
    after it may use as a further operand. literal: the text of a number, to the bit. define: {0} is new and has the
    value {1}. choice: what declares {0}, to be set later, if anything has to; what begins the case that {0} is not 0;
    what begins the other; what ends both. set: gives the declared {0} the value {1}.
    """

    operations: Mapping[str, str | tuple[str, ...]]
    literal: Callable[[float], str]
    define: str
    choice: tuple[str, str, str, str]
    set: str


class Writer:
    """Lines of a function's body; `write` returns the variable or literal that holds a node's value.

    names: the function's argument for each of the expression's variables.
    """

    def __init__(self, names: Mapping[str, str], language: Language) -> None:
        self.names = names
        self.lines: list[str] = []
        self._language = language
        self._count = 0
        # operations that are computed before this point, and the variable that holds each
        self._assigned: dict[str, str] = {}

    def write(self, node: Node, indent: int) -> str:
        if isinstance(node, Number):
            return self._language.literal(node.value)
        if isinstance(node, Name):
            return self.names[node.name]
        if isinstance(node, Marked):
            return self.names[MARK]
        if isinstance(node, IntegerPower):
            return self._integer_power(self.write(node.base, indent), node.exponent, indent)
        if node.op == "where":
            return self._branch(node.args[0], node.args[1], node.args[2], indent)
        if node.op == "and":
            return self._branch(node.args[0], _truth(node.args[1]), Number(0.0), indent)
        if node.op == "or":
            return self._branch(node.args[0], Number(1.0), _truth(node.args[1]), indent)
        operands = [self.write(argument, indent) for argument in node.args]
        if node.op in ("min", "max"):
            return reduce(lambda a, b: self._operation(node.op, [a, b], indent), operands)
        return self._operation(node.op, operands, indent)

    def _line(self, text: str, indent: int) -> None:
        if text:
            self.lines.append(" " * indent + text)

    def _variable(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _assign(self, text: str, indent: int) -> str:
        if text not in self._assigned:
            self._assigned[text] = self._variable()
            self._line(self._language.define.format(self._assigned[text], text), indent)
        return self._assigned[text]

    def _operation(self, op: str, operands: list[str], indent: int) -> str:
        templates = self._language.operations[op]
        for template in (templates,) if isinstance(templates, str) else templates:
            operands = [*operands, self._assign(template.format(*operands), indent)]
        return operands[-1]

    def _branch(self, condition: Node, yes: Node, no: Node, indent: int) -> str:
        declaration, first, second, end = self._language.choice
        test = self.write(condition, indent)
        name = self._variable()
        self._line(declaration.format(name), indent)
        before = self._assigned
        for opening, branch in ((first, yes), (second, no)):
            self._assigned = before.copy()
            self._line(opening.format(test), indent)
            self._line(self._language.set.format(name, self.write(branch, indent + 1)), indent + 1)
        self._line(end, indent)
        self._assigned = before
        return name

    def _integer_power(self, base: str, exponent: int, indent: int) -> str:
        power = base
        for multiply in power_steps(abs(exponent)):
            power = self._assign(f"{power} * {power}" + (f" * {base}" if multiply else ""), indent)
        one = self._language.literal(1.0)
        return self._operation("/", [one, power], indent) if exponent < 0 else power


def _truth(node: Node) -> Node:
    return Apply("!=", (node, Number(0.0)))
