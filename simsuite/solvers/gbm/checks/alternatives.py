"""Proposes other settings for a scenario whose options cannot reach the wanted standard error with any number of
paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simsuite.scenario.gbm import GbmScenario
from simsuite.scenario.gbm.paths import dimension_mistakes
from simsuite.solvers.gbm.checks.unsupported import not_yet
from simsuite.solvers.gbm.schedule.level_steps import level_steps
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.style_record import style_of

RANDOM = {"antithetic": False, "multilevel": False}  # settings that cannot be combined with Sobol points


def alternatives(statement: Statement, option: int) -> Iterator[str]:
    """Yields keys with values that lower the standard error of an option for the same number of paths, as far as the
    scenario may have them."""
    scenario, contract = statement.scenario, statement.scenario.option[option]
    may_have_control = statement.dynamics.step_terms.lognormal and style_of(contract).has_control(contract)
    if may_have_control and not contract.control_variate:
        yield "control_variate = true"
    if scenario.paths.sampling == "pseudo" and goes(scenario, {"sampling": "sobol", **RANDOM}):
        dropped = [f"`{key}`" for key in RANDOM if getattr(scenario.paths, key)]
        yield 'sampling = "sobol"' + (f" without {' and '.join(dropped)}" if dropped else "")
    halved = scenario.time.scheme != "exact" and len(level_steps(scenario)) > 1
    if halved and not scenario.paths.multilevel and goes(scenario, {"multilevel": True}):
        yield "multilevel = true"


def goes(scenario: GbmScenario, changes: dict[str, Any]) -> bool:
    """Whether the scenario can be run with these other settings of `paths`."""
    paths = scenario.paths.model_copy(update=changes)
    jumps = any(asset.jumps is not None for asset in scenario.asset)
    if dimension_mistakes(paths, len(scenario.asset), scenario.time.steps, jumps):
        return False
    return not not_yet(scenario.model_copy(update={"paths": paths}))
