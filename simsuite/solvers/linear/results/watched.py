"""What is watched of a linear system in the course of a run: its largest entry, and whether entries reach levels.

Between the steps of a system in continuous time, the state is smooth where inputs do not change; with noise it is
rough, and a straight line is as good as any curve. Between the steps of a system in discrete time there is nothing, so
a level is reached at a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.core import JsonObject
from simsuite.crossings.looks import ROUGH, SMOOTH, STEPWISE, Condition, Looks, spread
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.reaching import LOOKS_LINEAR
from simsuite.solvers.linear.control.names import Parts
from simsuite.solvers.linear.system import LinearSystem
from simsuite.words import counted

_NAMED = 8  # names that a mistake proposes


@dataclass(frozen=True)
class WatchedEntries:
    """Entries of what frames hold that are to reach levels. places: component and sample of each."""

    looks: Looks
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, model: LinearScenario, system: LinearSystem, names: Parts) -> WatchedEntries | None:
        """Those of a scenario; None if there are none. Raises ScenarioError where there is no such entry."""
        if not model.reaching:
            return None
        rows, samples = len(system.start if system.C is None else system.C), system.start.shape[1]
        mistakes = list(_mistakes(model, system, names, rows, samples))
        if mistakes:
            raise ScenarioError(mistakes)
        places = tuple((_component(each.of, names), each.sample) for each in model.reaching)
        conditions = tuple(
            Condition(each.title, str(each.of), each.reaches, each.direction, each.stop) for each in model.reaching
        )
        continuous = model.system.kind == "continuous"
        points = STEPWISE if not continuous else SMOOTH if system.noise is None else ROUGH
        held = system.held
        changes = held.steps.tolist() if continuous and held is not None and held.changes else ()
        steps = spread(model.output.looks or LOOKS_LINEAR, model.time.steps, changes)
        return cls(Looks(conditions, steps, frozenset(changes), points, "time"), places)

    def readings(
        self, system: LinearSystem, X: np.ndarray, stored: np.ndarray, step: int
    ) -> Sequence[tuple[float, float]]:
        """Each entry just before a step and at it, which differ where D u jumps.

        X: C X, or the state. stored: the same with D u, if there is a D.
        """
        before = stored
        if system.D is not None and self.looks.points != STEPWISE and not system.inputs.ahead and step > 0:
            before = (X + system.direct(step - 1)[:, None]).astype(stored.dtype)
        return [(float(before[place]), float(stored[place])) for place in self.places]


def largest_entry(parts: Sequence[np.ndarray], names: Parts, t: float) -> dict[str, tuple[float, JsonObject]]:
    """See `capabilities.Watched`: the entry of the largest magnitude at time t. parts: of what a frame holds, (q, m):
    the numbers, or their real and imaginary parts."""
    size = np.abs(parts[0]) if len(parts) == 1 else np.hypot(*parts)
    component, sample = (int(i) for i in np.unravel_index(int(np.argmax(size)), size.shape))
    value = float(parts[0][component, sample]) if len(parts) == 1 else float(size[component, sample])
    name = names.observed[component] if names.observed else str(component)
    told = {"value": value, "component": name, "sample": sample, "time": t}
    return {"largest": (float(size[component, sample]), told)}


def _component(of: str | int, names: Parts) -> int:
    return of if isinstance(of, int) else list(names.observed).index(of)


def _mistakes(model: LinearScenario, system: LinearSystem, names: Parts, rows: int, samples: int) -> Iterator[Mistake]:
    what = "output" if system.C is not None else "state"
    for i, each in enumerate(model.reaching):
        if system.is_complex:
            message = "a complex number does not rise to a level, or fall to it"
            yield Mistake(("event", i, "of"), message, "write the system with real numbers, or leave the event out")
        elif isinstance(each.of, int) and each.of >= rows:
            yield Mistake(("event", i, "of"), f"there is no {what} {each.of}: the last of {rows} is {rows - 1}")
        elif isinstance(each.of, str) and each.of not in names.observed:
            there = ", ".join(f"`{name}`" for name in names.observed[:_NAMED])
            more = ", .." if len(names.observed) > _NAMED else ""
            help = f"there are {there}{more}" if there else "write its number, from 0"
            yield Mistake(("event", i, "of"), f"there is no {what} `{each.of}`", help)
        if each.sample >= samples:
            message = f"there is no state {each.sample} in a batch of {counted(samples, 'state')}, counted from 0"
            yield Mistake(("event", i, "sample"), message)
