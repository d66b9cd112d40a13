"""Random rows of cells with sources that depend on T, most of which give more for a higher temperature, and SciPy's
Radau for the same semidiscrete equations, written down a second time.

Growth times of the run are 0.2 to 16, its Fourier numbers 1e-4 to 5. Temperatures are about 0 or about 300 K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

KINDS = ("logistic", "linear", "arrhenius", "bistable", "cubic", "pulse", "mixed")
FRAMES, LOOKS = 6, 80  # frames, and times looked at between two for the range of temperatures
_FUNCTIONS: dict[str, Any] = {"abs": np.abs, "exp": np.exp, "sin": np.sin, "cos": np.cos}


@dataclass(frozen=True)
class Row:
    """cells: of a length dx, m. D: in m²/s; source: in K/s (density and specific heat are 1). initial: of x. edges: the
    kinds of the left and of the right one, with the temperature `base` outside and the heat transfer coefficient h."""

    kind: str
    cells: int
    dx: float
    D: float
    source: str
    initial: str
    end: float
    edges: tuple[str, str]
    base: float
    h: float
    tolerance: float

    @property
    def sections(self) -> dict[str, Any]:
        """Of a scenario."""
        edge = {
            "insulated": {"kind": "insulated"},
            "temperature": {"kind": "temperature", "value": self.base},
            "convection": {"kind": "convection", "h": self.h, "ambient": self.base},
        }
        left, right = (edge[name] for name in self.edges)
        return {
            "grid": {"nx": self.cells, "ny": 1, "lx": self.cells * self.dx, "ly": self.dx},
            "material": {"conductivity": self.D, "density": 1.0, "specific_heat": 1.0},
            "initial": {"temperature": self.initial},
            "source": [{"power": self.source}],
            "boundary": {"left": left, "right": right, "bottom": edge["insulated"], "top": edge["insulated"]},
            "time": {"end": self.end, "tolerance": self.tolerance, "stepper": "auto"},
            "output": {"frames": FRAMES},
        }

    def solution(self) -> np.ndarray:
        """Temperatures at FRAMES frames and LOOKS times for each of the others, (times, cells), K."""
        x = (np.arange(self.cells) + 0.5) * self.dx
        passes = {
            "insulated": 0.0,
            "temperature": 2 * self.D / self.dx**2,
            "convection": 1 / (self.dx * (1 / self.h + self.dx / (2 * self.D))),
        }
        left, right = (passes[name] for name in self.edges)
        source = compile(self.source, "source", "eval")
        start = eval(self.initial, _FUNCTIONS, {"x": x})

        def rate(t: float, T: np.ndarray) -> np.ndarray:
            flux = np.diff(T) * self.D / self.dx**2
            change = np.append(flux, 0.0) - np.append(0.0, flux)
            change[0] += left * (self.base - T[0])
            change[-1] += right * (self.base - T[-1])
            return np.asarray(change + eval(source, _FUNCTIONS, {"x": x, "t": t, "T": T}))

        times = np.linspace(0.0, self.end, (FRAMES - 1) * LOOKS + 1)
        limits = {"rtol": 1e-9, "atol": 1e-12, "max_step": self.end / 400}
        found = solve_ivp(rate, (0.0, self.end), start, "Radau", times, **limits)
        assert found.success
        return np.asarray(found.y.T)


def random_row(seed: int) -> Row:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    cells, length, end = int(rng.integers(4, 60)), 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-1, 2)
    D, rate = 10 ** rng.uniform(-4, 0.7) * length**2 / end, 10 ** rng.uniform(-0.7, 1.2) / end
    base, A = float(rng.choice([0.0, 300.0])), float(rng.choice([1.0, 10.0]))
    u, s = f"((T - {base})/{A})", f"{rate * A:.6g}"
    logistic = f"{s}*{u}*(1 - {u})"
    place, moment, width = length * rng.uniform(), end * rng.uniform(0.1, 0.7), end * 10 ** rng.uniform(-2.5, -1)
    shot = f"exp(-((t - {moment:.5g})/{width:.5g})**2)*exp(-((x - {place:.4g})/{0.2 * length:.4g})**2)"
    wave = f"sin({2 * np.pi * rng.integers(1, 6) / end:.5g}*t)*cos({np.pi / length:.5g}*x)"
    source = {
        "logistic": logistic,
        "linear": f"{min(rate, 6 / end) * A:.6g}*{u}",
        "arrhenius": f"{s}*exp(5*{u}/(1 + 0.3*{u}*{u}))/20",
        "bistable": f"4*{logistic}*({u} - {rng.uniform(0.1, 0.4):.3f})",
        "cubic": f"{s}*{u}*(1 - {u}*{u})",
        "pulse": f"{logistic} + {s}*{rng.uniform(1, 30):.3f}*{shot}",
        "mixed": f"{s}*{u}*(1 - abs({u})) + 0.3*{s}*{wave}",
    }[kind]
    middle, wide = length * rng.choice([0.0, 0.5]), length * 10 ** rng.uniform(-1.3, 0)
    initial = f"{base} + {A * 10 ** rng.uniform(-3, 0):.5g}*exp(-((x - {middle:.4g})/{wide:.4g})**2)"
    edges = ("insulated", "insulated", "temperature", "convection")
    left, right = (edges[i] for i in rng.integers(0, 4, 2))
    h, tolerance = 10 ** rng.uniform(-1, 1) * D / length, 10.0 ** float(rng.integers(-6, -2))
    return Row(kind, cells, length / cells, D, source, initial, end, (left, right), base, h, tolerance)
