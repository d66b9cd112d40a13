"""Random rods whose diffusivity has a dip or a peak at some temperature, and SciPy's Radau for the same semidiscrete
equations, written down a second time: between two cells heat passes with k at the mean of their temperatures.

Ratios of the conductivities are 3 to 200, Fourier numbers 0.01 to 10, and dips 2 to 30 K wide. Temperatures go from 0
to 60, by edges that jump, rise or go up and down, by fluxes and convection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

KINDS = ("dip", "rational", "two", "peak")
FRAMES, LOOKS = 13, 60  # frames, and times looked at between two changes of the edges for the range of temperatures
_FUNCTIONS: dict[str, Any] = {"abs": np.abs, "exp": np.exp, "cos": np.cos, "min": np.minimum}


@dataclass(frozen=True)
class Edge:
    """value: the temperature outside, as an expression in t, or the flux. changes: when it jumps or kinks, s."""

    kind: str
    value: str = "0"
    h: float = 0.0
    changes: tuple[float, ...] = ()

    @property
    def section(self) -> dict[str, Any]:
        """Of a scenario."""
        names = {"temperature": "value", "flux": "value", "convection": "ambient"}
        h = {"h": self.h} if self.kind == "convection" else {}
        return {"kind": self.kind, **h, **({names[self.kind]: self.value} if self.kind in names else {})}


@dataclass(frozen=True)
class Rod:
    """diffusivity: of T, m²/s (density and specific heat are 1). initial: of x."""

    cells: int
    length: float
    end: float
    diffusivity: str
    edges: tuple[Edge, Edge]
    initial: str
    tolerance: float

    @property
    def sections(self) -> dict[str, Any]:
        """Of a scenario."""
        left, right = (edge.section for edge in self.edges)
        insulated = {"kind": "insulated"}
        return {
            "grid": {"nx": self.cells, "ny": 1, "lx": self.length, "ly": self.length / self.cells},
            "material": {"diffusivity": self.diffusivity},
            "initial": {"temperature": self.initial},
            "boundary": {"left": left, "right": right, "bottom": insulated, "top": insulated},
            "time": {"end": self.end, "tolerance": self.tolerance, "stepper": "auto"},
            "output": {"frames": FRAMES},
        }

    def solution(self) -> tuple[np.ndarray, float]:
        """Temperatures at the frames, (FRAMES, cells), K, and the range of those at all times."""
        dx, n = self.length / self.cells, self.cells
        law = compile(self.diffusivity, "diffusivity", "eval")
        values = [compile(edge.value, "edge", "eval") for edge in self.edges]

        def k(T: Any) -> Any:
            return eval(law, _FUNCTIONS, {"T": T})

        def comes_in(i: int, T: float, t: float) -> float:
            edge, value = self.edges[i], eval(values[i], _FUNCTIONS, {"t": t})
            if edge.kind == "temperature":
                return float(k(0.5 * (value + T)) * (value - T) * 2 / dx)
            if edge.kind == "convection":
                return float((value - T) / (1 / edge.h + dx / (2 * k(T))))
            return float(value) if edge.kind == "flux" else 0.0

        def rate(t: float, T: np.ndarray) -> np.ndarray:
            passes = k(0.5 * (T[1:] + T[:-1])) * (T[:-1] - T[1:]) / dx
            heat = np.append(0.0, passes) - np.append(passes, 0.0)
            heat[0] += comes_in(0, T[0], t)
            heat[-1] += comes_in(1, T[-1], t)
            return np.asarray(heat / dx)

        frames = np.linspace(0.0, self.end, FRAMES)
        T = np.zeros(n) + eval(self.initial, _FUNCTIONS, {"x": (np.arange(n) + 0.5) * dx})
        found, low, high, begin, beside = [T], T.min(), T.max(), 0.0, 1e-10 * self.end
        for end in sorted({*self.edges[0].changes, *self.edges[1].changes, self.end}):
            times = np.unique([*np.linspace(begin, end, LOOKS)[1:], *frames[(frames > begin) & (frames <= end)]])
            inside = begin + beside, end - beside
            run = solve_ivp(
                lambda t, T, inside=inside: rate(float(np.clip(t, *inside)), T),  # type: ignore[misc]
                (begin, end),
                T,
                "Radau",
                times,
                rtol=1e-9,
                atol=1e-9,
                max_step=(end - begin) / 50,
            )
            assert run.success
            low, high = min(low, run.y.min()), max(high, run.y.max())
            found += [run.y[:, np.argmin(np.abs(run.t - t))] for t in frames if begin < t <= end]
            T, begin = run.y[:, -1], end
        return np.array(found), float(high - low)


def random_rod(seed: int) -> Rod:
    rng = np.random.default_rng([5, seed])
    cells, length, end = int(rng.integers(8, 50)), 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(1, 4)
    power, middle, width = int(rng.choice([2, 4, 8])), rng.uniform(10, 50), 10 ** rng.uniform(0.3, 1.1)
    depth = float(rng.choice([0.8, 0.9, 0.95, 0.98, 0.99, 0.995]))

    def dip(depth: float, middle: float) -> str:
        return f"(1 - {depth:.4g}*exp(-((T - {middle:.4g})/{width:.4g})**{power}))"

    law = {
        "dip": dip(depth, middle),
        "rational": f"(1 - {depth:.4g}/(1 + ((T - {middle:.4g})/{width:.4g})**{power}))",
        "two": f"{dip(depth, middle)}*{dip(min(depth, 0.9), rng.uniform(10, 50))}",
        "peak": f"(1 + {10 ** rng.uniform(0.5, 2.3):.4g}*exp(-((T - {middle:.4g})/{width:.4g})**{power}))",
    }[KINDS[seed % len(KINDS)]]
    D, moment = 10 ** rng.uniform(-2, 1) * length**2 / end, end * rng.uniform(0.05, 0.6)
    wave = f"30 - 30*cos({2 * np.pi * rng.integers(1, 5) / end:.6g}*t)"
    outside = (
        ("60", ()),
        (f"60*(t < {moment!r})", (moment,)),
        (f"60*min(1, t/{moment!r})", (moment,)),
        (wave, ()),
        ("0", ()),
        ("20", ()),
    )
    value, changes = outside[rng.integers(4)]
    left = Edge("temperature", value, changes=changes)
    value, changes = outside[rng.integers(6)]
    right = (
        Edge("temperature", value, changes=changes),
        Edge("convection", value, float(10 ** rng.uniform(-1.5, 1.5) * D / length), changes),
        Edge("insulated"),
        Edge("flux", f"{rng.uniform(-0.3, 0.6) * 60 * D / length:.6g}"),
    )[rng.integers(4)]
    waves = f"30 + 30*cos({np.pi / length * rng.integers(1, 4):.6g}*x)"
    initial = ("0", "20", waves, "60")[rng.integers(4)]
    tolerance = 10.0 ** float(rng.integers(-5, -1))
    return Rod(cells, length, end, f"{D:.6g}*{law}", (left, right), initial, tolerance)
