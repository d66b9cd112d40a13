"""What the roads have to come to, from elsewhere: simsuite's CPU solver, closed forms, products in float64."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from simsuite.backends import open_backend
from simsuite.bench.gbm.cases import ASIAN, END, RATE, SPOT, STEPS, STRIKE, TERMINAL, VOLATILITY, exact_price
from simsuite.routes.gbm.contract import Contract
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

PLATE, PLATE_STEPS, RX, RY = (33, 48), 40, 0.2, 0.25


def plate() -> np.ndarray:
    """A plate of random temperatures with edges at 0, float64, of shape PLATE."""
    u = np.zeros(PLATE)
    u[1:-1, 1:-1] = np.random.default_rng(4).normal(0, 1, (PLATE[0] - 2, PLATE[1] - 2))
    return u


def stepped_plate() -> np.ndarray:
    """`plate` after PLATE_STEPS explicit steps of simsuite's solver on the CPU.

    Its edges lie half a cell from the outermost cells, where those of the roads are points. So the plate is continued
    beyond its edges with the opposite sign, and the whole is periodic: then the points on the edges stay at 0, and the
    step is that of the inner points everywhere.
    """
    ny, nx = PLATE
    whole = np.zeros((2 * (ny - 1), 2 * (nx - 1)))
    u = plate()
    whole[:ny, :nx] = u
    whole[ny:, :nx] = -u[-2:0:-1]
    whole[:ny, nx:] = -u[:, -2:0:-1]
    whole[ny:, nx:] = u[-2:0:-1, -2:0:-1]
    height = (RX / RY) ** 0.5 * whole.shape[0]  # so that dy is not dx: RX = dt / dx^2 with dx = 1
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "u.npy", whole)
        scenario = {
            "solver": "heat",
            "grid": {"nx": whole.shape[1], "ny": whole.shape[0], "lx": float(whole.shape[1]), "ly": height},
            "material": {"diffusivity": 1.0},
            "initial": {"temperature": {"file": "u.npy"}},
            "boundary": {edge: {"kind": "periodic"} for edge in ("left", "right", "bottom", "top")},
            "time": {"stepper": "explicit", "dt": RX, "end": RX * PLATE_STEPS},
            "output": {"frames": 2},
        }
        problem = HeatProblem.from_scenario(HeatScenario.model_validate(scenario), Path(folder))
        backend = open_backend("cpu")
        stepper = problem.stepper(backend, problem.initial())
        stepper.advance(PLATE_STEPS)
        return np.array(backend.to_host(stepper.state["temperature"]))[:ny, :nx]


def contracts() -> dict[str, tuple[Contract, float]]:
    """The options that are priced, each with its exact price."""
    european = Contract(SPOT, STRIKE, RATE, VOLATILITY, END, STEPS)
    return {
        "european": (european, exact_price(TERMINAL.name)),
        "asian": (replace(european, asian=True), exact_price(ASIAN.name)),
    }
