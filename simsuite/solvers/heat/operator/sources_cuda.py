"""Sources that are products on a GPU, see `sources`: a block for each row of cells, one thread for each of its columns
in turn.

All kernels add up over x in the same order, so that results do not depend on which of them computed a sum."""

from __future__ import annotations

from numba import cuda, float64

from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS, sum_up


@cuda.jit(device=True)
def whole_row(y, first, rows):
    """The number of row y of a slab among all rows of the grid. first, rows: see `Discretisation.place`."""
    row = y + first
    if row < 0:
        return row + rows
    return row - rows if row >= rows else row


@cuda.jit(device=True)
def _power(sums, ys, row_x, row_y, term, terms, y, ny):
    """The power of a row of cells: the sum of the products of terms from `term` on."""
    total = float64(0.0)
    for j in range(terms):
        total += float64(ys[row_y, (term + j) * ny + y]) * sums[row_x, term + j]
    return total


@cuda.jit(cache=True)
def add_products(xs, ys, k, term, terms, c, base, q, power, first, zero):
    """q = base + Σ X Y at the time of row k. The sum of ΣXY over each row, without held cells, goes to `power`, from
    entry `first` on."""
    part = cuda.shared.array(THREADS, float64)
    i, y = cuda.threadIdx.x, cuda.blockIdx.x
    ny, nx = q.shape
    row_x, row_y = min(k, xs.shape[0] - 1), min(k, ys.shape[0] - 1)
    for x in range(i, nx, THREADS):
        s = base[y, x]
        for j in range(term, term + terms):
            s = cuda.fma(xs[row_x, j * nx + x], ys[row_y, j * ny + y], s)
        q[y, x] = s
    power_of_row = float64(0.0)
    for j in range(term, term + terms):
        total = float64(0.0)
        for x in range(i, nx, THREADS):
            if c[y, x] > zero:
                total += float64(xs[row_x, j * nx + x])
        part[i] = total
        sum_up(part, i)
        power_of_row += float64(ys[row_y, j * ny + y]) * part[0]
        cuda.syncthreads()
    if i == 0:
        power[first + y] = power_of_row


@cuda.jit(cache=True)
def sums(xs, row, rows, nx, terms, out):
    """out[k, j] = Σ X of term j, in the k-th of so many rows from `row` on, with one block for each of them."""
    part = cuda.shared.array(THREADS, float64)
    i, k, j = cuda.threadIdx.x, cuda.blockIdx.x // terms, cuda.blockIdx.x % terms
    total = float64(0.0)
    if k < rows:
        for x in range(i, nx, THREADS):
            total += float64(xs[row + k, j * nx + x])
    part[i] = total
    sum_up(part, i)
    if i == 0 and k < rows:
        out[k, j] = part[0]


@cuda.jit(cache=True)
def book(sums, ys, x_rows, y_row, y_stride, term, terms, n, weight, ledger, first, ny):
    """Adds the power of terms from `term` on, times a weight, of n steps, to the entries from `first` on."""
    y = cuda.grid(1)
    if y < ny:
        for k in range(n):
            ledger[first + y] += weight * _power(sums, ys, min(k, x_rows - 1), y_row + k * y_stride, term, terms, y, ny)
