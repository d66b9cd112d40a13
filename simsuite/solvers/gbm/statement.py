"""The frozen statement of what a Monte Carlo run is about, which nearly all parts of the solver read."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar, cast

import numpy as np

from simsuite.core import Snapshot
from simsuite.expressions.magnitude import magnitudes
from simsuite.expressions.sharing import values_at_once
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.joint.joint import Joint
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.exercise_rights import Holder, holders
from simsuite.solvers.gbm.payoffs.functionals import codes
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs, expected_path
from simsuite.solvers.gbm.random_numbers.numbering import ENDLESS, numbering_of
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK, PRECISIONS
from simsuite.solvers.gbm.schedule.shares import largest_share, shares
from simsuite.solvers.gbm.schedule.timeline import Timeline

_STORED_PATHS = 64

Made = TypeVar("Made")


@dataclass(frozen=True)
class Statement(Timeline):
    """A validated scenario, with what is read from it. frame_steps: time steps of the frames, the first 0, the last the
    end. joint: what is averaged over paths of several markets at once, if there is any. share: (process, processes), if
    several processes share the paths of each batch."""

    scenario: GbmScenario
    dynamics: Dynamics
    payoffs: Payoffs
    frame_steps: tuple[int, ...]
    batch: int
    joint: Joint | None = None
    share: tuple[int, int] = (0, 1)

    summed: ClassVar[int] = 1  # how many steps of random numbers make one step of a path

    @property
    def n_assets(self) -> int:
        return len(self.scenario.asset)

    @property
    def joint_assets(self) -> int:
        """The number of assets of all markets of joint payoffs."""
        return len(self.scenario.asset) * len(self.joint.markets) if self.joint else 0

    @property
    def dtype(self) -> np.dtype:
        """The type of what is added up along a path."""
        return PRECISIONS[self.scenario.run.precision][0]

    @property
    def normal(self) -> np.dtype:
        """The type of normals, and of increments made of them."""
        return PRECISIONS[self.scenario.run.precision][1]

    @property
    def block(self) -> int:
        """Time steps whose normals are drawn together."""
        return NORMALS_PER_BLOCK[self.normal]

    def work(self, step: int) -> float:
        """The path-steps made up to a step of the run, if all steps of a block are made at once; in all
        markets."""
        k = step % self.n_steps
        made = super().work(step - k + min(-(-k // self.block) * self.block, self.n_steps))
        return made * (1 + (self.joint.made if self.joint else 0))

    @property
    def seed(self) -> np.uint64:
        return np.uint64(self.scenario.run.seed)

    @property
    def antithetic(self) -> bool:
        return self.scenario.paths.antithetic

    @cached_property
    def numbering(self) -> tuple[int, int, int]:
        """How replicates share the paths, see `random_numbers/numbering.py`."""
        return numbering_of(self.scenario.paths)

    @property
    def open_numbering(self) -> tuple[int, int, int]:
        """The numbering for paths beyond those of the run, from which exercise is learnt. Random numbers have points
        for any path."""
        return self.numbering if self.uses_sobol else ENDLESS

    @property
    def width(self) -> int:
        """The number of paths that make one independent observation."""
        return self.scenario.paths.width

    @property
    def stored(self) -> int:
        """The number of paths that are stored whole, which are the first ones."""
        asked = self.scenario.output.store_paths
        return min(_STORED_PATHS, self.batch) if asked is None else asked

    @property
    def stored_here(self) -> int:
        """The number of paths that this process stores: those that are stored are all the first one's."""
        return self.stored if self.share[0] == 0 else 0

    @cached_property
    def held(self) -> int:
        """The largest number of paths that this process makes at once."""
        return largest_share(self.batch, self.share[1], self.stored)

    def own(self, n: int, first: bool) -> range:
        """The paths that this process makes of n that all make together. first: whether some of them may be stored."""
        process, processes = self.share
        bounds = shares(n, processes, self.stored if first else 0)
        return range(bounds[process], bounds[process + 1])

    @cached_property
    def functional_codes(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """(kind, asset, bit, row, partner) of each functional; see `paths/stepper.py`."""
        return tuple(codes(self.payoffs.functionals, self.n_steps))

    @cached_property
    def holders(self) -> list[Holder]:
        """The American options."""
        return holders(self.payoffs.functionals, self.n_steps)

    @cached_property
    def end_growth(self) -> np.ndarray:
        """[asset]: 2^centre at the end."""
        with np.errstate(over="ignore"):
            return np.exp2(self.dynamics.centre(np.array([self.n_steps]))[:, 0])

    @cached_property
    def shifts(self) -> np.ndarray:
        """[value]: what is subtracted from each value before it is added up."""
        found = self.payoffs.expected(self.dynamics)
        return np.where(np.isfinite(found), found, 0.0)

    @cached_property
    def summands(self) -> np.ndarray:
        """[value]: the size of the numbers that each value is the sum of."""
        path = expected_path(self.payoffs.functionals, self.dynamics)
        return np.array(magnitudes(self.payoffs.values, path))

    @cached_property
    def passing_arrays(self) -> int:
        """The number of float64 arrays that exist while payoffs of some paths are computed: variables and intermediate
        values; of joint payoffs, which come after the others, if these are more."""
        own = 2 * self.n_assets + len(self.payoffs.functionals) + values_at_once(self.payoffs.values)
        if self.joint is None:
            return own
        joint = self.joint.payoffs
        return max(own, 2 * self.joint_assets + len(joint.functionals) + values_at_once(joint.values))

    @property
    def discount(self) -> float:
        """What 1, paid at the end, is worth at the start."""
        return math.exp(-self.scenario.market.rate.integral(0.0, self.scenario.time.end))


def once(make: Callable[[Statement], Made]) -> Callable[[Statement], Made]:
    """Makes a function of a statement that is computed when it is first called and then kept with the statement. It is
    like a cached property, but can be defined in a module that the statement's own module does not know."""
    name = f"{make.__module__}.{make.__qualname__}"

    @functools.wraps(make)
    def kept(statement: Statement) -> Made:
        found = statement.__dict__  # as `cached_property` does: a frozen statement has no other place
        if name not in found:
            found[name] = make(statement)
        return found[name]

    return kept


def once_each(make: Callable[[Statement, Snapshot], Made]) -> Callable[[Statement, Snapshot], Made]:
    """Makes a function of a statement and what was observed, whose value for the latest observation is kept with the
    statement: results that are printed and those in files need the same ones."""
    name = f"{make.__module__}.{make.__qualname__}"

    @functools.wraps(make)
    def kept(statement: Statement, observed: Snapshot) -> Made:
        latest, value = statement.__dict__.get(name, (lambda: None, None))
        if latest() is not observed:
            value = make(statement, observed)
            statement.__dict__[name] = weakref.ref(observed), value
        return cast(Made, value)

    return kept
