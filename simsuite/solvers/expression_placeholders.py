"""Placeholders for functions that are written from a scenario's expressions, which kernels call.

A module that imports them is a template: `written_kernels` makes modules of it in which the line of that import is
replaced by functions of the same names, written from expressions. Their last argument is an array of the numbers in the
expression, so that one compiled kernel, which the cache keeps, serves all expressions that differ in numbers alone. A
kernel that evaluates an expression in a loop makes a tuple of these numbers first, by the function whose name ends with
`_numbers`: an array would be read again whenever something has been written to another array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions import Expression


def expression(*arguments: Any) -> float:
    """The value of an expression. Raises NotImplementedError: a template does not run."""
    raise NotImplementedError


along_x = along_y = expression


def expression_numbers(numbers: Any) -> tuple[float, ...]:
    """The numbers of an expression as a tuple, from an array. Raises NotImplementedError: a template does not run."""
    raise NotImplementedError


def written_kernels(
    backend: Backend, module: str, expressions: Mapping[str, Expression], args: tuple[str, ...]
) -> tuple[Any, list[Any]]:
    """(the kernels of a template for a backend, for each expression an array on the device of its numbers).
    expressions: by the names that the template calls them by; args: the arguments of the functions written from them.
    """
    sources = {name: f.scalar_source(name, args, backend.simulated) for name, f in expressions.items()}
    kernels = backend.kernels(module, {name: text for name, (text, _) in sources.items()})
    return kernels, [backend.array(np.array(numbers or (0.0,), np.float64)) for _, numbers in sources.values()]
