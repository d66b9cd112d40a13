"""The plates that are timed: n × n cells of width 1, described twice, as a scenario and as arrays
for `reference_cpu`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from simsuite.backends import open_backend
from simsuite.backends.host import memory_available
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.errors import DeviceError, SimsuiteError
from simsuite.scenario.heat import HeatRun, HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

MATERIALS: Mapping[str, Mapping[str, Any]] = {
    "constant": {"diffusivity": 1.0},
    "variable": {
        "conductivity": "1 + 0.5*sin(0.9*x)*cos(0.7*y)",
        "density": 1.0,
        "specific_heat": "1 + 0.3*cos(0.11*x)*cos(0.13*y)",
    },
    "heated": {"diffusivity": 1.0},  # This one is heated by a spot that moves.
}
# The power of the spot: its amplitude, how far it goes from the middle, how fast it oscillates, its height and width.
SPOT = "{a}*exp(-((x - {n}*(0.5 + {far}*sin({fast}*t)))**2 + (y - {high}*{n})**2)/({wide}*{n})**2)"
SPOT_NUMBERS = {"a": 0.5, "far": 0.3, "fast": 0.3, "high": 0.4, "wide": 0.125}
EDGES: Mapping[str, Mapping[str, Any]] = {
    "mixed": {
        "left": {"kind": "temperature", "value": 1.0},
        "right": {"kind": "flux", "value": 0.5},
        "bottom": {"kind": "convection", "h": 2.0, "ambient": 0.5},
        "top": {"kind": "insulated"},
    },
    "cold": {edge: {"kind": "temperature", "value": 0.0} for edge in ("left", "right", "bottom", "top")},
    "open": {edge: {"kind": "convection", "h": 2.0, "ambient": 0.5} for edge in ("left", "right", "bottom", "top")},
}
# The edges as arrays for the reference: resistance, temperature behind and inflow of left, right, bottom and top.
EDGE_DATA = {
    "mixed": np.array([[0.0, np.inf, 0.5, np.inf], [1.0, 0.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.0]]),
    "cold": np.zeros((3, 4)),
    "open": np.array([[0.5] * 4, [0.5] * 4, [0.0] * 4]),
}
EXPLICIT_DT = {"constant": 0.2, "variable": 0.1, "heated": 0.2}
LONG_DT = 10.0  # the step of steppers that can take long ones
STEPS = 1e9  # more steps than any measurement takes
TRIED = 256  # A kernel is tried on a plate of so many cells along an edge, a size that is timed by default.
HOST_WORDS = {
    "constant": 10,
    "variable": 20,
    "heated": 20,
}  # how many float64 numbers a cell setting up and checking take
KERNELS = {"cpu": ("numba",), "cuda": ("numba", "nvrtc")}  # the values of run.kernel that a kind of device may have


@dataclass(frozen=True)
class Plate:
    """A problem to be timed. edges: "mixed" (four kinds), "cold" (all held at 0) or "open" (all with convection)."""

    n: int
    precision: str
    material: str = "constant"
    kernel: str = "auto"
    stepper: str = "explicit"
    edges: str = "mixed"

    @property
    def dt(self) -> float:
        return EXPLICIT_DT[self.material] if self.stepper == "explicit" else LONG_DT

    def scenario(self, **time: float) -> HeatScenario:
        """The plate as a scenario. time: keys of [time] that are to differ from the default ones."""
        n = self.n
        source = [{"power": SPOT.format(n=n, **SPOT_NUMBERS)}] if self.material == "heated" else []
        return HeatScenario.model_validate(
            {
                "solver": "heat",
                "run": {"precision": self.precision, "kernel": self.kernel},
                "grid": {"nx": n, "ny": n, "lx": float(n), "ly": float(n)},
                "material": MATERIALS[self.material],
                "boundary": EDGES[self.edges],
                "source": source,
                "time": {"end": STEPS * self.dt, "dt": self.dt, "stepper": self.stepper, **time},
                "output": {"frames": 2},
            }
        )

    def problem(self, **time: float) -> HeatProblem:
        """The plate as a problem. Raises ScenarioError where the kernel or stepper does not apply."""
        return HeatProblem.from_scenario(self.scenario(**time), Path())

    def start(self) -> np.ndarray:
        """Random temperatures, (n, n), in the plate's precision."""
        return random_temperatures(self.n).astype(self.precision)

    def after(self, steps: int) -> np.ndarray:
        """The temperatures after explicit steps from `start`, by the reference, (n, n) in float64."""
        return reference_steps(self.n, self.material, self.edges, steps)


def random_temperatures(n: int) -> np.ndarray:
    """Random temperatures (n, n) between 0 and 1, the same in both precisions, but different for every n."""
    return np.random.default_rng(n).random((n, n), np.float32)


@functools.lru_cache(maxsize=1)  # It is called for all kernels and precisions in turn.
def reference_steps(n: int, material: str, edges: str, steps: int) -> np.ndarray:
    """The temperatures after explicit steps from random ones, (n, n) in float64, read only."""
    kernels = open_backend("cpu").kernels("simsuite.bench.reference")
    x = np.arange(n) + 0.5
    y = x[:, None]
    k, rho_c = np.ones((n, n)), np.ones((n, n))
    if material == "variable":
        k += 0.5 * np.sin(0.9 * x) * np.cos(0.7 * y)
        rho_c += 0.3 * np.cos(0.11 * x) * np.cos(0.13 * y)
    resistance, ambient, inflow = EDGE_DATA[edges]
    gx, gy = np.empty((n, n + 1)), np.empty((n + 1, n))
    kernels.conductances(k, resistance, gx, gy)
    before, after = random_temperatures(n).astype(np.float64), k
    dt = EXPLICIT_DT[material]
    for step in range(steps):
        heat = spot(n, step * dt) if material == "heated" else (np.zeros(n), np.zeros(n))
        kernels.euler(before, after, gx, gy, rho_c, dt, ambient, inflow, *heat)
        before, after = after, before
    before.flags.writeable = False
    return before


def spot(n: int, t: float) -> tuple[np.ndarray, np.ndarray]:
    """The source of a heated plate at time t as the product of two Gaussians, one along x and one along y, (n,)."""
    a, far, fast, high, wide = SPOT_NUMBERS.values()
    x = (np.arange(n) + 0.5) / n
    return a * np.exp(-(((x - 0.5 - far * math.sin(fast * t)) / wide) ** 2)), np.exp(-(((x - high) / wide) ** 2))


def fitting(backend: Backend, plate: Plate) -> HeatProblem:
    """The plate's problem. Raises DeviceError where it does not fit into memory, ScenarioError where its kernel or
    stepper does not apply."""
    host = HOST_WORDS[plate.material] * plate.n**2 * 8
    if host > (memory_available() or host):
        raise DeviceError(f"needs {host / 1e9:.0f} GB of the host's memory")
    problem = plate.problem()
    if problem.device_bytes() > backend.memory_free():
        raise DeviceError(f"needs {problem.device_bytes() / 1e9:.0f} GB of the device's memory")
    return problem


def started(problem: HeatProblem, backend: Backend, T: np.ndarray) -> Stepper:
    """The problem's stepper, with the temperatures T. Raises DeviceError where it lacks the kernel asked for."""
    stepper = problem.stepper(backend, Snapshot(0, {**problem.initial().arrays, "temperature": T}))
    asked = problem.scenario.run.kernel
    if asked not in ("auto", stepper.chosen["kernel"]):
        raise DeviceError(stepper.chosen.get("kernel_note", f"takes other kernels than {asked}"))
    return stepper


def kernels_for(backend: Backend) -> tuple[str, ...]:
    """The values of run.kernel with which an explicit step can be made on this device."""
    known = get_args(HeatRun.model_fields["kernel"].annotation)
    return tuple(name for name in KERNELS[backend.dialect] if name in known and _works(name, backend))


def _works(kernel: str, backend: Backend) -> bool:
    plate = Plate(TRIED, "float64", kernel=kernel)
    try:
        started(plate.problem(), backend, plate.start()).advance(1)
    except SimsuiteError:
        return False
    return True
