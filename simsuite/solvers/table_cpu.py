"""The kernel that fills a FunctionTable on the CPU. It is a template; see `expression_placeholders`."""

from __future__ import annotations

from simsuite.parallel_for import kernel, part
from simsuite.solvers.expression_placeholders import expression, expression_numbers

f, tuple_of = part(expression), part(expression_numbers)


@kernel
def fill(out, start, x, y, begin, span, first, count, offsets, numbers, n):
    """Evaluate the expression in x, y, t for n rows; numbers: those that the expression contains."""
    p = tuple_of(numbers)
    for k in range(n):
        for j in range(x.size):
            out[k, start + j] = f(x[j], y[j], begin + span * (first + offsets[k]) / count, p)
