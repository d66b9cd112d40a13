"""Functions of other languages, and how expressions here say the same."""

from __future__ import annotations

WHERE = "write `where(condition, value, other value)`, or `value if condition else other value`"

# How a function of a, b, c .. is written here, by its name in small letters. `fmod` and `rem` are the same for numbers
# that are not negative; `%` has the sign of b.
TRANSLATIONS = {
    **dict.fromkeys(("mod", "fmod", "modulo", "rem", "remainder"), "a % b"),
    **dict.fromkeys(("pow", "power"), "a ** b"),
    **dict.fromkeys(("div", "floordiv", "floor_divide", "idiv"), "a // b"),
    **dict.fromkeys(("ln", "loge"), "log(a)"),
    "log2": "log(a)/log(2)",
    "log1p": "log(1 + a)",
    "exp2": "2 ** a",
    "expm1": "exp(a) - 1",
    **dict.fromkeys(("heaviside", "unitstep", "unit_step", "stepfun"), "step(a)"),
    **dict.fromkeys(("if", "iif", "ifelse", "if_else", "cond", "ternary", "select"), "where(a, b, c)"),
    **dict.fromkeys(("clip", "clamp"), "min(max(a, b), c)"),
    **dict.fromkeys(("square", "sqr", "sq"), "a ** 2"),
    "cbrt": "sign(a)*abs(a) ** (1/3)",
    **dict.fromkeys(("round", "rint", "nint"), "floor(a + 0.5)"),
    **dict.fromkeys(("int", "trunc", "fix"), "sign(a)*floor(abs(a))"),
    **dict.fromkeys(("frac", "fract"), "a - floor(a)"),
    "fabs": "abs(a)",
    "sgn": "sign(a)",
    **dict.fromkeys(("maximum", "fmax"), "max(a, b)"),
    **dict.fromkeys(("minimum", "fmin"), "min(a, b)"),
    "arcsin": "asin(a)",
    "arccos": "acos(a)",
    "arctan": "atan(a)",
    "arctan2": "atan2(a, b)",
    **dict.fromkeys(("asinh", "arcsinh"), "sign(a)*log(abs(a) + sqrt(a**2 + 1))"),
    **dict.fromkeys(("acosh", "arccosh"), "log(a + sqrt(a**2 - 1))"),
    **dict.fromkeys(("atanh", "arctanh"), "log((1 + a)/(1 - a))/2"),
    "sec": "1/cos(a)",
    "csc": "1/sin(a)",
    "cot": "1/tan(a)",
    "sind": "sin(a*pi/180)",
    "cosd": "cos(a*pi/180)",
    "tand": "tan(a*pi/180)",
    **dict.fromkeys(("radians", "deg2rad"), "a*pi/180"),
    **dict.fromkeys(("degrees", "rad2deg"), "a*180/pi"),
    **dict.fromkeys(("sigmoid", "expit", "logistic"), "1/(1 + exp(-a))"),
}

SQUARE_WAVE = ", or a square wave of period 1 as `((t % 1) < 0.5)`"
_BETWEEN = "multiply comparisons, which are 1 where they hold and 0 elsewhere: `(t > 1)*(t < 2)`"
_TABLE = "join lines by conditions, as in `where(t < 10, 2*t, 20)`"
# What to answer to functions that no single formula stands for.
ANSWERS = {
    **dict.fromkeys(("rect", "box", "boxcar", "pulse", "window", "indicator"), _BETWEEN),
    **dict.fromkeys(("piecewise", "switch", "case", "then"), WHERE),
    **dict.fromkeys(("interp", "interp1", "interp1d", "lookup", "table", "spline"), _TABLE),
    **dict.fromkeys(("gauss", "gaussian", "normal"), "write `exp(-((x - 0.5)/0.1)**2)`, for a peak at x = 0.5"),
    **dict.fromkeys(("sawtooth", "saw"), "write `(t/10) % 1`, for a period of 10"),
    **dict.fromkeys(("dirac", "delta"), "give a pulse of some length: `(t < 0.01)/0.01` has the integral 1"),
    **dict.fromkeys(("rand", "random", "randn", "noise"), "an expression has the same value in every run"),
}
