"""The sheet of a scenario before its run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simsuite.core import Problem
from simsuite.io.reading import open_results
from simsuite.io.results_file import ResultsFile
from simsuite.pictures.choices.choice import Panel
from simsuite.pictures.choices.compose import composed
from simsuite.pictures.look import Look
from simsuite.pictures.previews.gbm import gbm_preview
from simsuite.pictures.previews.heat import heat_preview
from simsuite.pictures.previews.linear import linear_preview
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet
from simsuite.scenario import Scenario


@dataclass(frozen=True)
class _Scenario:
    title: str
    finished: bool = True


def preview_sheet(scenario: Scenario, problem: Problem, place: Path, look: Look) -> Sheet:
    """The sheet. place: an empty directory, for a file that is needed until the sheet is saved.

    Raises SimsuiteError where there is nothing to show, or data files cannot be read."""
    with contextlib.ExitStack() as stack:
        if scenario.solver == "heat":
            subtitle, panels = heat_preview(scenario.model, scenario.base)
        elif scenario.solver == "gbm":
            subtitle, panels = gbm_preview(scenario.model)
        else:
            subtitle, panels = linear_preview(stack.enter_context(_known(scenario, problem, place)))
        return _composed(scenario, subtitle, panels, look)


def _composed(scenario: Scenario, subtitle: str, panels: list[Panel], look: Look) -> Sheet:
    title = scenario.model.title or scenario.path.stem
    return composed(_Scenario(title), subtitle, [[(panel, "")] for panel in panels], look)


@contextlib.contextmanager
def _known(scenario: Scenario, problem: Problem, place: Path) -> Iterator[Recording]:
    """What is known of a linear system before its run, as its results have it: without frames."""
    attributes = {"solver": scenario.solver, "title": scenario.model.title, "scenario": scenario.resolved_toml()}
    with ResultsFile.create(place / "results.h5", problem.layout, attributes) as results:
        analysis = getattr(problem, "analysis", None)
        if analysis is not None:
            results.write_totals(analysis.totals())
    with open_results(place / "results.h5") as file:
        yield Recording(place, file)
