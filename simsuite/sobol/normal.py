"""Standard normals from uniform numbers: the inverse of the normal distribution function.

z = sqrt(2) erfinv(2 u - 1) by polynomials in w = -log(4 u (1 - u)), and in sqrt(w) in the tails: M. B. Giles,
"Approximating the erfinv function", GPU Computing Gems, Jade Edition (Morgan Kaufmann 2011). His tail
for float32 ends before 32-bit numbers do; the one here interpolates at Chebyshev points in sqrt(w). One normal in 2000
(float64) or 300 (float32) lies in a tail, so neither the lanes of a vector nor those of a warp wait for each other
often; with M. J. Wichura's AS241 (Appl. Statist. 37, 1988), of the same accuracy, it would be one in seven.

Relative error below 1e-15 in float64 and 6e-7 in float32, there beside an absolute one of 1e-7. A number comes as 32
bits x of a Sobol point, which stand for u = (x + offset) / 2^32, and is looked at from the nearer end of [0, 1], so
that both tails are alike. Nothing is ever infinite: |z| < 8.3 with the offsets of `scrambling`, and |z| < 6.4 in
float32, where the offset is 1/2.

Scalars are plain arithmetic, so that a loop over what is not in a tail becomes vector instructions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, float64, int32, njit, uint32

from simsuite.elementary_functions import fma, log32, log64

_TOP = np.uint32(0x80000000)
_ROOT2 = math.sqrt(2.0)
_GROUP = 64  # how many numbers at a time are searched for those in tails
_TAIL_ENDS64 = np.uint32(2_073_811)  # the end of a tail in units of 2^-32, where w = 6.25
_TAIL_ENDS32 = np.uint32(7_247_044)  # the end of a tail in float32, where w = 5
_TAIL64 = np.array([
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
    1.5027403968909827627e-06, -4.013867526981545969e-06, 2.9234449089955446044e-06, 1.2475304481671778723e-05,
    -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066, -0.0037512085075692412107,
    0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635,
])  # fmt: skip
_FAR_TAIL64 = np.array([
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09, -3.7894654401267369937e-09,
    7.6157012080783393804e-09, -1.4960026627149240478e-08, 2.9147953450901080826e-08, -6.7711997758452339498e-08,
    2.2900482228026654717e-07, -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
    7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
    4.8499064014085844221,
])  # fmt: skip
_TAIL32 = np.array([
    3.5214292e-05, -3.823271e-06, -0.00029633232, 0.00064354116, -0.00084714463, 0.001278483, -0.0023671815,
    0.0037010077, 1.0069339, 3.2725382,
], np.float32)  # fmt: skip


@njit(error_model="numpy", forceinline=True)
def _centre64(p: Any, v: Any) -> Any:
    """z for u = 1/2 + p and v = u (1 - u), unless it is in a tail."""
    w = -log64(float64(4.0) * v) - float64(3.125)
    y = fma(w, float64(-3.6444120640178196996e-21), float64(-1.685059138182016589e-19))
    y = fma(y, w, float64(1.2858480715256400167e-18))
    y = fma(y, w, float64(1.115787767802518096e-17))
    y = fma(y, w, float64(-1.333171662854620906e-16))
    y = fma(y, w, float64(2.0972767875968561637e-17))
    y = fma(y, w, float64(6.6376381343583238325e-15))
    y = fma(y, w, float64(-4.0545662729752068639e-14))
    y = fma(y, w, float64(-8.1519341976054721522e-14))
    y = fma(y, w, float64(2.6335093153082322977e-12))
    y = fma(y, w, float64(-1.2975133253453532498e-11))
    y = fma(y, w, float64(-5.4154120542946279317e-11))
    y = fma(y, w, float64(1.051212273321532285e-09))
    y = fma(y, w, float64(-4.1126339803469836976e-09))
    y = fma(y, w, float64(-2.9070369957882005086e-08))
    y = fma(y, w, float64(4.2347877827932403518e-07))
    y = fma(y, w, float64(-1.3654692000834678645e-06))
    y = fma(y, w, float64(-1.3882523362786468719e-05))
    y = fma(y, w, float64(0.0001867342080340571352))
    y = fma(y, w, float64(-0.00074070253416626697512))
    y = fma(y, w, float64(-0.0060336708714301490533))
    y = fma(y, w, float64(0.24015818242558961693))
    y = fma(y, w, float64(1.6536545626831027356))
    return float64(2.0 * _ROOT2) * p * y


@njit(error_model="numpy", forceinline=True)
def _centre32(x: Any, v: Any) -> Any:
    """z in float32 for x = sqrt(2) (2 u - 1) and v = u (1 - u), unless it is in a tail."""
    w = -log32(float32(4.0) * v) - float32(2.5)
    y = fma(w, float32(2.81022636e-08), float32(3.43273939e-07))
    y = fma(y, w, float32(-3.5233877e-06))
    y = fma(y, w, float32(-4.39150654e-06))
    y = fma(y, w, float32(0.00021858087))
    y = fma(y, w, float32(-0.00125372503))
    y = fma(y, w, float32(-0.00417768164))
    y = fma(y, w, float32(0.246640727))
    y = fma(y, w, float32(1.50140941))
    return x * y


@njit(error_model="numpy", forceinline=True)
def _horner(coefficients: Any, x: Any) -> Any:
    y = coefficients[0]
    for k in range(1, len(coefficients)):
        y = fma(y, x, coefficients[k])
    return y


@njit(error_model="numpy", forceinline=True)
def _tail64(p: Any, v: Any) -> Any:
    s = math.sqrt(-log64(float64(4.0) * v))
    y = _horner(_TAIL64, s - float64(3.25)) if s < float64(4.0) else _horner(_FAR_TAIL64, s - float64(5.0))
    return float64(2.0 * _ROOT2) * p * y


@njit(error_model="numpy", forceinline=True)
def _tail32(x: Any, v: Any) -> Any:
    return x * _horner(_TAIL32, math.sqrt(-log32(float32(4.0) * v)) - float32(3.4375))


@njit(error_model="numpy", forceinline=True)
def _outside(x: Any, end: Any) -> Any:
    """Whether x is less than `end` from 0 or from 2^32."""
    return uint32(uint32(x) + end) < uint32(end + end)


@njit(error_model="numpy", forceinline=True)
def _from_middle64(x: Any, offset: Any) -> Any:
    """The pair (p, v): p = u - 1/2, exact to the bit, and v = u (1 - u). offset: in units of 2^-32."""
    p = (float64(int32(uint32(x) ^ _TOP)) + offset) * float64(2.0**-32)
    r = float64(0.5) - abs(p)
    return p, fma(-r, r, r)


@njit(error_model="numpy", forceinline=True)
def _from_middle32(x: Any) -> Any:
    """The pair (sqrt(2) (2 u - 1), u (1 - u))."""
    upper = uint32(x) >= _TOP
    r = fma(float32(int32(~uint32(x) if upper else uint32(x))), float32(2.0**-32), float32(2.0**-33))
    y = fma(r, float32(2.0 * _ROOT2), float32(-_ROOT2))
    return (-y if upper else y), fma(-r, r, r)


@njit(error_model="numpy", forceinline=True)
def inverse_normal64(x: Any, offset: Any) -> Any:
    """The standard normal below which a share of (x + offset) / 2^32 lies. x: uint32; offset: float64 in (0, 1)."""
    p, v = _from_middle64(x, offset)
    return _tail64(p, v) if _outside(x, _TAIL_ENDS64) else _centre64(p, v)


@njit(error_model="numpy", forceinline=True)
def inverse_normal32(x: Any) -> Any:
    """The standard normal below which a share of (x + 1/2) / 2^32 lies, in float32 arithmetic only."""
    y, v = _from_middle32(x)
    return _tail32(y, v) if _outside(x, _TAIL_ENDS32) else _centre32(y, v)


@njit(error_model="numpy")
def inverse_normals64(z: Any, bits: Any, offset: Any, n: Any) -> None:
    """z[:n] = the normals of bits[:n]."""
    for i in range(n):
        p, v = _from_middle64(bits[i], offset)
        z[i] = _centre64(p, v)
    for first in range(0, n, _GROUP):
        last, found = min(first + _GROUP, n), 0
        for i in range(first, last):
            found += _outside(bits[i], _TAIL_ENDS64)
        if found:
            for i in range(first, last):
                if _outside(bits[i], _TAIL_ENDS64):
                    z[i] = inverse_normal64(bits[i], offset)


@njit(error_model="numpy")
def inverse_normals32(z: Any, bits: Any, n: Any) -> None:
    """z[:n] = the normals of bits[:n], in float32 arithmetic only, for an offset of 1/2."""
    for i in range(n):
        y, v = _from_middle32(bits[i])
        z[i] = _centre32(y, v)
    for first in range(0, n, _GROUP):
        last, found = min(first + _GROUP, n), 0
        for i in range(first, last):
            found += _outside(bits[i], _TAIL_ENDS32)
        if found:
            for i in range(first, last):
                if _outside(bits[i], _TAIL_ENDS32):
                    z[i] = inverse_normal32(bits[i])
