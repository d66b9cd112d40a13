"""Error estimates of steps on a GPU, from a weighted sum of what stages have changed."""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS

__all__ = ["THREADS", "gather", "judge"]


@cuda.jit(cache=True)
def gather(Y, Y0, weight, first, defect):
    """defect += weight (Y - Y0), or defect = weight (Y - Y0) if `first`."""
    x, y = cuda.grid(2)
    if x < Y.shape[1] and y < Y.shape[0]:
        part = weight * (Y[y, x] - Y0[y, x])
        defect[y, x] = part if first else defect[y, x] + part


@cuda.jit(cache=True)
def judge(Y, Y0, weight, defect, zero, rows):
    """defect += weight (Y - Y0). Then one block for each row puts its largest |defect| and the least and the largest Y
    into `rows`; they are NaN if the row contains a NaN."""
    error = cuda.shared.array(THREADS, Y.dtype)
    least = cuda.shared.array(THREADS, Y.dtype)
    most = cuda.shared.array(THREADS, Y.dtype)
    i, y = cuda.threadIdx.x, cuda.blockIdx.x
    e, low, high = zero, Y[y, 0], Y[y, 0]
    for x in range(i, Y.shape[1], THREADS):
        v = Y[y, x]
        d = defect[y, x] + weight * (v - Y0[y, x])
        defect[y, x] = d
        w = abs(d)
        # These comparisons are written so that a NaN on the right is taken; once taken it stays, because comparisons
        # with it are false.
        if not w <= e and e == e:
            e = w
        if not v >= low and low == low:
            low = v
        if not v <= high and high == high:
            high = v
    error[i], least[i], most[i] = e, low, high
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half:
            j = i + half
            if not error[j] <= error[i] and error[i] == error[i]:
                error[i] = error[j]
            if not least[j] >= least[i] and least[i] == least[i]:
                least[i] = least[j]
            if not most[j] <= most[i] and most[i] == most[i]:
                most[i] = most[j]
        cuda.syncthreads()
        half //= 2
    if i == 0:
        rows[0, y], rows[1, y], rows[2, y] = error[0], least[0], most[0]
