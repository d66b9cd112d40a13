"""The cases that the heat solver is verified on, as data: materials, edges, solutions.

The domain is 1 m × 0.75 m, so that x and y cannot be mixed up; temperatures are about 300 K and conductivities about
1 W/(m·K), so that radiation matters; ρc is about 1 J/(m³·K), so that a tenth of a second is long.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.solvers.heat.steppers import stepper_record

LX, LY = 1.0, 0.75
END = 0.1  # s

KINDS = ("temperature", "flux", "insulated", "convection", "radiation", "periodic")
LINEAR_KINDS = ("temperature", "flux", "insulated", "convection", "periodic")

MATERIALS: Mapping[str, Mapping[str, Any]] = {  # all of these are periodic in space, as periodic edges need that
    "constant": {"conductivity": 1.3, "density": 1.1, "specific_heat": 0.9},
    "variable": {
        "conductivity": "1 + 0.3*sin(2*pi*x + 0.7)*cos(2*pi*y/0.75)",
        "density": "1 + 0.2*cos(2*pi*x + 0.5)",
        "specific_heat": "1 + 0.2*sin(2*pi*y/0.75)",
    },
    "orthotropic": {
        "conductivity": ["1 + 0.3*sin(2*pi*x + 0.7)", "0.6 + 0.2*cos(2*pi*y/0.75 + 0.4)"],
        "density": "1 + 0.2*cos(2*pi*x + 0.5)",
        "specific_heat": 1.0,
    },
}

# ---- order in space: solutions T(x, y, t) from which source and edge values are derived

_SMOOTH = "300 + 40*sin(1.5*x + 0.6)*cos(1.8*y - 0.5)*(1 + 0.4*sin(4*t))"
SOLUTIONS: Mapping[str, str] = {
    "temperature": _SMOOTH,
    "flux": _SMOOTH,
    "convection": _SMOOTH,
    "radiation": _SMOOTH,
    "insulated": "300 + 40*cos(pi*x)*cos(pi*y/0.75)*(1 + 0.4*sin(4*t))",  # this solution has no slope at the edges
    "periodic": "300 + 40*sin(2*pi*x + 0.3)*cos(2*pi*y/0.75 + 0.2)*(1 + 0.4*sin(4*t))",
}
DERIVED: Mapping[str, Mapping[str, Any]] = {  # data of the edges that do not follow from the solution
    "temperature": {},
    "flux": {},
    "insulated": {},
    "convection": {"h": "4 + 2*x + y + sin(5*t)"},
    "radiation": {"emissivity": "0.7 + 0.2*x*y"},
    "periodic": {},
}

# ---- order in time: edges that move; the only known solution is that of the equations discretised in space

_WAVE = "300 + 20*sin(3*x + 2*y + 15*t)"
MOVING: Mapping[str, Mapping[str, Any]] = {
    "temperature": {"value": _WAVE},
    "flux": {"value": "60*sin(3*x + 2*y + 15*t)"},
    "insulated": {},
    "convection": {"h": "4 + 2*x + y + sin(12*t)", "ambient": _WAVE},
    "radiation": {"emissivity": "0.7 + 0.2*x*y", "ambient": "400 + 60*sin(3*x + 2*y + 15*t)"},
    "periodic": {},
}
START = "300 + 15*cos(2*pi*x)*cos(2*pi*y/0.75)"
HEATING = "500*sin(3*x - 2*y + 18*t) - 0.5*(T - 300)"
CHANGES = (0.013, 0.031, 0.077)  # s: the times at which `switched` data change

# ---- exact in time: constant coefficients, and data that do not move

STEADY_MATERIALS: Mapping[str, Mapping[str, Any]] = {
    "constant": MATERIALS["constant"],
    "orthotropic": {"conductivity": [1.3, 0.8], "density": 1.1, "specific_heat": 0.9},
}
STEADY: Mapping[str, Mapping[str, Any]] = {
    "temperature": {"value": "300 + 20*sin(3*x + 2*y)"},
    "flux": {"value": "60*sin(3*x + 2*y)"},
    "insulated": {},
    "convection": {"h": 4.0, "ambient": "300 + 20*sin(3*x + 2*y)"},
    "periodic": {},
}
STEADY_HEATING = "500*sin(3*x - 2*y)"
EXACT_END = 0.02  # s: the slowest mode has then decayed to about half


def plate(nx: int, ny: int, **sections: Any) -> dict[str, Any]:
    """A scenario of that many cells, with one frame at its start and one at its end."""
    return {
        "solver": "heat",
        "grid": {"nx": nx, "ny": ny, "lx": LX, "ly": LY},
        "output": {"frames": 2},
        **sections,
    }


def all_edges(kind: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """`[boundary]` with every edge of one kind."""
    return {edge: {"kind": kind, **keys} for edge in ("left", "right", "bottom", "top")}


def manufactured(kind: str, material: str, n: int, time: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario on n × n cells whose solution is `SOLUTIONS[kind]`."""
    return plate(
        n,
        n,
        material=MATERIALS[material],
        boundary=all_edges(kind, DERIVED[kind]),
        reference={"temperature": SOLUTIONS[kind], "manufactured": True},
        time={"end": END, **time},
    )


def moving(kind: str, material: str, time: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario on a small grid with edges and a source that vary in space and time."""
    return plate(
        8,
        6,
        material=MATERIALS[material],
        initial={"temperature": START},
        boundary=all_edges(kind, MOVING[kind]),
        source=[{"power": HEATING}],
        time={"end": END, **time},
    )


def switched(kind: str, material: str, time: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of `moving` with a source that is switched on and off, one that pulses and one that ramps, at
    CHANGES."""
    on, off, up = CHANGES
    return moving(kind, material, time) | {
        "source": [
            {"power": HEATING},
            {"power": f"where(t >= {on}, where(t < {off}, 3000*x*y, 0), 0)"},
            {"power": f"2000*min(t/{up}, 1)*(1 - x)"},
        ]
    }


def steady(kind: str, material: str, time: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario on a small grid with constant coefficients, and edges and a source that vary in space alone."""
    return plate(
        8,
        6,
        material=STEADY_MATERIALS[material],
        initial={"temperature": START},
        boundary=all_edges(kind, STEADY[kind]),
        source=[{"power": STEADY_HEATING}],
        time={"end": END, **time},
    )


def daily(stepper: str) -> tuple[dict[str, Any], float, float]:
    """A copper strip whose left edge follows the daily temperature, T = T₀ + A sin(ωt), for ten days; a time at which
    it is looked at; and the temperature of its last cell then, when the initial state has no effect any more,

        T₀ + A Im(exp(iωt) cosh(k d) / cosh(k L)),   k = √(iω/α),

    where d is the distance to the right edge, which is insulated (Carslaw & Jaeger, Conduction of Heat in Solids,
    section 3.6). Steps that follow the day are thousands of times as long as heat needs to cross the strip."""
    n, length, day = 16, 0.1, 86400.0
    copper = {"conductivity": 400.0, "density": 8960.0, "specific_heat": 385.0}
    alpha = copper["conductivity"] / (copper["density"] * copper["specific_heat"])
    omega, end = 2 * math.pi / day, 10.25 * day
    k = cmath.sqrt(1j * omega / alpha)
    wave = cmath.exp(1j * omega * end) * cmath.cosh(k * 0.5 * length / n) / cmath.cosh(k * length)
    scenario = {
        "solver": "heat",
        "grid": {"nx": n, "ny": 3, "lx": length, "ly": 0.02},
        "material": copper,
        "initial": {"temperature": 300.0},
        "boundary": {"left": {"kind": "temperature", "value": f"300 + 20*sin({omega!r}*t)"}},
        "time": {"end": end, "stepper": stepper, "tolerance": 1e-4},
        "output": {"frames": 2},
    }
    return scenario, end, 300.0 + 20.0 * wave.imag


def closed_form(kind: str, material: str, n: int, time: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario with constant coefficients on n × n cells whose solution is a steady field and a wave that decays,

        T = S(x, y) + 15 exp(-λt) X(x) Y(y),   λ = (kx κx² + ky κy²)/(ρc),

    with the slowest X, Y that the edges allow, and the source and edge values that S needs.
    """
    given = STEADY_MATERIALS[material]["conductivity"]
    kx, ky = given if isinstance(given, list) else (given, given)
    S, S_x, S_y, q = _steady_field(kind, kx, ky)
    (X, ax), (Y, ay) = _wave(kind, "x", LX), _wave(kind, "y", LY)
    decay = (kx * ax**2 + ky * ay**2) / (1.1 * 0.9)
    inwards = {"left": f"-{kx}*({S_x})", "right": f"{kx}*({S_x})", "bottom": f"-{ky}*({S_y})", "top": f"{ky}*({S_y})"}
    boundary = {}
    for edge, flux in inwards.items():
        h = kx * ax * math.tan(ax * LX / 2) if edge in ("left", "right") else ky * ay * math.tan(ay * LY / 2)
        boundary[edge] = {
            "temperature": {"kind": kind, "value": S},
            "flux": {"kind": kind, "value": flux},
            "convection": {"kind": kind, "h": h, "ambient": f"{S} + ({flux})/{h!r}"},
        }.get(kind, {"kind": kind})
    return plate(
        n,
        n,
        material=STEADY_MATERIALS[material],
        initial={"temperature": f"{S} + 15*{X}*{Y}"},
        boundary=boundary,
        source=[{"power": q}],
        reference={"temperature": f"{S} + 15*exp(-{decay!r}*t)*{X}*{Y}"},
        time={"end": EXACT_END, **time},
    )


def _steady_field(kind: str, kx: float, ky: float) -> tuple[str, str, str, str]:
    """S, ∂S/∂x, ∂S/∂y and the source for which S is steady."""
    if kind == "insulated":
        ax, ay = 2 * math.pi / LX, 2 * math.pi / LY
        S = f"10*cos({ax!r}*x)*cos({ay!r}*y)"
        return f"300 + {S}", "0", "0", f"{kx * ax**2 + ky * ay**2!r}*{S}"
    if kind == "periodic":
        a = 2 * math.pi / LX
        return f"300 + 20*sin({a!r}*x)", "0", "0", f"{20 * kx * a**2!r}*sin({a!r}*x)"
    angle, q = "(3*x + 2*y + 0.4)", 20 * (9 * kx + 4 * ky)
    return f"300 + 20*sin{angle}", f"60*cos{angle}", f"40*cos{angle}", f"{q!r}*sin{angle}"


def _wave(kind: str, axis: str, length: float) -> tuple[str, float]:
    """The slowest wave along an axis that the edges allow, and its wave number."""
    if kind == "temperature":
        a = math.pi / length
        return f"sin({a!r}*{axis})", a
    if kind == "convection":  # this wave is symmetric, with h = k a tan(a length/2) at both ends
        a = math.pi / 2 / length
        return f"cos({a!r}*({axis} - {length / 2!r}))", a
    a = (2 if kind == "periodic" else 1) * math.pi / length
    return f"cos({a!r}*{axis})", a


# ---- everything at once

EVERYTHING: Mapping[str, Any] = {
    "material": {
        "conductivity": ["1 + 0.3*sin(2*pi*x + 0.7)", "0.8 + 0.2*cos(2*pi*y/0.75)"],
        "density": "1 + 0.2*cos(2*pi*x)",
        "specific_heat": 1.1,
    },
    "region": [
        {"shape": "circle", "center": [0.3, 0.3], "radius": 0.15, "conductivity": 3.0, "density": 2.0},
        {"shape": "rectangle", "x": [0.6, 0.8], "y": [0.35, 0.55], "temperature": 350.0},
        {"shape": "polygon", "points": [[0.1, 0.6], [0.4, 0.6], [0.25, 0.72]], "conductivity": 0.2},
    ],
    "initial": {"temperature": START},
    "boundary": {
        "left": [
            {"kind": "temperature", "value": _WAVE, "to": 0.3},
            {"kind": "convection", "h": "4 + sin(12*t)", "ambient": 310.0, "from": 0.3},
        ],
        "right": {"kind": "radiation", "emissivity": 0.8, "ambient": "400 + 60*sin(9*t)"},
        "bottom": [
            {"kind": "flux", "value": "60*sin(3*x + 15*t)", "to": 0.5},
            {"kind": "insulated", "from": 0.5, "to": 0.7},
            {"kind": "temperature", "value": 320.0, "from": 0.7},
        ],
        "top": {"kind": "convection", "h": 5.0, "ambient": _WAVE},
    },
    "source": [
        {"name": "static", "power": "300*x*y"},
        {"name": "moving", "power": "2000*exp(-((x - 0.2 - 4*t)**2 + (y - 0.4)**2)/0.02)"},
        {"name": "reaction", "power": "-0.5*(T - 300)"},
    ],
}
ROUND: Mapping[str, Any] = {
    **EVERYTHING,
    "boundary": {
        "left": {"kind": "periodic"},
        "right": {"kind": "periodic"},
        "bottom": EVERYTHING["boundary"]["bottom"],
        "top": EVERYTHING["boundary"]["right"],
    },
}
STILL: Mapping[str, Any] = {  # the part of it that `exact` can do
    "material": STEADY_MATERIALS["orthotropic"],
    "initial": {"temperature": START},
    "boundary": {
        "left": {"kind": "temperature", "value": "300 + 20*sin(3*y)"},
        "right": {"kind": "convection", "h": 4.0, "ambient": "310 + 20*y"},
        "bottom": {"kind": "flux", "value": "60*sin(3*x)"},
        "top": {"kind": "insulated"},
    },
    "source": [{"name": "static", "power": "300*x*y"}, {"name": "other", "power": STEADY_HEATING}],
}


def everything(stepper: str, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Named scenarios on n × n cells, with everything that a stepper can do at once."""
    record = stepper_record(stepper)
    cases = {"all at once": EVERYTHING, "all, periodic": ROUND} if record.obstacle is None else {"all, still": STILL}
    for name, sections in cases.items():
        dt = END / (2 * n) if record.automatic is None else "auto"
        yield name, plate(n, n, **sections, time={"end": END, "stepper": stepper, "dt": dt})
