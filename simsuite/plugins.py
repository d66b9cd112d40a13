"""Solvers by name: those that come with simsuite, and those of plug-ins.

A plug-in is an installed package with an entry point in the group `simsuite.solvers`, whose name is that of the solver
in scenario files, and whose object is a `Solver`. Entry points are looked through only where a name is none of
simsuite's own, since that takes longer than to read a scenario. Parts are imported when they are first needed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simsuite.errors import UsageError

GROUP = "simsuite.solvers"


@dataclass(frozen=True)
class Solver:
    """Where the parts of a solver are, each as "module:name".

    scenario: the class of its scenarios, a `Section`. problem: the class of its problems, see `core.Problem`. picture:
    a function that makes a picture (`pictures.sheet.Sheet`) of a run (`pictures.recording.Recording`); None for none.
    joined: the class of problems of several scenarios that are one run, which have `members`; None for none.
    """

    scenario: str
    problem: str
    picture: str | None = None
    joined: str | None = None


BUILT_IN: Mapping[str, Solver] = {
    "heat": Solver(
        "simsuite.scenario.heat:HeatScenario",
        "simsuite.solvers.heat.problem:HeatProblem",
        "simsuite.pictures.heat:heat_figure",
    ),
    "gbm": Solver(
        "simsuite.scenario.gbm:GbmScenario",
        "simsuite.solvers.gbm.solver:GbmSolver",
        "simsuite.pictures.gbm:gbm_figure",
    ),
    "linear": Solver(
        "simsuite.scenario.linear:LinearScenario",
        "simsuite.solvers.linear.problem:LinearProblem",
        "simsuite.pictures.linear:linear_figure",
        "simsuite.solvers.linear.joined.problem:JoinedProblem",
    ),
}


class BrokenPlugin(UsageError):
    """A plug-in that cannot be used. The text names it and the package that it comes with."""


def solver_names() -> list[str]:
    """The names of all solvers, those of simsuite first."""
    return [*BUILT_IN, *sorted(_entry_points())]


def is_solver(name: str) -> bool:
    return name in BUILT_IN or name in _entry_points()


def solver_named(name: str) -> Solver:
    """The solver of a name. Raises KeyError where there is none, and BrokenPlugin."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = _entry_points()[name]
    if len(found) > 1:
        raise BrokenPlugin(f"several packages have a solver {name!r}: {' and '.join(map(_package, found))}; keep one")
    try:
        solver = found[0].load()
    except Exception as error:  # whatever the code of others raises
        raise _broken(name, error) from error
    if not isinstance(solver, Solver):
        raise BrokenPlugin(f"{_who(name)} is no simsuite.plugins.Solver, but {found[0].value} is {solver!r:.80}")
    return solver


def part_of(name: str, part: str) -> Any:
    """A part of a solver: its "scenario", "problem", "picture" or "joined", of which there may be none. Any: a class or
    a function. Raises KeyError where there is no such solver, and BrokenPlugin."""
    place: str | None = getattr(solver_named(name), part)
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the code of others raises
        if name in BUILT_IN:
            raise
        raise _broken(name, error, f" ({part} = {place!r})") from error


@functools.cache
def _entry_points() -> Mapping[str, list[importlib.metadata.EntryPoint]]:
    """The entry points of plug-ins by name; simsuite's own names are not theirs to take. A package that is found twice
    on the path counts once."""
    found: dict[str, dict[str, importlib.metadata.EntryPoint]] = {}
    for each in importlib.metadata.entry_points(group=GROUP):
        if each.name not in BUILT_IN:
            found.setdefault(each.name, {}).setdefault(_package(each), each)
    return {name: list(points.values()) for name, points in found.items()}


def _package(point: importlib.metadata.EntryPoint) -> str:
    return "a package without a name" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _who(name: str) -> str:
    return f"the solver {name!r} of {_package(_entry_points()[name][0])}"


def _broken(name: str, error: Exception, part: str = "") -> BrokenPlugin:
    return BrokenPlugin(f"{_who(name)} cannot be loaded{part}: {type(error).__name__}: {error}")
