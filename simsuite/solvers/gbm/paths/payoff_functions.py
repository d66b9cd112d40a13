"""Payoffs as functions in CUDA C++, of a path's variables and of the numbers in them.

Numbers such as strikes are arguments of the program and no part of its text: payoffs of one form share functions, and
programs that differ in numbers alone are one program, which is compiled and loaded once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.core import HostArray
from simsuite.expressions import Expression
from simsuite.expressions.tree import Apply, Node, Number, replaced
from simsuite.expressions.tree import Name as Variable
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise

_MOST = 192  # numbers that are arguments; further ones are literals, since arguments take at most 4 KB
_LITERALS = (0.0, 1.0)  # which say what a payoff is like, and spare the compiler operations


class PayoffFunctions:
    """The functions of a program. texts: their definitions. numbers: what they are given besides variables, each once,
    so that the compiler still finds what payoffs have in common."""

    def __init__(self, n_assets: int) -> None:
        self.texts: list[str] = []
        self.numbers: list[float] = []
        self._assets = range(n_assets)
        self._functions: dict[str, str] = {}  # names by what follows them in their definitions
        self._places: dict[str, int] = {}

    def calls(self, payoffs: Payoffs, values: Sequence[int]) -> list[str]:
        """What computes these values of `Payoffs.values` from the variables `v` and the numbers `numbers.given`."""
        variables = (
            *map(last, self._assets),
            *map(kept, range(max(len(payoffs.functionals), 1))),
            *map(noise, self._assets),
        )
        return [self._call(payoffs.values[value], variables) for value in values]

    def struct(self, shifts: Sequence[float]) -> HostArray:
        """The struct `Numbers` of the program: what is subtracted from each value, and the numbers."""
        layout = [("shifts", np.float64, (len(shifts),)), ("given", np.float64, (self.room,))]
        made = np.zeros((), np.dtype(layout, align=True))
        made["shifts"], made["given"][: len(self.numbers)] = shifts, self.numbers
        return made

    @property
    def room(self) -> int:
        """The numbers that the struct has room for."""
        return max(len(self.numbers), 1)

    def _call(self, tree: Node, variables: tuple[str, ...]) -> str:
        own: dict[int, Variable] = {}  # the function's argument for each number, by the number's place

        def instead(node: Node) -> Node | None:
            if isinstance(node, Number):
                place = self._place(node.value)
                return None if place is None else own.setdefault(place, Variable(f"number{len(own)}"))
            if isinstance(node, Apply) and node.op == "**" and isinstance(node.args[1], Number):
                # A power is computed in a way that depends on its exponent, which stays in the text.
                return Apply("**", (replaced(node.args[0], instead), node.args[1]))
            return None

        form = Expression.from_tree(replaced(tree, instead), variables)
        used = tuple(name for name in variables if name in form.names)
        given = [f"v[{variables.index(name)}]" for name in used] + [f"numbers.given[{place}]" for place in own]
        return f"{self._function(form, (*used, *(argument.name for argument in own.values())))}({','.join(given)})"

    def _place(self, value: float) -> int | None:
        """The place of a number among those that are given; None if it stays in the text."""
        if value in _LITERALS:
            return None
        key = value.hex()
        if key not in self._places and len(self.numbers) < _MOST:
            self._places[key] = len(self.numbers)
            self.numbers.append(value)
        return self._places.get(key)

    def _function(self, form: Expression, arguments: tuple[str, ...]) -> str:
        name = f"payoff{len(self._functions)}"
        text = form.cuda_function(name, arguments).replace("\n", " ")
        key = text.partition("(")[2]
        if key not in self._functions:
            self._functions[key] = name
            self.texts.append(text)
        return self._functions[key]
