"""Many tridiagonal systems on a GPU, neighbouring threads on neighbouring lines. See `lines`.

A line of cells is solved by up to CHUNKS threads, each for one piece of it (H. H. Wang, ACM Trans. Math. Software
7:170, 1981): a first pass over the piece finds how its first and last unknown depend on those beside the piece, a
short serial elimination from piece to piece finds these, and the second pass is Thomas' algorithm between known values.
A ring has one more unknown, beside the first and the last piece.
"""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.heat.arguments import Along

LINES = 16  # the number of neighbouring lines that a block solves, so that it reads whole sectors of memory
CHUNKS = 32
SHORTEST = 8  # the least number of cells that a thread should have
SIZE = LINES * CHUNKS
ENDS = 8 * SIZE


def lines_of(n: int, m: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch of `solve` for m lines of n cells."""
    chunks = min(CHUNKS, max(1, n // SHORTEST))
    return (m, chunks), (LINES, chunks)


@cuda.jit(device=True)
def _row(r, lines, first, a, one, i, j):
    """The numbers (k, w, e, right) of the equation (k + w + e)·x[i] - w·x[i-1] - e·x[i+1] = right of row i; beside
    edges w and e are part of k."""
    n, m = r.shape
    points = 2 * (n + m)
    g, c, edges = lines.g, lines.c, lines.edges
    w, e = a * c[i, j] * g[i, j], a * c[i, j] * g[i + 1, j]
    k, right = one, r[i, j]
    if not lines.wrap:
        if i == 0:
            k += w * edges[first + j]
            right += w * edges[first + points + j]
            w = one - one
        if i == n - 1:
            k += e * edges[first + m + j]
            right += e * edges[first + m + points + j]
            e = one - one
    return k, w, e, right


@cuda.jit(device=True)
def _piece(r, lines, first, a, one, begin, end, j, ends, here):
    """Eliminates the inside of a piece: its first unknown becomes P + Q·before + R·after and its last one d + p·before
    + s·after, where `before` and `after` are the unknowns beside the piece. U = 1 - Q - R and u = 1 - p - s are
    computed without cancellation."""
    zero = one - one
    d, p, v, u, s = zero, one, one, zero, zero
    P, Q, R, U = zero, zero, one, zero
    for i in range(begin, end):
        k, w, e, right = _row(r, lines, first, a, one, i, j)
        t = k + w * v
        scale = one / (t + e)
        d = (right + w * d) * scale
        p = w * p * scale
        u = (k + w * u) * scale
        v = t * scale
        s = e * scale
        P += R * d
        Q += R * p
        U += R * u
        R *= s
    ends[here] = P
    ends[SIZE + here] = Q
    ends[2 * SIZE + here] = R
    ends[3 * SIZE + here] = U
    ends[4 * SIZE + here] = d
    ends[5 * SIZE + here] = p
    ends[6 * SIZE + here] = s
    ends[7 * SIZE + here] = u


@cuda.jit(device=True)
def _join(r, lines, first, a, one, j, ends, line, width, pieces):
    """Goes from piece to piece and computes the unknowns before and after each of them, which are left in the first two
    rows of `ends`.

    The unknown before a piece is A + B·(its first unknown) + C·z, where z is the last unknown of a ring; V = 1 - B, W =
    1 - B - C."""
    zero = one - one
    A, B, C, V, W = zero, zero, zero, one, one
    if lines.wrap:
        C, W = one, zero
    for k in range(pieces):
        here = k * width + line
        P, Q, R, U = ends[here], ends[SIZE + here], ends[2 * SIZE + here], ends[3 * SIZE + here]
        d, p, s, u = ends[4 * SIZE + here], ends[5 * SIZE + here], ends[6 * SIZE + here], ends[7 * SIZE + here]
        ends[4 * SIZE + here] = A
        ends[5 * SIZE + here] = B
        ends[6 * SIZE + here] = C
        ends[7 * SIZE + here] = U + Q * W
        scale = one / (U + R + Q * V)
        ends[3 * SIZE + here] = scale
        A = d + p * (A + B * (P + Q * A) * scale)
        V = u + p * (U + (R + Q) * V) * scale
        W = u + p * (W + B * (U + Q * W) * scale)
        C = p * C * (one + B * Q * scale)
        B = s + p * B * R * scale
    z = zero
    if lines.wrap:
        F, H = zero, zero
        for k in range(pieces - 1, -1, -1):
            here = k * width + line
            P, Q, R, scale = ends[here], ends[SIZE + here], ends[2 * SIZE + here], ends[3 * SIZE + here]
            F = (P + Q * ends[4 * SIZE + here] + R * F) * scale
            H = (ends[7 * SIZE + here] + R * H) * scale
        n = r.shape[0]
        k1, w, e, right = _row(r, lines, first, a, one, n - 1, j)
        z = (right + w * A + e * F) / (k1 + w * W + e * H)
        r[n - 1, j] = z
    after = z
    for k in range(pieces - 1, -1, -1):
        here = k * width + line
        P, Q, R, scale = ends[here], ends[SIZE + here], ends[2 * SIZE + here], ends[3 * SIZE + here]
        before = ends[4 * SIZE + here] + ends[6 * SIZE + here] * z
        x = (P + Q * before + R * after) * scale
        ends[here] = before + ends[5 * SIZE + here] * x
        ends[SIZE + here] = after
        after = x


@cuda.jit(cache=True)
def solve(r, lines, at, a, one, v):
    lines = Along(*lines)
    wrap, first = lines.wrap, at + lines.first
    ends = cuda.shared.array(ENDS, r.dtype)
    n, m = r.shape
    line, width = cuda.threadIdx.x, cuda.blockDim.x
    piece, pieces = cuda.threadIdx.y, cuda.blockDim.y
    j = cuda.blockIdx.x * width + line
    here = piece * width + line
    cells = n - 1 if wrap else n
    begin = piece * cells // pieces
    end = (piece + 1) * cells // pieces
    before, after = one - one, one - one
    if pieces > 1 or wrap:
        if j < m and cells > 0:
            _piece(r, lines, first, a, one, begin, end, j, ends, here)
        cuda.syncthreads()
        if j < m and cells > 0 and piece == 0:
            _join(r, lines, first, a, one, j, ends, line, width, pieces)
        cuda.syncthreads()
        before, after = ends[here], ends[SIZE + here]
    if j < m:
        t = one
        d = before
        for i in range(begin, end):
            k, w, e, right = _row(r, lines, first, a, one, i, j)
            t = k + w * t
            scale = one / (t + e)
            d = (right + w * d) * scale
            t *= scale
            r[i, j] = d
            v[i, j] = t
        x = after
        for i in range(end - 1, begin - 1, -1):
            x = r[i, j] + (one - v[i, j]) * x
            r[i, j] = x
