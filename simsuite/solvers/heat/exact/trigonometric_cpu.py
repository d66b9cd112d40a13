"""Kernels around the Fourier transforms of `trigonometric` on the CPU.

Real arrays are (rows, n). Complex ones are (rows, h, 2), with real and imaginary part. Only some rows are worked on at
once: `first` is the number of row 0 in the whole array."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for

CHUNK = 1 << 17  # how many numbers are transformed together: with all intermediate results, they stay in the cache
LINE = 8  # how many numbers are written to a transposed array together, so that these fill whole lines of the cache


def tiles_of(rows: int, columns: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch; kernels cover all of it themselves."""
    return (columns, rows), (1, 1)


@parallel_for
def _move(begin, end, field, first, places, factors, out):
    for r in range(begin, end):
        for x in range(field.shape[1]):
            out[r, places[x]] = factors[x] * field[first + r, x]


@kernel
def move(field, first, places, factors, out):
    """out[r, places[x]] = factors[x] · field[first + r, x]"""
    _move(min(out.shape[0], field.shape[0] - first), (field, first, places, factors, out))


@parallel_for
def _pair(begin, end, field, first, places, factors, out):
    for r in range(begin, end):
        for k in range(out.shape[1]):
            a, b = field[first + r, places[0, k]], field[first + r, places[1, k]]
            out[r, k, 0] = factors[0, k] * a + factors[1, k] * b
            out[r, k, 1] = factors[2, k] * a + factors[3, k] * b


@kernel
def pair(field, first, places, factors, out):
    """out[r, k] = complex numbers, each of two of field[first + r]; see `trigonometric.Paired`."""
    _pair(min(out.shape[0], field.shape[0] - first), (field, first, places, factors, out))


@parallel_for
def _turn(begin, end, rows, places, factors, first, out):
    count = min(rows.shape[0], out.shape[1] - first)
    for line in range(begin, end):
        for x in range(rows.shape[1]):
            for r in range(line * LINE, min(line * LINE + LINE, count)):
                out[places[x], first + r] = factors[x] * rows[r, x]


@kernel
def turn(rows, places, factors, first, out):
    """out[places[x], first + r] = factors[x] · rows[r, x]"""
    count = min(rows.shape[0], out.shape[1] - first)
    _turn(-(-count // LINE), (rows, places, factors, first, out))


@parallel_for
def _unpair(begin, end, spectrum, places, factors, first, out):
    count = min(spectrum.shape[0], out.shape[1] - first)
    for line in range(begin, end):
        for k in range(spectrum.shape[1]):
            p, q = places[0, k], places[1, k]
            for r in range(line * LINE, min(line * LINE + LINE, count)):
                a, b = spectrum[r, k, 0], spectrum[r, k, 1]
                out[p, first + r] = factors[0, k] * a + factors[1, k] * b
                if q != p:
                    out[q, first + r] = factors[2, k] * a + factors[3, k] * b


@kernel
def unpair(spectrum, places, factors, first, out):
    """out[places[:, k], first + r] = the two numbers of spectrum[r, k]; see `trigonometric.Paired`."""
    count = min(spectrum.shape[0], out.shape[1] - first)
    _unpair(-(-count // LINE), (spectrum, places, factors, first, out))
