"""What is watched of a linear system in the course of a run: its largest entry, and whether entries reach levels.

Between the steps of a system in continuous time the state is smooth, and inputs change at steps alone. So between two
looks without such a step between them a cubic from the values and the derivatives at both is near it; with noise, or
with looks at some of the steps while inputs change between them, a straight line is as good as any curve. Between the
steps of a system in discrete time there is nothing, so a level is reached at a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.core import JsonObject
from simsuite.crossings.looks import ROUGH, STEPWISE, Condition, Looks, Reading, spread
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.reaching import LOOKS_LINEAR
from simsuite.solvers.linear.control.names import Parts
from simsuite.solvers.linear.inputs.held import HeldInputs, held_inputs
from simsuite.solvers.linear.results.derivatives import Derivatives
from simsuite.solvers.linear.system import LinearSystem
from simsuite.words import counted

_NAMED = 8  # names that a mistake proposes


@dataclass(frozen=True)
class WatchedEntries:
    """Entries of what frames hold that are to reach levels. places: component and sample of each. derivatives: theirs,
    where the state is smooth from look to look."""

    looks: Looks
    places: tuple[tuple[int, int], ...]
    derivatives: Derivatives | None = None

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
        evenly = spread(model.output.looks or LOOKS_LINEAR, model.time.steps)
        if model.system.kind != "continuous":
            return cls(Looks(conditions, evenly, frozenset(), STEPWISE, "time"), places)
        held = _changes(system, evenly)
        steps = evenly if held is None else tuple(sorted({*evenly, *held.steps.tolist()}))
        if system.noise is not None or (held is None and len(evenly) <= model.time.steps):
            return cls(Looks(conditions, steps, frozenset(), ROUGH, "time"), places)
        derivatives = Derivatives.of(system, [component for component, _ in places])
        return cls(Looks(conditions, steps, frozenset(), ROUGH, "time", slopes=True), places, derivatives)

    def readings(
        self, system: LinearSystem, X: np.ndarray, output: np.ndarray, stored: np.ndarray, step: int
    ) -> Sequence[Reading]:
        """Each entry at a step, with what is just before it: they differ where D u jumps.

        X: the state. output: C X, or the state. stored: the same with D u, if there is a D.
        """
        before = stored
        if system.D is not None and self.looks.points != STEPWISE and not system.inputs.ahead and step > 0:
            before = (output + system.direct(step - 1)[:, None]).astype(stored.dtype)
        values = [(float(before[place]), float(stored[place])) for place in self.places]
        if self.derivatives is None:
            return [Reading(*each) for each in values]
        slopes = self.derivatives.at(system, X, [sample for _, sample in self.places], step)
        return [Reading(*each, both) for each, both in zip(values, slopes)]


def _changes(system: LinearSystem, looks: Sequence[int]) -> HeldInputs | None:
    """The steps at which inputs change, all of which are looked at as well; None if they are not known, or too many."""
    if system.held is not None or system.noise is not None:
        return system.held
    every_step = len(looks) > looks[-1]
    return None if every_step else held_inputs(system.inputs, looks[-1])


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
