"""The entry to the Monte Carlo solver: it finds which kind of problem a scenario is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsuite.core import Device
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.problem import GbmProblem


class GbmSolver:
    @staticmethod
    def from_scenario(
        model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
        """The problem of a scenario, see `Problem` in `core.py`. The module for multilevel runs is imported only if it
        is needed."""
        if not model.paths.multilevel:
            return GbmProblem.from_scenario(model, base, device, decided)
        from simsuite.solvers.gbm.multilevel.problem import MultilevelProblem

        return MultilevelProblem.from_scenario(model, base, device, decided)
