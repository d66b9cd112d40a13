"""Scenarios that differ in their options alone, as one: all options are then priced on the same paths, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simsuite.scenario.gbm.scenario import GbmScenario


def can_join(model: GbmScenario) -> bool:
    """Whether the results of each option do not depend on which others are priced beside it: without a target, which
    sets the number of paths, and without a portfolio."""
    return not (model.paths.target_standard_error or model.output.risk or model.output.exposure) and bool(model.option)


def join(models: Sequence[GbmScenario]) -> GbmScenario | None:
    """The scenario with the options of all of these; None if they differ in anything else. Options get new names."""
    first = models[0]
    if not all(can_join(model) and _without_options(model) == _without_options(first) for model in models):
        return None
    options = [option for model in models for option in model.option]
    named = [option.model_copy(update={"name": f"o{i}"}) for i, option in enumerate(options)]
    return first.model_copy(update={"option": named})


def divide(results: Mapping[str, Any], models: Sequence[GbmScenario]) -> list[dict[str, Any]]:
    """What each of the scenarios has of the results of all of them together. Any: as `run --json` has them."""
    each, found = iter(results["options"].values()), []
    for model in models:
        own = {name: next(each) for name in model.option_names}
        found.append({**results, "options": own})
    return found


def _without_options(model: GbmScenario) -> dict[str, object]:
    ignored = {"option", "title", "constants"}  # the constants that options use are numbers in them already
    fields = {name: value for name, value in model if name not in ignored}
    return fields | {"output": model.output.model_copy(update={"directory": None})}
