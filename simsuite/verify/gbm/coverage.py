"""How often intervals contain the true price where payoffs jump: for digitals of known price, over seeds and strikes.

A strike is anywhere between two Sobol points, or so far out that few paths are paid or none. Standard errors must not
be 0, intervals of 95 % must contain the price about as often, and hardly any price may be three standard errors off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from simsuite.core import Backend
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.reference_prices.prices import reference_price
from simsuite.verify.checks import Check
from simsuite.verify.gbm.cases import ASSET, option, world
from simsuite.verify.gbm.runs import problem_of, reseeded, run

COVERAGE, FAR, CERTAIN = "coverage of ci95", "beyond 3 errors", "errors of 0"
# lowest share of intervals with the price in them: discreteness lowers 0.95, scatter is allowed for besides
LEAST = 0.93
MOST_FAR = 0.015
STRIKES, CASH = 16, 10.0
_WAYS: Mapping[str, Mapping[str, Any]] = {
    "digitals, 16 replicates": {"count": 1 << 14, "sampling": "sobol", "replicates": 16},
    "digitals, 4 replicates": {"count": 1 << 12, "sampling": "sobol", "replicates": 4},
    "rare digitals": {"count": 1 << 11},
    "rare digitals, antithetic": {"count": 1 << 11, "antithetic": True},
}


def coverage_checks(backend: Backend, seeds: int) -> Iterator[Check]:
    """Checks for each way to draw paths, with so many seeds."""
    for name, paths in _WAYS.items():
        rare = "sampling" not in paths
        held, far, certain = [], 0, 0
        for seed in range(seeds):
            problem = problem_of(_digitals(paths, rare, np.random.default_rng(seed)))
            with backend.on_threads(1):
                options = run(reseeded(problem, seed), backend).options.values()
            for asked, found in zip(problem.scenario.option, options, strict=True):
                price, (low, high) = reference_price(problem.scenario, asked), found["ci95"]
                assert price is not None
                if not found["standard_error"]:
                    certain += 1
                    continue
                held.append(low <= price <= high)
                far += abs(found["price"] - price) > 3 * found["standard_error"]
        n = seeds * STRIKES
        share = sum(held) / n
        # the strikes of a seed share its paths, so that as many as there are seeds count as independent
        least = LEAST - 2 * math.sqrt(0.05 * 0.95 / seeds)
        yield Check(name, COVERAGE, share, f">= {least:.3f}", share >= least, {"prices": n, "seeds": seeds})
        most = MOST_FAR + 3 * math.sqrt(MOST_FAR / n)
        yield Check(name, FAR, far / n, f"<= {most:.3f}", far / n <= most, {"prices": n, "seeds": seeds})
        yield Check(name, CERTAIN, float(certain), "0", certain == 0, {"prices": n, "seeds": seeds})


def _digitals(paths: Mapping[str, Any], rare: bool, rng: np.random.Generator) -> GbmScenario:
    """A scenario of digitals, which pay with any probability, or, if `rare`, on 0.1 to 30 paths."""
    chances = np.exp(rng.uniform(np.log(0.1), np.log(30), STRIKES)) / paths["count"] if rare else rng.random(STRIKES)
    # 0.05 - 0.02 - 0.02 is the rate less the yield and half the variance
    strikes = ASSET["spot"] * np.exp(0.05 - 0.02 - 0.02 - ASSET["volatility"] * ndtri(chances))
    options = [option(f"digital {i}", "digital", strike=float(k), cash=CASH) for i, k in enumerate(strikes)]
    scenario = world([ASSET], 1, [o | {"greeks": False} for o in options])
    return GbmScenario.model_validate({**scenario, "paths": dict(paths)})
