"""The problem of the work-precision study, and its solution on the same grid, so that only the error in time counts.

A plate of 1 m × 1 m has its left and right edge held at 0, the others insulated; a few modes decay until the slowest is
down to about a third. Initial state and material fit the edges, so that every method has its full order.

With the constant material the modes, sampled at the cell centres, are eigenvectors of the discrete operator, and the
solution is known in closed form:

    T(t) = Σ a exp(-λt) sin(pπx) cos(qπy),      λ = (4/Δx²)(sin²(pπΔx/2) + sin²(qπΔx/2)).

With the variable material the solution is integrated by adi in float64, with halved steps and Richardson extrapolation,
which leaves an error of 1e-12, far below any that is measured. It is checked with rkl2 in the same way, as far as that
is accurate: its number of stages changes with the step, so that extrapolation removes less of its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Device
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

END = 0.05  # s
MODES = ((1.0, 1, 0), (0.5, 1, 1), (0.2, 3, 2))  # a, p, q
MATERIALS: dict[str, dict[str, Any]] = {
    "constant": {"diffusivity": 1.0},
    "variable": {
        "conductivity": "1 + 0.5*cos(2*pi*x)*cos(2*pi*y)",
        "density": 1.0,
        "specific_heat": "1 + 0.3*cos(2*pi*x)",
    },
}
REFERENCE_STEPS = 256  # The reference takes so many steps, and twice as many.


@dataclass(frozen=True)
class Reference:
    """The solution of the problem. T: the temperatures, (n, n) in float64. way: how they were found, in words.
    deviation: their distance from another solution, found independently.
    """

    T: np.ndarray
    way: str
    deviation: float

    def error(self, T: np.ndarray) -> float:
        """The relative l2 distance of a field from the solution."""
        return relative_distance(T.astype(np.float64), self.T)


def wave(n: int, material: str, precision: str, device: Device | None = None, **time: Any) -> HeatProblem:
    """The problem on n × n cells. device: the one by whose rates `auto` chooses. time: keys of [time].

    Raises ScenarioError where a stepper does not apply.
    """
    modes = "+".join(f"{a}*sin({p}*pi*x)*cos({q}*pi*y)" for a, p, q in MODES)
    held = {"kind": "temperature", "value": 0.0}
    scenario = {
        "solver": "heat",
        "run": {"precision": precision},
        "grid": {"nx": n, "ny": n},
        "material": MATERIALS[material],
        "initial": {"temperature": modes},
        "boundary": {"left": held, "right": held},
        "time": {"end": END, **time},
        "output": {"frames": 2},
    }
    return HeatProblem.from_scenario(HeatScenario.model_validate(scenario), Path(), device)


def at_end(problem: HeatProblem, backend: Backend) -> np.ndarray:
    """The temperatures after all steps of the problem."""
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end)
    return backend.to_host(stepper.state["temperature"])


def reference(n: int, material: str, backend: Backend) -> Reference:
    """The solution at the end of the run."""
    found = _extrapolated(n, material, backend, "adi")
    if material == "constant":
        exact = closed_form(n)
        return Reference(exact, "closed form", relative_distance(found, exact))
    other = _extrapolated(n, material, backend, "rkl2")
    return Reference(found, "adi, extrapolated", relative_distance(other, found))


def _extrapolated(n: int, material: str, backend: Backend, stepper: str) -> np.ndarray:
    steps = (REFERENCE_STEPS, 2 * REFERENCE_STEPS)
    once, twice = (at_end(wave(n, material, "float64", stepper=stepper, dt=END / k), backend) for k in steps)
    limit: np.ndarray = twice + (twice - once) / 3
    return limit


def closed_form(n: int) -> np.ndarray:
    """The solution with the constant material at the end."""
    x = (np.arange(n) + 0.5) / n
    T = np.zeros((n, n))
    for a, p, q in MODES:
        rate = 4.0 * n**2 * sum(np.sin(0.5 * m * np.pi / n) ** 2 for m in (p, q))
        T += a * np.exp(-rate * END) * np.cos(q * np.pi * x)[:, None] * np.sin(p * np.pi * x)
    return T


def relative_distance(a: np.ndarray, b: np.ndarray) -> float:
    """The distance of a from b in l2, relative to the norm of b."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))
