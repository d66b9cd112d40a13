"""A source that is evaluated in every cell, on the CPU: rows in parallel. This file is a template, see
`expression_placeholders` and `sources`."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.expression_placeholders import expression, expression_numbers
from simsuite.solvers.heat.operator.sources_cpu import whole_row

f, tuple_of = part(expression), part(expression_numbers)


@parallel_for
def _source(begin, end, T, t, dx, dy, at_row, rows, c, base, q, power, first, marks, numbers):
    p = tuple_of(numbers)
    last_row, last_column = marks.shape[0] - 1, marks.shape[1] - 1
    for y in range(begin, end):
        total, row = 0.0, whole_row(y, at_row, rows)
        for x in range(T.shape[1]):
            mark = marks[min(row, last_row), min(x, last_column)]
            s = f((x + 0.5) * dx, (row + 0.5) * dy, t, float(T[y, x]), mark, p) if c[y, x] > 0 else 0.0
            q[y, x] = base[y, x] + s
            total += s
        power[first + y] = total


@kernel
def source(T, times, k, dx, dy, at_row, rows, c, base, q, power, first, marks, numbers):
    """q = base + the expression in x, y, t, T; 0 in held cells, where c is 0. The sum of the expression over each row
    goes to `power`, from entry `first` on. marks: 1 in the cells that a file marks for it, else 0, (ny, nx), uint8; or
    (1, 1) where no file does; of the whole grid, like at_row, rows: see `Discretisation.place`. numbers: the numbers
    in the expression."""
    t = times[min(k, times.size - 1)]
    _source(T.shape[0], (T, t, dx, dy, at_row, rows, c, base, q, power, first, marks, numbers))
