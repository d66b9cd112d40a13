"""Functions in place of which kernels call what expressions of a scenario are.

A module that imports them is a template: `written_kernels` makes modules of it in which the line of that import is
replaced by functions of the same names, written from expressions. Their last argument is an array of the numbers in the
expression, so that one compiled kernel, which the cache keeps, serves all expressions that differ in numbers alone. A
kernel that evaluates an expression in a loop makes a tuple of them first, by the function with `_numbers` behind the
name: an array would be read again whenever something has been written to another one.
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
    """The numbers in an expression, of an array. Raises NotImplementedError: a template does not run."""
    raise NotImplementedError


def written_kernels(
    backend: Backend, module: str, expressions: Mapping[str, Expression], args: tuple[str, ...]
) -> tuple[Any, list[Any]]:
    """The kernels of a template for a backend, with functions of `args` made of expressions by the names that the
    template has for them, and an array on the device of the numbers of each."""
    sources = {name: f.scalar_source(name, args, backend.simulated) for name, f in expressions.items()}
    kernels = backend.kernels(module, {name: text for name, (text, _) in sources.items()})
    return kernels, [backend.array(np.array(numbers or (0.0,), np.float64)) for _, numbers in sources.values()]
