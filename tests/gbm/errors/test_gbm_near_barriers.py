"""Options that knock in at a continuously watched barrier that hardly any path comes near."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASSET, problem, run
from scipy.integrate import quad
from scipy.stats import norm

from simsuite.backends.cpu import CpuBackend


def knocked_in(level: float, end: float = 0.25, rate: float = 0.03, sigma: float = 0.2) -> float:
    """A put on 100 with strike 100 that knocks in at a level below: by quadrature over the price at the end, times the
    chance that a Brownian bridge to it falls below the level."""
    spread, mean, barrier = sigma * math.sqrt(end), (rate - sigma**2 / 2) * end, math.log(level / 100)

    def value(x: float) -> float:
        hit = 1.0 if x <= barrier else math.exp(-2 * barrier * (barrier - x) / spread**2)
        return max(100 - 100 * math.exp(x), 0.0) * hit * float(norm.pdf(x, mean, spread))

    parts = [quad(value, *between, epsabs=0, epsrel=1e-10)[0] for between in ((barrier - 2, barrier), (barrier, 0))]
    return math.exp(-rate * end) * sum(parts)


def priced(level: float, seed: int, **run_: Any) -> dict[str, Any]:
    option = {"style": "barrier", "payoff": "put", "strike": 100.0, "direction": "down", "knock": "in", "level": level}
    p = problem(
        run={"seed": seed} | run_,
        market={"rate": 0.03},
        asset=[ASSET],
        time={"end": 0.25, "steps": 1},
        paths={"count": 50_000},
        option=[option | {"monitoring": "continuous", "greeks": True, "name": "put"}],
    )
    results = run(p, CpuBackend())[0]
    return dict(results["options"]["put"])


@pytest.mark.parametrize("level", [50.0, 55.0, 60.0, 65.0])
def test_errors_are_unknown_where_hardly_any_path_comes_near(level: float) -> None:
    for seed in range(3):
        found = priced(level, seed)
        assert found["price"] < 4 * knocked_in(level)
        assert found["standard_error"] is None
        assert found["ci95"][0] <= knocked_in(level)
        assert found["ci95"][1] is None or found["ci95"][1] >= knocked_in(level)
        assert found["delta_standard_error"] == [None]


def test_they_are_known_where_paths_do() -> None:
    z = []
    for i in range(24):
        level = (75.0, 85.0, 95.0)[i % 3]
        found = priced(level, 100 + i)
        z.append((found["price"] - knocked_in(level)) / found["standard_error"])
    assert np.max(np.abs(z)) < 4
    assert 0.6 < np.std(z) < 1.5
