"""That the record of bits (`python -m bits`) has every way to compute, and finds a change; and, where there is a record
of this machine, that some runs still have the bits that it says."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any, get_args

import pytest
from bits import cases, record

from simsuite.scenario.gbm import GbmScenario
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.gbm.solver import GbmSolver

RUNS = ("templates/heat rkl2 float64", "templates/gbm float64", "templates/linear step float64")
SCENARIOS = dict(cases.cases(small=False))


def test_every_way_to_compute_is_in_the_record() -> None:
    ways = {
        cases.STEPPERS: (HeatScenario, "time", "stepper"),
        cases.METHODS: (LinearScenario, "time", "method"),
        cases.PRECISIONS["heat"]: (HeatScenario, "run", "precision"),
        cases.PRECISIONS["linear"]: (LinearScenario, "run", "precision"),
        cases.PRECISIONS["gbm"]: (GbmScenario, "run", "precision"),
    }
    for listed, (scenario, table, key) in ways.items():
        model: Any = scenario.model_fields[table].annotation
        assert set(listed) == set(get_args(model.model_fields[key].annotation)), (scenario, key)
    gbm: Any = GbmScenario.model_fields
    schemes = get_args(gbm["time"].annotation.model_fields["scheme"].annotation)
    assert set(schemes) <= {"exact"} | {changed.get("time", {}).get("scheme") for changed in cases.PATHS.values()}
    styles = get_args(get_args(get_args(gbm["option"].annotation)[0])[0])
    listed = {option["style"] for option in cases.STYLES.values()}
    assert listed == {get_args(style.model_fields["style"].annotation)[0] for style in styles}


@pytest.mark.parametrize("way", cases.PATHS)
def test_every_way_to_make_paths_is_run(way: str, tmp_path: Path) -> None:
    """What is refused leaves no bits."""
    GbmSolver.from_scenario(GbmScenario.model_validate(SCENARIOS[f"options/european {way}"]), tmp_path)


def test_a_change_is_found(tmp_path: Path) -> None:
    scenario = SCENARIOS[RUNS[1]]
    once, again = (record.hashes(scenario, "cpu", tmp_path / name) for name in ("once", "again"))
    assert once == again
    other = copy.deepcopy(scenario)
    other["asset"][0]["spot"] *= 1.0 + 2.0**-50
    changed = record.hashes(other, "cpu", tmp_path / "other")
    assert changed.keys() == once.keys()
    assert changed["price_mean"] != once["price_mean"]
    assert changed["time"] == once["time"]
    assert logging.getLogger("simsuite").level == logging.NOTSET, "other tests look at what is logged"
    other["asset"][0]["spot"] = -1.0
    assert record.hashes(other, "cpu", tmp_path / "refused") == {"refused": "ScenarioError"}


@pytest.mark.parametrize("name", RUNS)
def test_bits_are_those_of_the_record(name: str, tmp_path: Path) -> None:
    known = record.load().get("cpu", {})
    if known.get("environment") != record.environment("cpu"):
        pytest.skip("there is no record of this processor and these libraries")
    assert record.hashes(SCENARIOS[name], "cpu", tmp_path / "run") == known["runs"][name]
