"""Targets that are out of reach: what is proposed in their place can be run, and reaches them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from gbm_problems import ASIAN, ASSET, CALL, problem

from simsuite.backends import open_backend
from simsuite.errors import ScenarioError
from simsuite.scenario.gbm import MOST_PATHS
from simsuite.solvers.gbm.solver import GbmSolver

pytestmark = pytest.mark.usefixtures("one_thread")

PATHS = {"count": 1 << 20}
EULER = {"time": {"steps": 16, "scheme": "euler"}}
JUMPS = {"intensity": 1.0, "mean": -0.1, "deviation": 0.2}
WAYS = [
    {"paths": PATHS},
    {"paths": PATHS | {"antithetic": True}},
    {"paths": PATHS, **EULER},
    {"paths": PATHS | {"multilevel": True}, **EULER},
]


def refusal(changes: dict[str, Any], target: float, **paths: Any) -> str | None:
    """The help with which a run is refused; None if it is not."""
    tables = changes | {"paths": changes["paths"] | {"target_standard_error": target} | paths}
    model = problem(**tables).scenario
    try:
        GbmSolver.from_scenario(model, Path(), lambda: open_backend("cpu"))
    except ScenarioError as error:
        (mistake,) = error.mistakes
        assert mistake.path == ("paths", "target_standard_error")
        return mistake.help
    return None


@pytest.mark.parametrize("way", WAYS)
def test_the_count_and_the_target_that_are_proposed_do(way: dict[str, Any]) -> None:
    target = 1e-4
    told = re.fullmatch(r"to be safe, set count to (\d+), or the target to (\S+)", refusal(way, target) or "")
    assert told is not None
    count, reached = told.groups()
    assert int(count) <= MOST_PATHS
    assert refusal(way, target, count=int(count)) is None
    assert refusal(way, float(reached)) is None


@pytest.mark.parametrize("way", WAYS)
def test_where_no_count_does_none_is_proposed(way: dict[str, Any]) -> None:
    help = refusal(way, 1e-7)
    assert help is not None
    said = r"a run can make 2e\+12 paths at most: to be safe, set count to (\d+) and the target to ([\d.e-]+)"
    found = re.match(said, help)
    assert found is not None
    assert int(found[1]) == MOST_PATHS // 1024 * 1024
    assert refusal(way, float(found[2]), count=int(found[1])) is None


@pytest.mark.parametrize(
    ("way", "others"),
    [
        (WAYS[0], ['sampling = "sobol"']),
        (WAYS[1], ['sampling = "sobol" without `antithetic`']),
        (WAYS[2], ["multilevel = true"]),
        (WAYS[3], []),
        ({"paths": PATHS, "time": {"steps": 15, "scheme": "euler"}}, []),
        ({"paths": PATHS, "asset": [ASSET | {"jumps": JUMPS}]}, []),
        ({"paths": PATHS, "option": [CALL | {"style": "american"}], "time": {"steps": 4}}, []),
        (
            {"paths": PATHS, "option": [ASIAN | {"control_variate": False}], "time": {"steps": 4}},
            ["control_variate = true", 'sampling = "sobol"'],
        ),
        ({"paths": PATHS, "option": [ASIAN], "time": {"steps": 4}}, ['sampling = "sobol"']),
    ],
)
def test_other_ways_are_those_that_the_scenario_can_take(way: dict[str, Any], others: list[str]) -> None:
    help = refusal(way, 1e-9)
    assert help is not None
    assert help.split(", or try ")[1:] == others
    if any("sobol" in other for other in others):
        points = {"count": way["paths"]["count"], "sampling": "sobol", "target_standard_error": 1e-9}
        assert problem(**(way | {"paths": points})).uses_sobol
