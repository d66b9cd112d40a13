"""A second solution that is carried along where conductivities dip or peak at some temperature.

Where k(T) has a dip or a peak, a front whose width is a few cells passes cells one after the other: a cell that has
become a little warmer conducts better, or its neighbour does, and what it is ahead by grows many times until the front
has passed it. That is seen in the equations of the cells, whose Jacobian has positive eigenvalues then: the heat that
passes between two cells is k((T₁ + T₂)/2) (T₂ - T₁), which may fall with T₂. What errors grow to depends on how they
are distributed, and no bound for it is of use.

So a second solution U = T + E begins at the same temperatures and takes the same steps. After each step the estimate of
its error is added to U. To leading order that removes the error, so that E estimates the error of T, with all that the
problem has made of it in the meantime (solving for the correction: R. D. Skeel, Thirteen ways to estimate global error,
Numerische Mathematik 48, 1986)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.heat.adi.adi import AdiSteps
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.operator.operator import block_for
from simsuite.solvers.heat.rkl2.rkl2 import Rkl2Steps
from simsuite.solvers.heat.rkl2.stages import GeneralStages, PlainStages

_TEMPERATURES = 4097  # the number of temperatures at which conductivities are looked at
_CONTRAST = 1.5  # the ratio of conductivities from which on a dip or a peak counts
# the least |d ln k / dT|, times half of the largest difference of two cells about T, with which errors can grow
_STEEP = 1.0
_NONE = 1e-12  # the share of the largest conductivity that counts as none
_SOON = 0.25  # the share by which the range of temperatures may be larger soon
_FEW = 8  # the number of cells along each axis that are looked at


class Contrasts:
    """How many times as much is conducted beside a dip of k(T) as in it, or in a peak of k(T) as beside it, as far as a
    few cells show. bounds: of all temperatures that sources and fluxes could lead to, K. end: of the run, s."""

    def __init__(self, made: Discretisation, bounds: tuple[float, float], end: float) -> None:
        self._columns: list[np.ndarray] = []
        self._places, self._contrast = (0, 0), 1.0
        self._bounds, self._given = bounds, made.temperatures(made.edges.looks(end))
        if made.law is None or not (math.isfinite(bounds[1] - bounds[0]) and bounds[1] > bounds[0]):
            return
        self._T = np.linspace(*bounds, _TEMPERATURES)
        x, y = (a.ravel()[:: 1 + a.size // _FEW] for a in made.centres)
        few = np.s_[:: 1 + made.ny // _FEW, :: 1 + made.nx // _FEW]
        names = {"x": x, "y": y[:, None], "T": self._T[:, None, None], "which": made.law.which[few]}
        for f, k in ((made.law.along_x, made.kx), (made.law.along_y, made.ky)):
            with np.errstate(all="ignore"):
                values = np.broadcast_to(f(**names, k=k[few]), (_TEMPERATURES, y.size, x.size))
            self._columns += list(np.unique(values.reshape(_TEMPERATURES, -1).T, axis=0))

    @property
    def largest(self) -> float:
        """The contrast at all temperatures looked at."""
        return self.between(*self._bounds)

    def coming(self, low: float, high: float) -> float:
        """The contrast at the temperatures that there may be soon where there are those from `low` to `high`, K: some
        more, and those at the start and outside at any time."""
        more = _SOON * (high - low)
        return self.between(min(low - more, self._given[0]), max(high + more, self._given[1]))

    def between(self, low: float, high: float) -> float:
        """The contrast at temperatures from `low` to `high`, K; 1 where k(T) is monotone there, or so flat that errors
        hardly grow. It is the larger the more temperatures there are."""
        if not self._columns or not high > low:
            return 1.0
        places = int(np.searchsorted(self._T, low)), int(np.searchsorted(self._T, high))
        if places != self._places:  # most steps do not lead to temperatures that were not there before
            self._places, self._contrast = places, self._of_places(places[0], places[1] + 1)
        return self._contrast

    def _of_places(self, first: int, last: int) -> float:
        T = self._T[first:last]
        return max((_of_one(T, k[first:last]) for k in self._columns), default=1.0) if T.size > 2 else 1.0


def _of_one(T: np.ndarray, k: np.ndarray) -> float:
    """The contrast of one function, given by its values at temperatures T."""
    if not (np.all(np.isfinite(k)) and np.max(k) > 0):
        return math.inf
    log = np.log(np.maximum(k, _NONE * np.max(k)))
    steep = np.abs(np.gradient(log, T)) * np.minimum(T - T[0], T[-1] - T)
    if np.max(steep) < _STEEP:
        return 1.0

    def beside(values: np.ndarray) -> np.ndarray:
        """For each place, the largest value up to it or the largest one from it on, whichever is less."""
        after = np.maximum.accumulate(values[::-1])[::-1]
        return np.asarray(np.minimum(np.maximum.accumulate(values), after))

    found = math.exp(max(np.max(beside(log) - log), np.max(beside(-log) + log)))
    return found if found >= _CONTRAST else 1.0


class Companion:
    """Carries U along. Fields are views of (ny, nx). E: the field for U - T. room: a field that is overwritten. halves:
    the rows of the tables for the two halves of a step of adi. kept: arrays that a step changes besides the field, each
    with an array to copy it to."""

    def __init__(
        self,
        made: Discretisation,
        backend: Backend,
        stages: PlainStages | GeneralStages,
        adi: AdiSteps,
        halves: Sequence[tuple[int, int, int]],
        kept: Sequence[tuple[Any, Any]],
        E: Any,
        room: Any,
        beside: NoNeighbours = ALL_ROWS,
    ) -> None:
        self._beside = beside
        self._backend, self._adi, self._halves, self._kept, self._E, self._room = backend, adi, halves, kept, E, room
        self._recorder = beside.recorder(backend)
        self._rkl2 = Rkl2Steps(stages, backend, self._recorder, beside)
        kernels = backend.kernels("simsuite.solvers.heat.adi.adi")
        self._ahead = backend.launcher(kernels.ahead, (made.nx, made.ny), block_for(made))

    def follow(self, views: Sequence[Any], now: int, local: Any, step: int, dt: float, stages: int) -> None:
        """Queue the change of E by a step of dt from views[now], which is overwritten as well as the field after the
        next one, to the next one.

        local: the estimate of the error of that step. stages: of rkl2; 0 for a step of adi. The tables must be filled
        for the step."""
        E, U, after, real = self._E, self._room, views[(now + 1) % 3], self._adi.operator.dtype.type
        for array, copy in self._kept:
            self._backend.copy(array, copy)
        before, spare = views[now], views[(now + 2) % 3]
        self._ahead(before, E, real(1), U)
        self._beside.refresh(U)
        if stages:
            fields = [U, before, spare]
            turned = [fields[(i - now) % 3] for i in range(3)]
            led_to = turned[self._rkl2.take(turned, now, step, dt, stages)]
        else:
            led_to = before

            def launch() -> None:
                self._adi.queue(U, led_to, self._halves[0], 0.5 * dt, False)
                self._adi.queue(led_to, led_to, self._halves[1], 0.5 * dt, False)

            self._recorder.replay((now, dt), launch)
        self._ahead(led_to, after, real(-1), E)
        self._ahead(E, local, real(1), E)
        for array, copy in self._kept:
            self._backend.copy(copy, array)
