"""Exact sampling on a GPU: one thread a path, the whole stretch of steps in registers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float32, float64, uint64

from simsuite.rng import NORMALS_PER_BLOCK, fill_normals32, fill_normals64


def make_advance(n_assets: int, functionals: tuple[tuple[int, bool], ...], dtype: Any) -> Any:
    """The kernel for so many assets and (asset, arithmetic) functionals; see `exact.py` for its arguments.

    Loops over assets and functionals have constant bounds, are unrolled, and leave nothing but registers.
    """
    N, F = n_assets, max(len(functionals), 1)
    HAS_SUMS = len(functionals) > 0
    ASSET = tuple(a for a, _ in functionals) or (0,)
    ARITHMETIC = tuple(arithmetic for _, arithmetic in functionals) or (False,)
    PER_BLOCK = NORMALS_PER_BLOCK[np.dtype(dtype)]
    SHIFT = PER_BLOCK.bit_length() - 1
    single = np.dtype(dtype) == np.float32
    real = float32 if single else float64
    fill = fill_normals32 if single else fill_normals64

    @cuda.jit
    def advance(x, sums, n, first_path, begin, end, seed, antithetic, drift, mix, due):
        i = cuda.grid(1)
        if i < n:
            y = cuda.local.array(N, real)
            s = cuda.local.array(F, real)
            z = cuda.local.array((N, PER_BLOCK), real)
            stream = first_path + i
            sign = real(1)
            if antithetic:
                if stream & 1:
                    sign = real(-1)
                stream >>= 1
            for a in range(N):
                y[a] = x[a, i] if begin > 0 else real(0)
            for f in range(F):
                s[f] = sums[f, i] if HAS_SUMS and begin > 0 else real(0)
            for block in range(begin >> SHIFT, (end + PER_BLOCK - 1) >> SHIFT):
                for a in range(N):
                    fill(z, a, block, a, stream, uint64(seed))
                for j in range(PER_BLOCK):
                    k = (block << SHIFT) + j
                    if k >= begin and k < end:
                        for a in range(N):
                            dw = mix[a, 0] * z[0, j]
                            for b in range(1, a + 1):
                                dw += mix[a, b] * z[b, j]
                            y[a] += sign * dw + drift[a]
                        if HAS_SUMS:
                            for f in range(F):
                                if due[k, f]:
                                    s[f] += math.exp(y[ASSET[f]]) if ARITHMETIC[f] else y[ASSET[f]]
            for a in range(N):
                x[a, i] = y[a]
            if HAS_SUMS:
                for f in range(F):
                    sums[f, i] = s[f]

    return advance
