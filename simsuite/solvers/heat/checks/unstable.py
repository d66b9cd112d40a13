"""A warning about a steady state that temperatures do not come to, or move away from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation


def unstable(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> Iterator[str]:
    """A sentence if small deviations from the steady state that was found grow."""
    growth = results.get("steady", {}).get("growth_rate", 0.0)
    if growth > 0.0:
        capacity = scenario.material.alone or not scenario.material.incomplete
        how = f", by a factor of e in {1.0 / growth:.3g} s" if capacity else ""
        yield (
            f"this steady state is unstable: temperatures a little off it move away from it{how}, as a source gives "
            "more for a higher temperature; there may be another steady state, and a run with time.end in place of "
            "steady = true shows where temperatures go"
        )
