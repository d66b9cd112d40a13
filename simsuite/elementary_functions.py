"""Logarithm and exponential in plain arithmetic: no call, no branch and no table, so loops over them are vectorised.

`math.log` and `math.exp` are calls of the C library on a CPU, one number at a time, and other functions again on a GPU.
These are the same few operations everywhere, in the precision in their name and in integers of its width:

- log: u = 2^k m, m in [sqrt(1/2), sqrt(2)), by the bits of u, f = m - 1, then log u = k log 2 + f - f^2/2 + f^3 P(f).
- exp: x = k log 2 + r, |r| <= log(2)/2 and a little, k by adding and subtracting a number so large that its last bit is
  1, then e^x = 2^k (1 + r + r^2 Q(r)), with 2^k in two factors, so that it may leave the range of the format.
- log1p: the logarithm of the rounded w = 1 + u, and what rounding left of u by w, for which it divides.

Argument reduction and the order of summation, which keep rounding small, are those of fdlibm (Sun Microsystems 1993,
e_log.c and e_exp.c: log 2 in two parts, the first of which gives exact products) and, for float32, of Cephes
(S. L. Moshier, logf.c and expf.c). P and Q are the polynomials of least greatest relative error in the result, found by
Remez' exchange algorithm in 50 digits, in place of fdlibm's rational functions: no division. Degree, and error before
rounding in units in the last place: P 18, 0.04 (float32: 7, 0.07), Q 9, 0.02 (float32: 4, 0.03).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, njit
from numba.extending import intrinsic


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once; for three numbers of one type.

    Kernels call it by name because a compiler that may fuse operations where it likes does so differently in the body
    of a vectorised loop and in its remainder: a result would then depend on its place in the array. It is one
    instruction on every GPU and on CPUs since 2013 (Haswell, Zen, 64-bit ARM) and a slow call on older ones.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, a, a), generate


@njit(error_model="numpy", forceinline=True)
def log64(u: Any) -> Any:
    """log u for normal positive finite float64 u, to 1 unit in the last place; log 1 = 0. Undefined for any other u."""
    # the exponent of i is that of u / m, its mantissa how far m is above sqrt(1/2)
    i = np.float64(u).view(np.int64) + int64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
    m = np.int64((i & int64(0x000FFFFFFFFFFFFF)) + int64(0x3FE6A09E667F3BCD)).view(np.float64)
    k = np.int64((i >> int64(52)) | int64(0x4330000000000000)).view(np.float64) - float64(2.0**52 + 1023.0)
    f = m - float64(1.0)
    q = f * f
    a = fma(q, float64(0.02615095837047476), float64(0.06503483408598726))
    b = fma(q, float64(-0.05981698539768861), float64(-0.056777835940378704))
    a = fma(a, q, float64(0.05668380538365741))
    b = fma(b, q, float64(-0.061966792051208586))
    a = fma(a, q, float64(0.0668458867871791))
    b = fma(b, q, float64(-0.07149439347024351))
    a = fma(a, q, float64(0.07691529851853904))
    b = fma(b, q, float64(-0.08332913556506544))
    a = fma(a, q, float64(0.0909092393067314))
    b = fma(b, q, float64(-0.10000015205462125))
    a = fma(a, q, float64(0.11111111147480922))
    b = fma(b, q, float64(-0.12499999691463987))
    a = fma(a, q, float64(0.14285714280093395))
    b = fma(b, q, float64(-0.16666666669825622))
    a = fma(a, q, float64(0.20000000000066603))
    b = fma(b, q, float64(-0.24999999999987976))
    a = fma(a, q, float64(0.3333333333333314))
    small = fma(q * f, fma(b, f, a), k * float64(1.90821492927058770002e-10))
    return fma(k, float64(6.93147180369123816490e-01), f + fma(f * float64(-0.5), f, small))


@njit(error_model="numpy", forceinline=True)
def exp64(x: Any) -> Any:
    """e^x for every float64 x, to 1 unit in the last place: subnormal, 0 or infinite where e^x is; NaN for NaN."""
    x = float64(x)
    x = float64(710.0) if x > float64(710.0) else x
    x = float64(-746.0) if x < float64(-746.0) else x
    t = fma(x, float64(1.44269504088896338700), float64(1.5 * 2.0**52 + 2046.0))
    k = t - float64(1.5 * 2.0**52 + 2046.0)
    r = fma(k, float64(-6.93147180369123816490e-01), x)
    r = fma(k, float64(-1.90821492927058770002e-10), r)
    y = fma(r, float64(2.5001313822760855e-08), float64(2.7630295558625245e-07))
    y = fma(y, r, float64(2.7557582981595497e-06))
    y = fma(y, r, float64(2.4801492975212066e-05))
    y = fma(y, r, float64(0.00019841269509745515))
    y = fma(y, r, float64(0.0013888888943740354))
    y = fma(y, r, float64(0.008333333333493289))
    y = fma(y, r, float64(0.04166666666652978))
    y = fma(y, r, float64(0.16666666666666413))
    y = fma(y, r, float64(0.5000000000000011))
    y = fma(fma(y, r, float64(1.0)), r, float64(1.0))
    i = np.float64(t).view(np.int64)  # its last bits are k + 2046, the sum of the exponents of both factors
    both = i << int64(52)
    first = (i << int64(51)) & int64(0x7FF0000000000000)
    return y * np.int64(first).view(np.float64) * np.int64(both - first).view(np.float64)


@njit(error_model="numpy", forceinline=True)
def log32(u: Any) -> Any:
    """log u for normal positive finite float32 u, to 1 unit in the last place; log 1 = 0. Undefined for any other u."""
    i = int32(np.float32(u).view(np.int32) + int32(0x3F800000 - 0x3F3504F3))
    m = np.int32(int32(i & int32(0x007FFFFF)) + int32(0x3F3504F3)).view(np.float32)
    k = np.int32(int32(i >> int32(23)) | int32(0x4B000000)).view(np.float32) - float32(2.0**23 + 127.0)
    f = m - float32(1.0)
    q = f * f
    a = fma(q, float32(0.12761736), float32(0.1420173))
    b = fma(q, float32(-0.07634766), float32(-0.13160151))
    a = fma(a, q, float32(0.20001228))
    b = fma(b, q, float32(-0.16623358))
    a = fma(a, q, float32(0.3333333))
    b = fma(b, q, float32(-0.25000823))
    small = fma(q * f, fma(b, f, a), k * float32(-2.12194440e-4))
    return fma(k, float32(0.693359375), f + fma(f * float32(-0.5), f, small))


@njit(error_model="numpy", forceinline=True)
def exp32(x: Any) -> Any:
    """e^x for every float32 x, to 1 unit in the last place: subnormal, 0 or infinite where e^x is; NaN for NaN."""
    x = float32(x)
    x = float32(90.0) if x > float32(90.0) else x
    x = float32(-105.0) if x < float32(-105.0) else x
    t = fma(x, float32(1.44269504088896338700), float32(1.5 * 2.0**23 + 254.0))
    k = t - float32(1.5 * 2.0**23 + 254.0)
    r = fma(k, float32(-0.693359375), x)
    r = fma(k, float32(2.12194440e-4), r)
    y = fma(r, float32(0.0013815302), float32(0.008368737))
    y = fma(y, r, float32(0.04166838))
    y = fma(y, r, float32(0.16666521))
    y = fma(y, r, float32(0.49999994))
    y = fma(fma(y, r, float32(1.0)), r, float32(1.0))
    i = np.float32(t).view(np.int32)
    both = int32(i << int32(23))
    first = int32(int32(i << int32(22)) & int32(0x7F800000))
    return y * np.int32(first).view(np.float32) * np.int32(both - first).view(np.float32)


@njit(error_model="numpy", forceinline=True)
def log1p64(u: Any) -> Any:
    """log(1 + u) for float64 -1 < u < 2^1000, to 2 units in the last place: what rounding 1 + u lost is corrected
    for."""
    w = float64(1.0) + u
    return log64(w) + (u - (w - float64(1.0))) / w


@njit(error_model="numpy", forceinline=True)
def log1p32(u: Any) -> Any:
    """log(1 + u) for float32 -1 < u < 2^120, to 2 units in the last place."""
    w = float32(1.0) + u
    return log32(w) + (u - (w - float32(1.0))) / w
