"""A sweep as its pictures read it: keys and results of the members, with their units and standard errors."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.errors import UsageError
from simsuite.scenario.load import unit_of_key
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.plan import Plan, value_in_words
from simsuite.sweeps.table import main_numbers, result_named, standard_error_of
from simsuite.words import written_unit

_WIDE = 30.0  # a key whose largest value is that many times the smallest one may have a logarithmic axis


@dataclass(frozen=True)
class Places:
    """Where the values of a key are on an axis.

    values: of each member, numbers as such, others counted from 0. names: of those that are no numbers, in their
    order. logarithmic: whether the axis is.
    """

    values: np.ndarray
    names: tuple[str, ...]
    logarithmic: bool

    @property
    def distinct(self) -> np.ndarray:
        """The different values, in ascending order."""
        return np.unique(self.values)


@dataclass(frozen=True)
class Study:
    """What a sweep is of and what came out. title: of its scenario, or in words what varies. scenario: the resolved one
    of a run, or that of all members as it was given, where there is no run. goal: what a search was for. Any: a name
    and numbers."""

    path: Path
    title: str
    solver: str
    scenario: str
    plan: Plan
    ended: Mapping[int, Ended]
    goal: Mapping[str, Any] | None

    @classmethod
    def of(cls, path: Path) -> Study:
        """The sweep in a directory. Raises UsageError where no member is complete, SimsuiteError for damage."""
        files = SweepDirectory(path)
        solver, plan, goal = files.stored()
        ended = files.read()
        complete = [i for i, each in sorted(ended.items()) if each.status == "complete"]
        if not complete:
            raise UsageError(f"no member of the sweep in {path} is complete: there is nothing to draw")
        texts = (files.run_of(ended[i]) / "scenario.toml" for i in complete)
        text = next((file.read_text("utf-8") for file in (*texts, files.scenario) if file.exists()), "")
        title = str(tomllib.loads(text).get("title", "")) if text else ""
        return cls(path, title or in_words(plan, goal), solver, text, plan, ended, goal)

    @property
    def finished(self) -> bool:
        return len(self.ended) >= len(self.plan.members)

    @cached_property
    def names(self) -> list[str]:
        """The names of all results."""
        return list(dict.fromkeys(name for each in self.ended.values() for name in each.results))

    def chosen(self, what: Sequence[str]) -> list[str]:
        """The results that are shown: those asked for, or those that people look for first, standard errors apart, and
        such as are the same in all members. Raises UsageError for a name that there is not."""
        if what:
            return list(dict.fromkeys(result_named(name, self.names) for name in what))
        if self.goal is not None:
            return [result_named(str(self.goal["name"]), self.names)]
        main = main_numbers(self.solver, self.names) or self.names
        errors = {standard_error_of(name, self.names) for name in main}
        shown = [name for name in main if name not in errors]
        return [name for name in shown if len(np.unique(self.of_all(name)[self.complete])) > 1] or shown

    def of_all(self, name: str) -> np.ndarray:
        """A result of each member; NaN where it is not known."""
        return np.array([self._result(i, name) for i in range(len(self.plan.members))])

    def _result(self, member: int, name: str) -> float:
        value = self.ended[member].results.get(name) if member in self.ended else None
        return math.nan if value is None else value

    def errors_of(self, name: str) -> np.ndarray | None:
        """The standard error of a result of each member; None where it has none."""
        error = standard_error_of(name, self.names)
        found = None if error is None else self.of_all(error)
        return found if found is not None and np.isfinite(found).any() else None

    @cached_property
    def complete(self) -> np.ndarray:
        """Whether each member is complete."""
        return self._with("complete")

    @cached_property
    def failed(self) -> np.ndarray:
        """Whether each member failed."""
        return self._with("failed")

    def _with(self, status: str) -> np.ndarray:
        members = range(len(self.plan.members))
        return np.array([i in self.ended and self.ended[i].status == status for i in members], bool)

    def places(self, key: int) -> Places:
        """The values of a key, by its place among the keys."""
        column = [values[key] for values in self.plan.members]
        if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in column):
            values = np.array(column, np.float64)
            return Places(values, (), _spread(np.unique(values)))
        names = list(dict.fromkeys(map(value_in_words, column)))
        return Places(np.array([names.index(value_in_words(value)) for value in column], float), tuple(names), False)

    def key_label(self, key: int) -> str:
        """A key with its unit."""
        name = self.plan.keys[key]
        unit = unit_of_key(self.solver, self.scenario, name) if self.scenario else ""
        return f"{name} ({unit})" if unit else name

    def label(self, name: str) -> str:
        """A result with its unit."""
        unit = self.unit(name)
        return f"{name} ({written_unit(unit)})" if unit not in ("", "1") else name

    def unit(self, name: str) -> str:
        """The unit of a result as files have it; "" where it is not known."""
        return next((each.units[name] for each in self.ended.values() if name in each.units), "")


def in_words(plan: Plan, goal: Mapping[str, Any] | None) -> str:
    """What varies, and what for: the title of a sweep whose scenario has none. goal: what a search was for."""
    keys = list(plan.keys)
    varied = ", ".join([*keys[:-2], " and ".join(keys[-2:])])
    return f"Sweep over {varied}" if goal is None else f"Search for {varied} by {goal['name']}"


def _spread(values: np.ndarray) -> bool:
    """Whether distances between the values are more alike on a logarithmic axis."""
    if len(values) < 3 or not values[0] > 0 or values[-1] < _WIDE * values[0]:
        return False
    apart, ratios = np.diff(values), np.diff(np.log(values))
    return bool(apart.max() / apart.min() > ratios.max() / ratios.min())
