"""Sheets of what was asked for, of one run or of several with one scale."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.errors import UsageError
from simsuite.pictures.choices.choice import Choice, Panel
from simsuite.pictures.choices.compose import Row, composed
from simsuite.pictures.choices.gbm import GBM
from simsuite.pictures.choices.heat import HEAT
from simsuite.pictures.choices.labels import labels_of
from simsuite.pictures.choices.linear import LINEAR
from simsuite.pictures.look import Look
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet

OF_SOLVER = {"heat": HEAT, "gbm": GBM, "linear": LINEAR}
NAMES = tuple(dict.fromkeys(choice.name for choices in OF_SOLVER.values() for choice in choices))
MOST_RUNS = 12


def available(run: Recording) -> list[str]:
    """The names of all that a run has."""
    return [choice.name for choice in OF_SOLVER[run.solver] if choice.missing(run) is None]


def chosen(run: Recording, name: str) -> Choice:
    """What was asked for. Raises UsageError where a run does not have it, and says what it has."""
    has = ", ".join(available(run))
    choice = next((c for c in OF_SOLVER[run.solver] if c.name == name), None)
    if choice is None and name not in NAMES:
        raise UsageError(f"there is no picture called {name!r}; the {run.solver} run in {run.directory} has {has}")
    if choice is None:
        raise UsageError(f"a {run.solver} run has no {name}; that in {run.directory} has {has}")
    why = choice.missing(run)
    if why is not None:
        raise UsageError(f"the run in {run.directory} has no {why}; it has {has}")
    return choice


def sheet_of(runs: Sequence[Recording], names: Sequence[str], look: Look) -> Sheet:
    """The sheet: what is asked for of each run, by name, in rows, one below the other; of several runs beside each
    other, with the same axes and colours. Raises UsageError where a run does not have something."""
    solvers = {run.solver for run in runs}
    if len(solvers) > 1:
        raise UsageError(f"runs of {' and '.join(sorted(solvers))} have nothing in common that one sheet could show")
    if len(runs) > MOST_RUNS:
        raise UsageError(f"a sheet has room for {MOST_RUNS} runs, not {len(runs)}")
    rows = [row for name in names for row in _rows(runs, name)]
    return composed(_subject(runs), _subtitle(runs), rows, look)


def _rows(runs: Sequence[Recording], name: str) -> list[Row]:
    """What is asked for by a name: rows of panels that show the same of each run."""
    choices = [chosen(run, name) for run in runs]
    together = choices[0].together
    if together is not None:
        return [[(panel, "")] for panel in together(runs)]
    if len(runs) == 1:
        return [[(panel, "")] for panel in choices[0].panels(runs[0])]
    found = [list(choice.panels(run)) for choice, run in zip(choices, runs)]
    kinds = dict.fromkeys(panel.kind for panels in found for panel in panels)
    return [row for kind in kinds for row in _beside([[p for p in panels if p.kind == kind] for panels in found], runs)]


def _beside(found: Sequence[Sequence[Panel]], runs: Sequence[Recording]) -> list[Row]:
    """Rows of the first panels of all runs, of the second ones, and so on, as far as there are any."""
    return [
        [(panels[k], label) for panels, label in zip(found, labels_of(runs)) if k < len(panels)]
        for k in range(max(map(len, found)))
    ]


class _Several:
    """What the header says of several runs."""

    def __init__(self, runs: Sequence[Recording]) -> None:
        titles = list(dict.fromkeys(run.title for run in runs))
        self.title = titles[0] if len(titles) == 1 else f"{len(runs)} runs"
        self.finished = all(run.finished for run in runs)


def _subject(runs: Sequence[Recording]) -> Recording | _Several:
    return runs[0] if len(runs) == 1 else _Several(runs)


def _subtitle(runs: Sequence[Recording]) -> str:
    first = runs[0]
    if len(runs) == 1:
        return f"{first.solver}   |   {first.attribute('precision')}   |   {first.attribute('device_name')}"
    return "   |   ".join(labels_of(runs))
