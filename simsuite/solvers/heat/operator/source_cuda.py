"""A source that is evaluated in every cell, on a GPU: a block for each row of cells, float64. This file is a template,
see `expression_placeholders` and `sources`."""

from __future__ import annotations

from numba import cuda, float64

from simsuite.solvers.expression_placeholders import expression, expression_numbers
from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS, sum_up
from simsuite.solvers.heat.operator.sources_cuda import whole_row

f, tuple_of = cuda.jit(device=True)(expression), cuda.jit(device=True)(expression_numbers)


@cuda.jit(cache=True)
def source(T, times, k, dx, dy, at_row, rows, c, base, q, power, first, marks, numbers):
    """q = base + the expression in x, y, t, T; 0 in held cells, where c is 0. The sum of the expression over each row
    goes to `power`, from entry `first` on. marks: 1 in the cells that a file marks for it, else 0, (ny, nx), uint8; or
    (1, 1) where no file does; of the whole grid, like at_row, rows: see `Discretisation.place`. numbers: the numbers
    in the expression."""
    last_row, last_column = marks.shape[0] - 1, marks.shape[1] - 1
    part = cuda.shared.array(THREADS, float64)
    i, y = cuda.threadIdx.x, cuda.blockIdx.x
    t, p = times[min(k, times.size - 1)], tuple_of(numbers)
    total, row = float64(0.0), whole_row(y, at_row, rows)
    for x in range(i, T.shape[1], THREADS):
        mark = marks[min(row, last_row), min(x, last_column)]
        s = f((x + 0.5) * dx, (row + 0.5) * dy, t, float64(T[y, x]), mark, p) if c[y, x] > 0 else 0.0
        q[y, x] = base[y, x] + s
        total += s
    part[i] = total
    sum_up(part, i)
    if i == 0:
        power[first + y] = part[0]
