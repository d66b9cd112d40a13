"""Products with few columns on a CPU, or with columns that fill no vector: each vector holds rows of a column."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.registers_cpu import BESIDE, STRIP, ahead, place, strip_product


@part
def strips(at, columns, height, panels, source, x_stride, target, stride, shifts, shape, t0, t1):
    """Compute the rows of panels t0 .. t1 - 1 of the product with at most STRIP columns. source, target: pointers to
    the first numbers; x_stride, stride: the distances between their rows. shape: (n, p) of A. The last panel has the
    last rows of n ≥ height.
    """
    n, p = shape
    beside = BESIDE if t1 - t0 >= BESIDE else 1
    gap, step = (height * p, height) if beside > 1 else (0, 0)  # A single panel has no others beside it.
    for t in range(t0, t1, beside):
        first = min(t, t1 - beside)
        i, last = min(first * height, n - height), min((first + beside - 1) * height, n - height)
        panel, shift, goal = place(panels, first * height * p), place(shifts, i), ahead(target, i * stride)
        strip_product(at, columns, height, (panel, gap), (source, x_stride), (goal, stride, step, last - i), p, shift)


@part
def _group(at, height, panels, X, source, out, target, shifts, s, n_steps, t):
    """Compute BESIDE panels from t on in step s, from X in the first step, else from `source`; into `out` in the last
    step, else into `target`. Where too few panels are left, earlier ones are computed once more: two threads then write
    the same bits.
    """
    (p, m), n = X.shape, len(out)
    begin = place(source, 0) if s > 0 else place(X, 0)
    end = place(target, 0) if s < n_steps - 1 else place(out, 0)
    after = min(t + BESIDE, -(-n // height))
    t0 = max(after - BESIDE, 0)
    for c in range(0, m, STRIP):
        strips(at, min(STRIP, m - c), height, panels, ahead(begin, c), m, ahead(end, c), m, shifts, (n, p), t0, after)


@parallel_for
def _groups(begin, end, at, height, panels, X, source, out, target, shifts, s, n_steps):
    for t in range(begin, end):
        _group(at, height, panels, X, source, out, target, shifts, s, n_steps, t * BESIDE)


@kernel
def few(at, height, panels, alone, shifts, states, X, bias, row, stride, n_steps, out):
    """Take n_steps steps, as `steps` of `steps_cpu` does, for X of few columns and A of at least as many rows as a
    panel. shifts: (n,); states: (2, n columns).
    """
    n = len(out)
    for s in range(n_steps):
        source, target = states[s % 2], states[1 - s % 2]
        for i in range(n):
            shifts[i] = bias[row + s * stride, i]
        groups = -(-n // (height * BESIDE))
        arguments = (at, height, panels, X, source, out, target, shifts, s, n_steps)
        _groups(groups, arguments, 1 if alone else groups)
