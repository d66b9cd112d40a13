"""Several linear problems as one run, with the states and results of each as it has them alone.

Problems that differ in their initial states are columns of one batch; others of small systems are blocks of one (see
`joined.system`). All of them take steps: powers and modes are made, and judged, for all states of a run, so what they
give depends on which states these are. Who reads results gets those of each problem, made by that problem from its own
part of the state.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.core import Backend, Clock, Device, JsonObject, Layout, Snapshot, Stepper, Variable
from simsuite.crossings.looks import Looks, Reading
from simsuite.errors import AFRESH, SimsuiteError, UsageError
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.equal_steps import EqualSteps
from simsuite.solvers.linear.checks.overflow import find_overflow
from simsuite.solvers.linear.joined.system import fits_as_blocks, in_blocks, in_columns
from simsuite.solvers.linear.matrices.embedding import state_variables
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.system import read_start


@dataclass(frozen=True)
class JoinedProblem(EqualSteps):
    """Several problems that are run as one.

    members: by their place among all that were to be joined; those that have to run alone are not among them. count:
    how many were to be joined. whole: the one problem that is run. in_blocks: whether members are blocks of its A,
    rather than columns of its batch. digest: of what all of them say.
    """

    members: Mapping[int, LinearProblem]
    count: int
    whole: LinearProblem
    in_blocks: bool
    digest: str

    solver = "linear"
    looks: ClassVar[Looks | None] = None  # those with events run alone

    @classmethod
    def from_scenario(
        cls, model: LinearScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> JoinedProblem:
        """See `Problem.from_scenario`; what is `decided` is which problems take part, and what these say. Raises
        UsageError where less than two of them can be run together, and SimsuiteError where a run of others is to be
        continued."""
        digest = hashlib.sha256("\n".join(each.model_dump_json() for each in model.members).encode()).hexdigest()
        if decided and decided.get("members") != digest:
            raise SimsuiteError("the run that is to be continued is of other members; ", AFRESH)
        same = all(_without_start(each) == _without_start(model.members[0]) for each in model.members)
        found = dict(_of_one_system(model, base, device) if same else _of_many(model, base, device))
        if decided:
            found = {i: found[i] for i in decided["places"] if i in found}
        if len(found) < 2 or (decided and len(found) < len(decided["places"])):
            raise UsageError("these systems cannot be run together")
        first, systems = next(iter(found.values())), [each.system for each in found.values()]
        whole = dataclasses.replace(first, system=in_columns(systems) if same else in_blocks(systems))
        return cls(found, len(model.members), whole, not same, digest)

    @property
    def decided(self) -> Mapping[str, Any]:
        return {"members": self.digest, "places": list(self.members)}

    @property
    def clock(self) -> Clock:
        return self.whole.clock

    @property
    def dt(self) -> float:
        return self.whole.dt

    @property
    def rate_unit(self) -> str:
        return self.whole.rate_unit

    @property
    def method(self) -> Mapping[str, str]:
        how = f"{len(self.members)} systems in one run, as {'blocks' if self.in_blocks else 'columns of a batch'}"
        return {**self.whole.method, "stepper_reason": how}

    def work(self, step: int) -> float:
        return self.whole.work(step)

    def initial(self) -> Snapshot:
        return self.whole.initial()

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return self.whole.stepper(backend, start)

    @property
    def layout(self) -> Layout:
        """That of frames alone, with the states of all members side by side."""
        own = next(iter(self.members.values())).layout
        m, names = own.sizes["sample"], ("component", "sample")
        samples = np.tile(np.arange(m), len(self.members))
        member = {"units": "1", "long_name": "place of the member among those that run together, from 0"}
        return Layout(
            sizes={"component": own.sizes["component"], "sample": len(samples), "joined": len(self.members)},
            series=own.series,
            variables=(
                *(
                    v if v.name == "component" else dataclasses.replace(v, values=samples)
                    for v in own.variables
                    if v.name in names
                ),
                Variable("member", ("sample",), np.int64, member, np.repeat(np.array(list(self.members)), m)),
                *state_variables("state or output of each member", self.whole.dtype, self.whole.system.is_complex),
                Variable("joined", ("joined",), np.int64, member, np.array(list(self.members))),
                *(
                    each
                    for v in own.variables
                    if v.name == "norm"
                    for each in (v, dataclasses.replace(v, name="member_norm", dims=("time", "joined")))
                ),
            ),
        )

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        stored = [each.rows(series, part) for each, part in self._each(observed)]
        names = [name for name in ("state", "state_real", "state_imag") if name in stored[0]]
        states = {name: np.hstack([row[name] for row in stored]) for name in names}
        norms = np.array([float(row["norm"]) for row in stored])
        return {"time": stored[0]["time"], **states, "norm": np.array(math.hypot(*norms)), "member_norm": norms}

    def results(self, observed: Snapshot) -> dict[str, Any]:
        """members: the results of each problem, by place; None of those that have to run alone, and of those whose
        state is not finite, which tell more of it when they do."""
        found: list[dict[str, Any] | None] = [None] * self.count
        for (place, each), (_, part) in zip(self.members.items(), self._each(observed)):
            if each.fault(part) is None:
                found[place] = each.results(part)
        return {"members": found}

    def readings(self, observed: Snapshot) -> Sequence[Reading]:
        return ()

    def peaks(self, observed: Snapshot) -> Mapping[str, tuple[float, JsonObject]]:
        """See `Watched`: the extremes of each member, with its place before their names."""
        each = zip(self.members.items(), self._each(observed))
        return {f"{place}.{name}": peak for (place, of), (_, part) in each for name, peak in of.peaks(part).items()}

    def fault(self, observed: Snapshot) -> str | None:
        """Where the first NaN or Inf of the first member is, if all of them have some: the others go on without one
        that fails."""
        found = [each.fault(part) for each, part in self._each(observed)]
        return found[0] if all(found) else None

    def device_bytes(self) -> int:
        return self.whole.device_bytes()

    def _each(self, observed: Snapshot) -> Iterator[tuple[LinearProblem, Snapshot]]:
        """The problems, each with its part of what was observed."""
        axis = 0 if self.in_blocks else 1
        split = {name: np.split(array, len(self.members), axis) for name, array in observed.arrays.items()}
        for i, each in enumerate(self.members.values()):
            arrays = {name: np.ascontiguousarray(arrays[i]) for name, arrays in split.items()}
            yield each, Snapshot(observed.step, arrays)


def _without_start(model: LinearScenario) -> tuple[object, ...]:
    return model.system, model.names, model.analysis


def _of_one_system(model: LinearScenario, base: Path, device: Device | None) -> Iterator[tuple[int, LinearProblem]]:
    """The problems that can be columns of one batch, with their places: the system is read, and analysed, once."""
    first = None
    for i, each in enumerate(model.members):
        with contextlib.suppress(SimsuiteError):  # who runs this one alone is told of it
            if first is None:
                first = LinearProblem.from_scenario(each, base, device, foresee=False)
            if first.plan.method != "step":
                return
            start = read_start(each, base, first.system, first.dtype)
            problem = first.by_steps_from(start)
            if start.shape == first.system.start.shape and not _overflows_unseen(problem):
                yield i, problem


def _of_many(model: LinearScenario, base: Path, device: Device | None) -> Iterator[tuple[int, LinearProblem]]:
    """The problems that can be blocks of one, with their places."""
    first = None
    for i, each in enumerate(model.members):
        with contextlib.suppress(SimsuiteError):  # who runs this one alone is told of it
            problem = LinearProblem.from_scenario(each, base, device, foresee=False)
            if problem.plan.method != "step" or _overflows_unseen(problem):
                continue
            first = first or problem
            if fits_as_blocks([first.system, problem.system]):
                yield i, problem.by_steps_from(problem.system.start)


def _overflows_unseen(problem: LinearProblem) -> bool:
    """Whether a state overflows that may be finite again later, where a dense A would have made NaN of all of it: an
    Inf that no number of a sparse A is stored for is gone. Who runs the problem alone is told at which step."""
    largest = float(np.finfo(problem.dtype).max)
    return problem.system.sparse and find_overflow(problem.system, problem.clock.end, largest) is not None
