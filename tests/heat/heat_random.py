"""Random plates, each as sections of a scenario and, written down a second time, as a system of ordinary differential
equations that SciPy solves (Radau, relative tolerance 3e-9 to 1e-7): what a run's error in time is measured against.

Nothing here knows the solver: faces, edges, regions and sources are formed from their definitions with NumPy.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import lil_matrix

STEFAN_BOLTZMANN = 5.670374419e-8
EDGES = ("left", "right", "bottom", "top")
NAMES: dict[str, Any] = {name: getattr(np, name) for name in ("sin", "cos", "exp", "sqrt", "hypot", "where", "floor")}
NAMES |= {"pi": math.pi, "min": np.minimum, "max": np.maximum, "abs": np.abs}


def value(text: str | float, **names: Any) -> Any:
    return float(text) if isinstance(text, (int, float)) else eval(_code(text), {"__builtins__": {}}, NAMES | names)


@cache
def _code(text: str) -> CodeType:
    return compile(text, "<plate>", "eval")


@dataclass
class Plate:
    """sections: of a scenario. kinks: times at which data jump or kink, between which the system is smooth."""

    seed: int
    sections: dict[str, Any]
    kinks: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        g, m = self.sections["grid"], self.sections["material"]
        self.shape = ny, nx = g["ny"], g["nx"]
        self.lengths = g["lx"], g["ly"]
        self.dx, self.dy = g["lx"] / nx, g["ly"] / ny
        self.x, self.y = np.meshgrid((np.arange(nx) + 0.5) * self.dx, (np.arange(ny) + 0.5) * self.dy)
        self.laws: list[tuple[np.ndarray, Any]] = [(np.ones(self.shape, bool), m["conductivity"])]
        self.rho_c = self._field(m["density"]) * self._field(m["specific_heat"])
        initial = self.T0 = self._field(self.sections["initial"]["temperature"])
        self.held = np.zeros(self.shape, bool)
        for region in self.sections.get("region", []):
            inside = self._inside(region)
            if "temperature" in region:
                self.T0 = np.where(inside, self._field(region["temperature"]), self.T0)
            else:
                self.T0 = np.where(inside, initial, self.T0)
            self.held = (self.held | inside) if "temperature" in region else (self.held & ~inside)
            if "conductivity" in region:
                self.laws.append((inside, region["conductivity"]))
        self.end = self.sections["time"]["end"]

    def _field(self, text: str | float) -> np.ndarray:
        return np.broadcast_to(value(text, x=self.x, y=self.y), self.shape).astype(float)

    def _inside(self, region: dict[str, Any]) -> np.ndarray:
        if region["shape"] == "circle":
            x, y = region["center"]
            return np.hypot(self.x - x, self.y - y) <= region["radius"]
        (a, b), (c, d) = region["x"], region["y"]
        return (a <= self.x) & (self.x <= b) & (c <= self.y) & (self.y <= d)

    def _k(self, T: np.ndarray, axis: int, shift: int) -> tuple[np.ndarray, np.ndarray]:
        """Conductivities of the cells on both sides of all inner faces, at the mean of their temperatures."""
        a, b = (np.take(T, range(s, T.shape[axis] - 1 + s), axis) for s in (0, 1))
        mean = 0.5 * (a + b)
        sides = []
        for s in (0, 1):
            k = np.zeros_like(mean)
            x, y = (np.take(p, range(s, p.shape[axis] - 1 + s), axis) for p in (self.x, self.y))
            for inside, law in self.laws:
                part = np.take(inside, range(s, inside.shape[axis] - 1 + s), axis)
                law = law[shift] if isinstance(law, list) else law
                k = np.where(part, value(law, x=x, y=y, T=mean), k)
            sides.append(k)
        return sides[0], sides[1]

    def _k_at(self, T: np.ndarray, x: np.ndarray, y: np.ndarray, cells: Any, shift: int) -> np.ndarray:
        k = np.zeros_like(T)
        for inside, law in self.laws:
            law = law[shift] if isinstance(law, list) else law
            k = np.where(inside[cells], value(law, x=x, y=y, T=T), k)
        return k

    def rate(self, t: float, T: np.ndarray) -> np.ndarray:
        """dT/dt, (ny, nx)."""
        flow = np.zeros(self.shape)  # W/m³
        periodic = {edge: self.sections["boundary"][edge].get("kind") == "periodic" for edge in EDGES}
        for axis, delta, shift in ((1, self.dx, 0), (0, self.dy, 1)):
            n = self.shape[axis]
            if n > 1:
                ka, kb = self._k(T, axis, shift)
                ha, hb = (np.take(self.held, range(s, n - 1 + s), axis) for s in (0, 1))
                g = 2 * ka * kb / (ka + kb)
                g = np.where(ha & hb, 0.0, np.where(ha, 2 * kb, np.where(hb, 2 * ka, g)))
                flux = g * np.diff(T, axis=axis) / delta**2
                low, high = [slice(None)] * 2, [slice(None)] * 2
                low[axis], high[axis] = slice(0, n - 1), slice(1, n)
                flow[tuple(low)] += flux
                flow[tuple(high)] -= flux
            first, last = (("left", "right"), ("bottom", "top"))[1 - axis]
            if periodic[first]:
                if n > 1:
                    a, b = ((slice(None), -1), (slice(None), 0)) if axis == 1 else ((-1,), (0,))
                    mean = 0.5 * (T[a] + T[b])
                    ka, kb = (self._k_at(mean, self.x[c], self.y[c], c, shift) for c in (a, b))
                    ha, hb = self.held[a], self.held[b]
                    g = 2 * ka * kb / (ka + kb)
                    g = np.where(ha & hb, 0.0, np.where(ha, 2 * kb, np.where(hb, 2 * ka, g)))
                    flux = g * (T[b] - T[a]) / delta**2
                    flow[a] += flux
                    flow[b] -= flux
            else:
                for edge in (first, last):
                    cells: Any = {
                        "left": (slice(None), 0),
                        "right": (slice(None), -1),
                        "bottom": (0,),
                        "top": (-1,),
                    }[edge]
                    flow[cells] += self._edge(edge, t, T[cells], cells, delta, shift)
        q = sum(
            np.broadcast_to(value(s["power"], x=self.x, y=self.y, t=t, T=T), self.shape)
            for s in self.sections["source"]
        )
        return np.where(self.held, 0.0, (flow + q) / self.rho_c)

    def _edge(self, edge: str, t: float, T: np.ndarray, cells: Any, delta: float, shift: int) -> np.ndarray:
        lx, ly = self.lengths
        x, y = self.x[cells], self.y[cells]
        wx, wy = (
            {"left": 0.0 * x, "right": 0.0 * x + lx}.get(edge, x),
            {"bottom": 0.0 * y, "top": 0.0 * y + ly}.get(edge, y),
        )
        c = self.sections["boundary"][edge]
        at = {name: value(v, x=wx, y=wy, t=t) for name, v in c.items() if name != "kind"}
        k = self._k_at(0.5 * (T + at["value"]) if c["kind"] == "temperature" else T, x, y, cells, shift)
        half = 2 * k / delta
        if c["kind"] == "temperature":
            flux = half * (at["value"] - T)
        elif c["kind"] == "flux":
            flux = at["value"] + 0 * T
        elif c["kind"] == "convection":
            flux = at["h"] * half / (at["h"] + half) * (at["ambient"] - T)
        elif c["kind"] == "radiation":
            s, w = STEFAN_BOLTZMANN * at["emissivity"], np.maximum(T, at["ambient"])
            for _ in range(40):
                change = (half * (w - T) - s * (at["ambient"] ** 4 - w**4)) / (half + 4 * s * w**3)
                w = w - change
                if np.all(np.abs(change) <= 1e-15 * w):
                    break
            flux = half * (w - T)
        else:
            flux = 0 * T
        return flux / delta

    def _pattern(self) -> Any:
        ny, nx = self.shape
        pattern = lil_matrix((ny * nx, ny * nx))
        for j in range(ny):
            for i in range(nx):
                for dj, di in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)):
                    pattern[j * nx + i, (j + dj) % ny * nx + (i + di) % nx] = 1
        return pattern

    @functools.cached_property
    def solution(self) -> Callable[[float], np.ndarray]:
        """T (ny, nx) at any time, to about a thousandth of the plate's tolerance or better."""
        rtol = min(max(1e-3 * self.sections["time"]["tolerance"], 3e-9), 1e-7)
        level = float(np.mean(self.T0))
        T = self.T0
        scale = max(float(np.ptp(self.T0)), 0.1)
        stops = sorted({0.0, *(k for k in self.kinks if 0 < k < self.end), self.end})
        parts = []
        for a, b in itertools.pairwise(stops):

            def rate(t: float, u: np.ndarray, a: float = a, b: float = b) -> np.ndarray:
                inside = (b - a) * 1e-12  # data at a switch are those of the side that is integrated
                return self.rate(min(max(t, a + inside), b - inside), level + u.reshape(self.shape)).ravel()

            run = solve_ivp(
                rate,
                (a, b),
                (T - level).ravel(),
                method="Radau",
                dense_output=True,
                rtol=rtol,
                atol=0.1 * rtol * scale,
                jac_sparsity=self._pattern() if T.size > 60 else None,
                max_step=(b - a) / 8,
            )
            if not run.success:
                raise RuntimeError(run.message)
            T = level + run.y[:, -1].reshape(self.shape)
            parts.append(run.sol)

        def at(t: float) -> np.ndarray:
            part = parts[max(0, bisect.bisect_left(stops, t * (1 - 1e-13)) - 1)]
            return np.asarray(level + part(t).reshape(self.shape))

        return at


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{10 ** rng.uniform(math.log10(low), math.log10(high)):.4g}")


def _uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{rng.uniform(low, high):.4g}")


def _moving(rng: np.random.Generator, base: float, size: float, end: float) -> str | float:
    """A number, or something that moves in time."""
    u = lambda a, b: _uniform(rng, a, b)  # noqa: E731
    kind = rng.integers(7)
    if kind <= 1:
        return u(base - size, base + size)
    if kind == 2:
        return f"{u(base - size, base + size)} + {u(0.1 * size, size)}*sin({_log(rng, 1.0, 60.0) / end:.4g}*t)"
    if kind == 3:
        return f"{base} + {u(-size, size)}*(1 - exp(-t/{_log(rng, 0.01, 1.0) * end:.4g}))"
    if kind == 4:
        return f"{base} + {u(-size, size)}*t/{end:.4g}"
    if kind == 5:
        wave = f"{base} + {u(-size, size)}*cos({u(1, 9)}*x)"
        return f"{wave} + {u(-size, size)}*sin({_log(rng, 1.0, 30.0) / end:.4g}*t + {u(0, 3)}*y)"
    return f"{base} + {u(-size, size)}*exp(-((t - {u(0.2, 0.8) * end:.4g})/{_log(rng, 0.03, 0.3) * end:.4g})**2)"


def _switched(rng: np.random.Generator, base: float, size: float, end: float) -> tuple[str, list[float]]:
    """Something that is switched, pulses, or ramps, and when."""
    u = lambda a, b: _uniform(rng, a, b)  # noqa: E731
    a = float(f"{rng.uniform(0.05, 0.5) * end:.4g}")
    b = float(f"{a + rng.uniform(0.05, 0.4) * end:.4g}")
    kind = rng.integers(6)
    if kind == 0:
        return f"{base} + {u(-size, size)}*(t >= {a})", [a]
    if kind == 1:
        return f"where(t > {a}, where(t < {b}, {base + size}, {base}), {base})", [a, b]
    if kind == 2:
        return f"{base} + {u(-size, size)}*min(t/{a}, 1)", [a]
    if kind == 3:
        return f"{base} + {u(-size, size)}*max(0, min((t - {a})/{b - a:.6g}, 1))", [a, float(f"{b - a:.6g}") + a]
    if kind == 4:
        period = float(f"{end / rng.integers(2, 8):.4g}")
        on = float(f"{period * rng.uniform(0.2, 0.8):.4g}")
        kinks = [k * period + s for k in range(12) for s in (0.0, on)]
        return f"where(t - {period}*floor(t/{period}) < {on}, {base + size}, {base})", [k for k in kinks if 0 < k < end]
    w = _log(rng, 2.0, 20.0) / end
    return f"{base} + {size}*abs(sin({w:.4g}*t))", [k * math.pi / float(f"{w:.4g}") for k in range(1, 40)]


def random_plate(seed: int, switches: bool = False, most: int = 24) -> Plate:
    rng = np.random.default_rng((2411, seed, int(switches)))
    u = lambda a, b: _uniform(rng, a, b)  # noqa: E731
    nx, ny = (int(rng.integers(2, most + 1)) for _ in range(2))
    if rng.random() < 0.1:
        nx, ny = (1, ny) if rng.random() < 0.5 else (nx, 1)
    lx, ly = 1.0, _log(rng, 0.3, 3.0)
    k: Any = _log(rng, 0.5, 2.0)
    kind = rng.integers(6)
    if kind == 1:
        k = f"{k}*(1 + 0.5*sin({u(1, 9)}*x)*cos({u(1, 9)}*y))"
    elif kind == 2:
        k = [k, _log(rng, 0.05, 20.0)]
    elif kind == 3:
        k = f"{k}*(1 + 0.002*(T - 300))"
    end = _log(rng, 0.003, 20.0) * 0.1
    kinks: list[float] = []
    base, size = 300.0, _log(rng, 1.0, 100.0)

    def moving(base: float, size: float) -> Any:
        if switches and rng.random() < 0.5:
            text, times = _switched(rng, base, size, end)
            kinks.extend(times)
            return text
        return _moving(rng, base, size, end)

    boundary: dict[str, Any] = {}
    for pair in (EDGES[:2], EDGES[2:]):
        if rng.random() < 0.12:
            boundary |= {edge: {"kind": "periodic"} for edge in pair}
            continue
        for edge in pair:
            kind = rng.integers(6)
            if kind == 0:
                boundary[edge] = {"kind": "insulated"}
            elif kind <= 2:
                boundary[edge] = {"kind": "temperature", "value": moving(base, size)}
            elif kind == 3:
                boundary[edge] = {"kind": "flux", "value": moving(0.0, 3 * size)}
            elif kind == 4:
                boundary[edge] = {"kind": "convection", "h": _log(rng, 0.1, 100.0), "ambient": moving(base, size)}
            else:
                boundary[edge] = {"kind": "radiation", "emissivity": u(0.1, 1.0), "ambient": u(250, 600)}
    region: list[dict[str, Any]] = []
    for _ in range(rng.integers(3)):
        x, y = u(0.1, 0.9) * lx, u(0.1, 0.9) * ly
        shape: dict[str, Any] = {"shape": "circle", "center": [x, y], "radius": u(0.1, 0.4)}
        if rng.random() < 0.5:
            shape = {
                "shape": "rectangle",
                "x": [x - u(0.05, 0.3), x + u(0.05, 0.3)],
                "y": [y - u(0.05, 0.3), y + u(0.05, 0.3)],
            }
        if rng.random() < 0.4:
            shape["temperature"] = u(base - size, base + size)
        else:
            shape["conductivity"] = _log(rng, 1e-3, 1e4) if rng.random() < 0.7 else _log(rng, 1e4, 1e6)
        region.append(shape)
    source: list[dict[str, Any]] = []
    for _ in range(rng.integers(3)):
        kind, p = rng.integers(5), size * _log(rng, 0.3, 30.0)
        if kind == 0:
            power: Any = f"{p:.4g}*exp(-((x - {u(0.2, 0.8)})**2 + (y - {u(0.2, 0.8) * ly:.4g})**2)/0.02)"
        elif kind == 1:
            power = f"{p:.4g}*exp(-((x - {u(0.1, 0.9) / end:.4g}*t)**2 + (y - {u(0.2, 0.8) * ly:.4g})**2)/0.02)"
        elif kind == 2:
            power = f"{p:.4g}*sin({_log(rng, 1.0, 50.0) / end:.4g}*t)*x"
        elif kind == 3:
            power = f"{u(0.1, 20.0)}*({base} - T)"
        else:
            power = f"{p:.4g}"
        if switches and rng.random() < 0.7:
            text, times = _switched(rng, 0.0, 1.0, end)
            kinks.extend(times)
            power = f"({power})*({text})"
        source.append({"power": power})
    initial: Any = base
    kind = rng.integers(5)
    if kind == 1:
        initial = (
            f"{base} + {size}*exp(-((x - {u(0.2, 0.8)})**2 + (y - {u(0.2, 0.8) * ly:.4g})**2)/{_log(rng, 0.003, 0.3)})"
        )
    elif kind == 2:
        initial = f"{base} + {size}*sin({u(1, 12)}*x)*cos({u(1, 12)}*y)"
    elif kind == 3:
        initial = f"where(x < {u(0.2, 0.8)}, {base + size}, {base})"
    elif kind == 4:
        initial = f"{base} + {u(-size, size)}*x + {u(-size, size)}*y"
    return Plate(
        seed,
        {
            "grid": {"nx": nx, "ny": ny, "lx": lx, "ly": ly},
            "material": {"conductivity": k, "density": 1.0, "specific_heat": _log(rng, 0.5, 2.0)},
            "initial": {"temperature": initial},
            "boundary": boundary,
            "region": region,
            "source": source,
            "time": {"end": end, "tolerance": float(rng.choice([1e-3, 1e-4, 1e-5, 1e-6]))},
            "output": {"frames": int(rng.integers(2, 9))},
        },
        sorted(set(kinks)),
    )
