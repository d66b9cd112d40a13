"""Counter-based random numbers: Philox4x32-10 and standard normals, the same on CPU, GPU and in the CUDA simulator.

Philox (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11) turns a 128-bit counter and
a 64-bit key into four random 32-bit words, with no state in between. Here the counter is (block of steps, stream, path
low, path high) and the key is the seed, so a number is a function of (seed, path, step, stream) only: nothing to save
in a checkpoint, and the same paths for every block size, batch size, thread count and kind of device. A solver takes
one stream per source of randomness (one per asset).

Normals come in pairs (r cos, r sin) by Box-Muller, G. E. P. Box and M. E. Muller, Ann. Math. Statist. 29 (1958). The
angle is a number of quarter turns plus a remainder in [-pi/4, pi/4), where short polynomials give sine and cosine to
the last bit but one:

- float64: 2 normals per block. The radius has 53 bits, hence |z| <= 8.65 (a 32-bit radius would end at 6.76).
- float32: 4 normals per block, in float32 arithmetic only: 32-bit radius, |z| <= 6.76, and P(|z| > 6.76) = 1.4e-11.

All functions are plain scalar arithmetic under `numba.njit`, inlined where they are called: a loop over paths is
vectorised as a whole, and CUDA kernels can call them as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, njit, uint32, uint64

from simsuite.elementary_functions import fma, log32, log64

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


@njit(error_model="numpy", forceinline=True)
def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Four uint32 words for a counter of four and a key of two uint32 words.

    All arithmetic is in uint64, and upper halves are masked off where they would matter: a product of 32 by 32 bits is
    then one instruction for a whole vector, and words need no packing between the rounds.
    """
    c0, c1, c2, c3, k0, k1 = uint64(c0), uint64(c1), uint64(c2), uint64(c3), uint64(k0), uint64(k1)
    for _ in range(_ROUNDS):
        p0 = (c0 & _LOW) * _M0
        p1 = (c2 & _LOW) * _M1
        c0 = (p1 >> _HALF) ^ c1 ^ k0
        c1 = p1
        c2 = (p0 >> _HALF) ^ c3 ^ k1
        c3 = p0
        k0 = k0 + _W0
        k1 = k1 + _W1
    return uint32(c0), uint32(c1), uint32(c2), uint32(c3)


@njit(error_model="numpy", forceinline=True)
def radius64(high: Any, low: Any) -> Any:
    """sqrt(-2 log u), u the 53-bit uniform number in (0, 1] made of two words."""
    bits = ((uint64(high) << uint64(32)) | uint64(low)) >> uint64(11)
    u = fma(float64(bits), float64(2.0**-53), float64(2.0**-54))
    return math.sqrt(float64(-2.0) * log64(u))


@njit(error_model="numpy", forceinline=True)
def direction64(high: Any, low: Any) -> Any:
    """A uniform point (x, y) on the unit circle; polynomials of fdlibm's k_sin.c and k_cos.c."""
    bits = int64((uint64(high) << uint64(32)) | uint64(low))
    quarter = (bits + int64(2**61)) >> int64(62)
    t = float64(bits - (quarter << int64(62))) * float64(math.pi * 2.0**-63)
    q = t * t
    s = fma(q, float64(1.58969099521155010221e-10), float64(-2.50507602534068634195e-08))
    s = fma(s, q, float64(2.75573137070700676789e-06))
    s = fma(s, q, float64(-1.98412698298579493134e-04))
    s = fma(s, q, float64(8.33333333332248946124e-03))
    s = fma(s, q, float64(-1.66666666666666324348e-01))
    s = fma(s, q * t, t)
    c = fma(q, float64(-1.13596475577881948265e-11), float64(2.08757232129817482790e-09))
    c = fma(c, q, float64(-2.75573143513906633035e-07))
    c = fma(c, q, float64(2.48015872894767294178e-05))
    c = fma(c, q, float64(-1.38888888888741095749e-03))
    c = fma(c, q, float64(4.16666666666666019037e-02))
    c = fma(c, q * q, fma(q, float64(-0.5), float64(1.0)))
    swap = (quarter & int64(1)) != 0
    sign = (quarter & int64(2)) << int64(62)
    x = np.float64(-s if swap else c).view(np.int64) ^ sign
    y = np.float64(c if swap else s).view(np.int64) ^ sign
    return np.int64(x).view(np.float64), np.int64(y).view(np.float64)


@njit(error_model="numpy", forceinline=True)
def radius32(word: Any) -> Any:
    """sqrt(-2 log u), u a 32-bit uniform number in (0, 1], rounded to float32. It is finely spaced near 0, where the
    tail of the normal distribution comes from."""
    u = fma(float32(uint32(word)), float32(2.0**-32), float32(2.0**-33))
    return math.sqrt(float32(-2.0) * log32(u))


@njit(error_model="numpy", forceinline=True)
def direction32(word: Any) -> Any:
    """A uniform point (x, y) on the unit circle; polynomials of Cephes' sinf.c."""
    bits = int32(uint32(word))
    quarter = int32(int32(bits + int32(2**29)) >> int32(30))
    t = float32(int32(bits - int32(quarter << int32(30)))) * float32(math.pi * 2.0**-31)
    q = t * t
    s = fma(q, float32(-1.9515295891e-4), float32(8.3321608736e-3))
    s = fma(s, q, float32(-1.6666654611e-1))
    s = fma(s, q * t, t)
    c = fma(q, float32(2.443315711809948e-5), float32(-1.388731625493765e-3))
    c = fma(c, q, float32(4.166664568298827e-2))
    c = fma(c, q * q, fma(q, float32(-0.5), float32(1.0)))
    swap = int32(quarter & int32(1)) != 0
    sign = int32(int32(quarter & int32(2)) << int32(30))
    x = int32(np.float32(-s if swap else c).view(np.int32) ^ sign)
    y = int32(np.float32(c if swap else s).view(np.int32) ^ sign)
    return np.int32(x).view(np.float32), np.int32(y).view(np.float32)


@njit(error_model="numpy", forceinline=True)
def words(block: Any, stream: Any, path: Any, seed: Any) -> Any:
    """The four random words of one block of one stream of one path. seed: uint64; path, block: non-negative
    integers."""
    p, s = uint64(path), uint64(seed)
    return philox4x32(block, stream, p, p >> uint64(32), s, s >> uint64(32))


@njit(error_model="numpy", forceinline=True)
def fill_normals64(z: Any, row: Any, block: Any, stream: Any, path: Any, seed: Any) -> None:
    """z[row, :2] = the float64 normals of this block; in a CUDA kernel z has to be a local array."""
    w0, w1, w2, w3 = words(block, stream, path, seed)
    r = radius64(w0, w1)
    x, y = direction64(w2, w3)
    z[row, 0] = r * x
    z[row, 1] = r * y


@njit(error_model="numpy", forceinline=True)
def fill_normals32(z: Any, row: Any, block: Any, stream: Any, path: Any, seed: Any) -> None:
    """z[row, :4] = the float32 normals of this block; in a CUDA kernel z has to be a local array."""
    w0, w1, w2, w3 = words(block, stream, path, seed)
    r = radius32(w0)
    x, y = direction32(w1)
    z[row, 0] = r * x
    z[row, 1] = r * y
    r = radius32(w2)
    x, y = direction32(w3)
    z[row, 2] = r * x
    z[row, 3] = r * y
