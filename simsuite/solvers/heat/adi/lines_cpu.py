"""Many tridiagonal systems on the CPU: blocks of lines in parallel, vectorised across lines. See `lines`."""

from __future__ import annotations

import numpy as np

from simsuite.parallel_for import kernel, lesser, parallel_for, procedure

WIDTH = 64  # the number of lines that are solved together: a few rows of them stay in the fastest cache


def lines_of(n: int, m: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch of `solve`; a CPU kernel covers any extent by itself."""
    return (m, n), (1, 1)


@procedure
def _ring(r, g, c, a, one, begin, end, last):
    """Computes the last unknown of each line that is a ring. All other unknowns of the ring are affine functions
    of it."""
    n = r.shape[0]
    for j in range(begin, end):
        d, p, v, u = one - one, one, one, one - one
        P, R, U = one - one, one, one - one
        for i in range(n - 1):
            w, e = a * c[i, j] * g[i, j], a * c[i, j] * g[i + 1, j]
            t = one + w * v
            scale = one / (t + e)
            d, p, v, u, s = (r[i, j] + w * d) * scale, w * p * scale, t * scale, (one + w * u) * scale, e * scale
            P, U, R = P + R * d, U + R * u, R * s
        w, e = a * c[n - 1, j] * g[n - 1, j], a * c[n - 1, j] * g[n, j]
        last[j - begin] = (r[n - 1, j] + w * d + e * P) / (one + w * u + e * U)


@procedure
def _end_row(r, g, c, edges, first, points, a, one, v, i, j):
    """Eliminates the row at one end of line j, where the edge takes the place of a neighbour."""
    n, m = r.shape
    w, e = a * c[i, j] * g[i, j], a * c[i, j] * g[i + 1, j]
    t, right = one, r[i, j]
    if i == 0:
        t += w * edges[first + j]
        right += w * edges[first + points + j]
    else:
        t += w * v[i - 1, j]
        right += w * r[i - 1, j]
    if i == n - 1:
        t += e * edges[first + m + j]
        right += e * edges[first + m + points + j]
        e = one - one
    scale = one / (t + e)
    r[i, j] = right * scale
    v[i, j] = t * scale


@procedure
def _rows(r, g, c, a, one, v, i, begin, end):
    """Eliminates row i of the lines from `begin` to `end`, for cells between two others."""
    for j in range(begin, end):
        w, e = a * c[i, j] * g[i, j], a * c[i, j] * g[i + 1, j]
        t = one + w * v[i - 1, j]
        scale = one / (t + e)
        r[i, j] = (r[i, j] + w * r[i - 1, j]) * scale
        v[i, j] = t * scale


@procedure
def _substitute(r, one, v, begin, end):
    """Computes the unknowns of several lines by back substitution, from the last but one to the first."""
    for i in range(r.shape[0] - 2, -1, -1):
        for j in range(begin, end):
            r[i, j] += (one - v[i, j]) * r[i + 1, j]


@parallel_for
def _solve_rings(first_block, last_block, r, g, c, a, one, v):
    n, m = r.shape
    last = np.empty(WIDTH, r.dtype)
    for begin in range(first_block * WIDTH, lesser(m, last_block * WIDTH), WIDTH):
        end = lesser(m, begin + WIDTH)
        _ring(r, g, c, a, one, begin, end, last)
        for j in range(begin, end):
            r[n - 1, j] = last[j - begin]
            w, e = a * c[0, j] * g[0, j], a * c[0, j] * g[1, j]
            scale = one / (one + w + e)
            r[0, j] = (r[0, j] + w * last[j - begin]) * scale
            v[0, j] = (one + w) * scale
        for i in range(1, n - 1):
            _rows(r, g, c, a, one, v, i, begin, end)
        _substitute(r, one, v, begin, end)


@parallel_for
def _solve_lines(first_block, last_block, r, g, c, edges, first, a, one, v):
    n, m = r.shape
    points = 2 * (n + m)
    for begin in range(first_block * WIDTH, lesser(m, last_block * WIDTH), WIDTH):
        end = lesser(m, begin + WIDTH)
        for i in range(n):
            if 0 < i < n - 1:
                _rows(r, g, c, a, one, v, i, begin, end)
            else:
                for j in range(begin, end):
                    _end_row(r, g, c, edges, first, points, a, one, v, i, j)
        _substitute(r, one, v, begin, end)


@kernel
def _rings(r, g, c, a, one, v):
    _solve_rings((r.shape[1] + WIDTH - 1) // WIDTH, (r, g, c, a, one, v))


@kernel
def _lines(r, g, c, edges, first, a, one, v):
    _solve_lines((r.shape[1] + WIDTH - 1) // WIDTH, (r, g, c, edges, first, a, one, v))


def solve(r, lines, at, a, one, v):
    """Solves the systems. Rings and lines with ends have a kernel each, because most runs need only one of them."""
    g, c, edges, first, wrap = lines  # fields in the order of `Along`
    if not wrap:
        _lines(r, g, c, edges, at + first, a, one, v)
    elif r.shape[0] > 1:
        _rings(r, g, c, a, one, v)
