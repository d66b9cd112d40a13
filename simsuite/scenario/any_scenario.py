"""What scenarios of every solver have: models of plug-ins derive from it, and add `solver` and their sections."""

from __future__ import annotations

from pydantic import Field

from simsuite.scenario.common import AnyRun, Output, Section
from simsuite.scenario.constants import Constants
from simsuite.scenario.types import Title


class AnyScenario(Section):
    """What every scenario has: `title`, `[constants]`, `[run]` (`AnyRun`) and `[output]` (`Output`)."""

    title: Title = Field("", description="what is simulated, in words")
    constants: Constants
    run: AnyRun = Field(AnyRun(), description="device")
    output: Output = Field(Output(), description="what is stored, where and when")

    @property
    def random(self) -> bool:
        """Whether results depend on run.seed."""
        return False
