"""Standard errors where jumps are of unknown size and paths are no observations, but pairs of them are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASIAN, problem, run

from simsuite.backends.cpu import CpuBackend

pytestmark = pytest.mark.usefixtures("one_thread")

GREEKS = ("delta", "gamma", "vega", "rho", "theta")
SEEDS = range(24)


def numbers(option: dict[str, Any], name: str) -> tuple[float, float]:
    """A Greek and its standard error."""
    found = option[name], option[f"{name}_standard_error"]
    value, error = (x[0] if isinstance(x, list) else x for x in found)
    return float(value), float(error)


def test_errors_of_greeks_are_their_scatter_over_seeds() -> None:
    """Those of an Asian option, which jump by an unknown amount."""
    options = [{"greeks": True} | ASIAN | {"control_variate": control} for control in (True, False)]
    found = []
    for seed in SEEDS:
        p = problem(run={"seed": seed}, time={"steps": 4}, paths={"count": 1 << 14, "antithetic": True}, option=options)
        results = run(p, CpuBackend())[0]["options"].values()
        found.append([[numbers(option, name) for name in GREEKS] for option in results])
    values, errors = np.moveaxis(np.array(found), -1, 0)
    ratio = np.sqrt((errors**2).mean(axis=0)) / values.std(axis=0, ddof=1)
    assert np.all(np.abs(np.log(ratio)) < math.log(1.7)), ratio  # four deviations of the scatter of 24, and the part


@pytest.mark.parametrize("antithetic", [True, False])
def test_few_paths_beyond_a_jump_of_unknown_size_still_count(antithetic: bool) -> None:
    """With k paths beyond it the error is J sqrt(k + 2) / n, whatever the observations are: see `allowances.py`."""
    n, value = 1 << 16, "10 * (mean(A) > 170)"
    paths = {"count": n, "antithetic": antithetic}
    p = problem(paths=paths, time={"steps": 4}, option=[{"style": "expression", "value": value}])
    (option,) = run(p, CpuBackend())[0]["options"].values()
    hits = option["price"] / p.discount / 10 * n
    assert 1 <= hits < 60
    assert option["standard_error"] == pytest.approx(p.discount * 10 * math.sqrt(hits + 2) / n, rel=0.1)
