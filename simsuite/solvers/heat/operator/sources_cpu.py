"""Sources that are products on the CPU: rows in parallel. See `sources`."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for, part

THREADS = 1  # the number of threads that a row of cells is launched with


@part
def whole_row(y, first, rows):
    """The number of row y of a slab among all rows of the grid. first, rows: see `Discretisation.place`."""
    row = y + first
    if row < 0:
        return row + rows
    return row - rows if row >= rows else row


@parallel_for
def _add_products(begin, end, xs, ys, k, some, c, base, q, power, first, zero):
    term, terms = some
    ny, nx = q.shape
    row_x, row_y = min(k, xs.shape[0] - 1), min(k, ys.shape[0] - 1)
    for y in range(begin, end):
        for x in range(nx):
            q[y, x] = base[y, x]
        total = 0.0
        for j in range(term, term + terms):
            Y, row = ys[row_y, j * ny + y], xs[row_x, j * nx : (j + 1) * nx]
            for x in range(nx):
                q[y, x] += row[x] * Y
            free = 0.0
            for x in range(nx):
                if c[y, x] > zero:
                    free += float(row[x])
            total += float(Y) * free
        power[first + y] = total


@kernel
def add_products(xs, ys, k, term, terms, c, base, q, power, first, zero):
    """q = base + Σ X Y at the time of row k. The sum of ΣXY over each row, without held cells, goes to `power`, from
    entry `first` on."""
    _add_products(q.shape[0], (xs, ys, k, (term, terms), c, base, q, power, first, zero))


@kernel
def sums(xs, row, rows, nx, terms, out):
    """out[k, j] = Σ X of term j, in the k-th of so many rows from `row` on."""
    for k in range(rows):
        for j in range(terms):
            total = 0.0
            for x in range(nx):
                total += float(xs[row + k, j * nx + x])
            out[k, j] = total


@kernel
def book(sums, ys, x_rows, y_row, y_stride, term, terms, n, weight, ledger, first, ny):
    """Adds the power of terms from `term` on, times a weight, of n steps, to the entries from `first` on."""
    for y in range(ny):
        for k in range(n):
            total = 0.0
            for j in range(term, term + terms):
                total += float(ys[y_row + k * y_stride, j * ny + y]) * sums[min(k, x_rows - 1), j]
            ledger[first + y] += weight * total
