"""The end of an explicit step on a GPU, plain or compensated. See `compensated` for the scheme.

T and out are temperatures (ny, nx), or those and what rounding has lost of them (2, ny, nx). Numba knows which of the
two it is when it compiles, so that the compiled code does not contain the branch for the other one."""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def lost(T, y, x):
    """What rounding has lost of a temperature; any number where steps are plain."""
    if T.ndim == 3:
        return T[1, y, x]
    return T[y, x]


@cuda.jit(device=True)
def stepped(T, c, low, r, total):
    """The new temperature c + r·total of a cell, and what rounding loses of it. In compensated steps what was lost
    before, `low`, is added too."""
    if T.ndim == 3:
        rise = low + r * total
        v = c + rise
        return v, rise - (v - c)
    return c + r * total, low


@cuda.jit(device=True)
def store(out, y, x, v, low):
    """Stores the temperature v of a cell in `out`, and what rounding has lost of it, `low`."""
    if out.ndim == 3:
        out[0, y, x] = v
        out[1, y, x] = low
    else:
        out[y, x] = v


@cuda.jit(device=True)
def settle(T, out, y, x, c, r, total):
    """Takes the step of a cell of temperature c, from T to out."""
    v, low = stepped(T, c, lost(T, y, x), r, total)
    store(out, y, x, v, low)
