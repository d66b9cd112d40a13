"""Small Monte Carlo problems for the tests, and how to run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simsuite.core import Snapshot
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.solver import GbmSolver

ASSET = {"spot": 100.0, "volatility": 0.2}
CALL = {"style": "european", "payoff": "call", "strike": 100.0}
ASIAN = {"style": "asian", "payoff": "call", "strike": 100.0}


def tables(**changes) -> dict:
    """One asset, rate 5 %, one year in one step, a European call; `changes` replaces or adds to each table."""
    scenario: dict = {
        "solver": "gbm",
        "run": {"seed": 1},
        "market": {"rate": 0.05},
        "asset": [ASSET],
        "time": {"end": 1.0, "steps": 1},
        "paths": {"count": 1024},
        "option": [CALL],
        "output": {"frames": 2},
    }
    for key, value in changes.items():
        scenario[key] = {**scenario[key], **value} if isinstance(value, dict) else value
    scenario["option"] = [{"greeks": False} | option for option in scenario["option"]]
    return scenario


def problem(**changes) -> GbmProblem:
    return GbmSolver.from_scenario(GbmScenario.model_validate(tables(**changes)), Path())


def two_assets(
    precision="float64", count=40, batch=None, steps=10, antithetic=False, frames=4, stored=7, kernel="auto",
    replicates=None, volatility=0.4,
) -> GbmProblem:  # fmt: skip
    """Two correlated assets, options with averages at different dates, frames that do not fall on all fixings.
    replicates: of Sobol points, from which paths then come."""
    sobol = {"sampling": "sobol", "replicates": replicates} if replicates else {}
    return problem(
        run={"precision": precision, "kernel": kernel},
        market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET, {"spot": 40.0, "volatility": volatility, "dividend_yield": 0.02}],
        time={"end": 1.5, "steps": steps},
        paths={"count": count, "antithetic": antithetic} | ({"batch": batch} if batch else {}) | sobol,
        option=[
            CALL,
            {"style": "european", "payoff": "put", "strike": 45.0, "asset": "B"},
            ASIAN | {"fixings": 5},
            ASIAN | {"average": "geometric", "fixings": 3, "asset": "B", "strike": 40.0, "payoff": "put"},
        ],
        output={"frames": frames, "store_paths": stored},
    )


def copied(pending) -> Snapshot:
    with pending as held:
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def outcome(problem: GbmProblem, backend, parts=None, start: Snapshot | None = None) -> dict[str, np.ndarray]:
    """Everything that a run leaves: each row of results, the totals, and the final state.

    parts: steps of each `advance` (default: from row to row); start: where to begin.
    """
    stepper = problem.stepper(backend, start or problem.initial())
    (series,) = problem.layout.series
    stops = {s for s in series.steps if s > stepper.step}
    marks = np.cumsum([stepper.step, *(parts or [])]).tolist()
    left = {}
    for stop in sorted({*stops, *(m for m in marks if m < problem.clock.end)}):
        stepper.advance(stop - stepper.step)
        if stop in stops:
            observed = copied(stepper.observe("time"))
            assert problem.fault(observed) is None
            left |= {f"{name}@{stop}": np.array(row) for name, row in problem.rows("time", observed).items()}
    left |= problem.totals(observed)
    return left | {f"state {name}": a for name, a in copied(stepper.snapshot()).arrays.items()}


def run(problem: GbmProblem, backend) -> tuple[dict, dict[str, np.ndarray]]:
    """`results` and the final state of a whole run, with what only the last batch has."""
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end)
    observed = copied(stepper.observe("time"))
    assert problem.fault(observed) is None
    ends = {name: backend.to_host(stepper.state[name]) for name in problem.along_paths()}
    return problem.results(observed), {**copied(stepper.snapshot()).arrays, **ends}
