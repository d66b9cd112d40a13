"""Geometric Brownian motion, sampled exactly.

SDE:        dS_a / S_a = g_a dt + sigma_a dW_a,  dW_a dW_b = rho_ab dt,  g = rate - dividend_yield (or the drift)
Scheme:     y_a += sigma_a sqrt(dt) / log 2 (L z)_a,  log2(S_a / S_a(0)) = centre_a + y_a,  rho = L L^T (dynamics.py)
            P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), eq. (3.22) to (3.24) and
            section 2.3.3 for the Cholesky factor L.
Order:      none to speak of: weak and strong error are zero at every step, for any dt. All that is left is the sampling
            error, O(paths^-1/2), and round-off.

Normals come in blocks of 2 (float64) or 4 (float32) steps of a path, and so does everything: a block is done as a
whole, even if a run stops amid it, so that no bit depends on where it was cut. Frames amid a block are looked at on the
way.

The readable kernels stand in `paths_cpu.py` and `paths_cuda.py`, the fast one for GPUs in `paths.cu`.
`make_advance(n_assets, functionals, state, normal, moves, rights, stack, summed, matched)` makes advance(x, kept, seen,
n, first_path, begin, end, valid, watched, first_seen, seed, antithetic, mix, scale, centre, growth, due, bridges,
falls, levels, drift, jumps, thresholds, cash, turn, rules, numbering, opened, weights, directions, shift, offset,
match):

- x[asset, path]: the noise y; kept[functional, path], see functionals.py: updated for the first n columns, which are
  the paths from number first_path on; begun anew first if begin is 0. functionals: of each (kind, asset, bit, row,
  partner): row of `growth` with its weights, below those of assets, and number of the functional that goes with it.
- blocks begin .. end - 1 are done, of the last one the first `valid` steps; y after those of its steps whose bit is
  set in `watched` goes to seen[which, asset, path], which = first_seen, first_seen + 1, ...
- seed: uint64. antithetic: paths 2 i and 2 i + 1 use the normals of number i, the latter with the opposite sign.
- mix[a, b], scale[a, step] (one column where it is 1 throughout), centre[a, step] as in dynamics.py, growth = 2^centre,
  and below it a row for each weight (weights.py).
- drift, jumps, thresholds, cash: of schemes, jumps and dividends in cash, see `step_terms.py`, which says what else is
  in a step.
- due[step]: a bit for each schedule, set where functionals with that bit take the price at the end of the step; those
  with bit -1 take it at every step.
- bridges, falls, levels: for functionals of all times, see `continuous.py`.
- turn[right, step], rules[row, ..]: of American options, whose `rights` are (degree, call) of each, the row of the rule
  for the end of a step, see exercise_policy.py.
- stack: 0 for pseudo-random numbers, or else the depth of the stack for Sobol points, of which `numbering` says which
  ones the paths have (numbering.py), and all after it but `match` what a bridge makes of them (sobol_tables.py,
  sobol_cpu.py). mix is then no triangle.
- summed: 2 if steps are twice as long as those whose random numbers they take (multilevel/problem.py), else 1.
- matched: whether normals are shifted and stretched, by `match` (moment_matching.py); n and first_path are whole groups
then.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.gbm.paths.launches_numba import NumbaEngine
from simsuite.solvers.gbm.paths.launches_nvrtc import ProgramEngine
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.kernel_choice import kernel_of, made_or_not


class Engine(Protocol):
    """The launches of one kind of kernels. frames: those that the blocks done last come upon, in order. seen[which,
    asset, path]: y there."""

    seen: Any

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None: ...

    def learn(self) -> None:
        """When to exercise American options: into `policy` of the state. Takes memory and waits, before the run."""

    def obey(self) -> None:
        """From now on, go by `policy`."""

    def clear(self, slot: int) -> None: ...

    def record(self, which: int, frame: int) -> None:
        """Keep the first paths at a frame, which is number `which` of `frames`."""

    def moments(self, n: int, first_path: int, frames: range) -> None: ...

    def payoffs(self, which: int, n: int, first_path: int) -> None: ...


def engine_for(problem: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> tuple[Engine, Mapping[str, str]]:
    """On these arrays, and what was chosen."""
    choice = problem.scenario.run.kernel
    chosen = {"kernel": kernel_of(choice, backend)}
    engine: Engine | None = None
    if chosen["kernel"] == "nvrtc":
        make = functools.partial(ProgramEngine, problem, backend, arrays)
        engine, chosen = made_or_not(make, choice, chosen)
    return engine or NumbaEngine(problem, backend, arrays), chosen


class ExactStepper:
    """Paths in batches: step g of the run is time step g - b n_steps of batch b = g // n_steps.

    A batch begins in `advance`, so at its first step the arrays still hold the end of the batch before it, which nobody
    needs: snapshots between two batches leave them out. paths_done: paths of the batches before the present one, all
    that are in the statistics of the end.
    """

    def __init__(self, problem: PathPlan, backend: Backend, start: Snapshot) -> None:
        self.step = start.step
        self.paths_done = int(start.arrays["done"][0])
        self._problem, self._backend = problem, backend
        self._arrays = {name: backend.array(a) for name, a in start.arrays.items() if name != "done"}
        for name, (shape, dtype) in problem.along_paths().items():
            if name not in self._arrays:
                self._arrays[name] = backend.zeros(shape, dtype)
        self._engine, self.chosen = engine_for(problem, backend, self._arrays)
        if problem.holders:
            if start.step == self.paths_done == 0:
                self._engine.learn()
            self._engine.obey()

    @property
    def state(self) -> Mapping[str, Any]:
        return self._arrays

    @property
    def engine(self) -> Engine:
        """The launches alone, to be timed."""
        return self._engine

    def advance(self, n: int) -> None:
        last, problem = self.step + n, self._problem
        while self.step < min(last, problem.batches_end):
            batch, k = divmod(self.step, problem.n_steps)
            target = min(k + last - self.step, problem.farthest(k))
            self._stretch(batch, k, target)
            self.step += target - k
            if target == problem.n_steps:
                self.paths_done = problem.batches.end(batch)
        self.step = last

    def _stretch(self, batch: int, k: int, target: int) -> None:
        """What is left of the blocks up to time step `target` of a batch, and the frames in them."""
        problem, size = self._problem, self._problem.block
        begin, end = -(-k // size), -(-target // size)
        if begin == end:
            return
        first_path = self.paths_done
        n = problem.batches.end(batch) - first_path
        frames = problem.frames_within(begin * size, end * size)
        self._engine.advance(n, first_path, begin, end, frames)
        if first_path == 0:
            for which, frame in enumerate(frames):
                self._engine.clear(problem.slot(frame))
                self._engine.record(which, frame)
        if frames:
            self._engine.moments(n, first_path, frames)
            if problem.frame_steps[frames[-1]] == problem.n_steps:
                self._engine.payoffs(len(frames) - 1, n, first_path)

    def snapshot(self) -> Pending:
        between = self.step % self._problem.n_steps == 0 or self.step >= self._problem.batches_end
        dead = self._problem.along_paths() if between else {}
        return self._stage({name: a for name, a in self._arrays.items() if name not in dead})

    def observe(self, series: str) -> Pending:
        problem, arrays = self._problem, self._arrays
        frame = problem.frame_of_row(self.step)
        slot = problem.slot(frame)
        observed = {
            "fault": arrays["fault"],
            "moments": arrays["moments"][slot],
            "histogram": arrays["histogram"][slot],
        }
        if "paths" in arrays:
            observed["paths"] = arrays["paths"][frame]
        if "options" in arrays:
            observed["options"] = arrays["options"]
        if "exposure" in arrays:
            observed["exposure"] = arrays["exposure"][frame]
            observed["exposure_counts"] = arrays["exposure_counts"][slot]
            if self.step == problem.clock.end:
                observed["exposures"] = arrays["exposure"]
        if "risk" in arrays:
            observed["risk"] = arrays["risk"]
        return self._stage(observed)

    def observe_options(self) -> Pending:
        """What they are worth by the paths done."""
        return self._stage({name: self._arrays[name] for name in ("fault", "options")})

    def _stage(self, arrays: Mapping[str, Any]) -> Pending:
        return Joined(self._backend.stage(self.step, arrays), {"done": np.array([self.paths_done])})


class Joined(AbstractContextManager[Snapshot]):
    """A snapshot on its way, and what is on the host already."""

    def __init__(self, pending: Pending, known: Mapping[str, np.ndarray]) -> None:
        self._pending, self._known = pending, known

    def __enter__(self) -> Snapshot:
        snapshot = self._pending.__enter__()
        return Snapshot(snapshot.step, {**snapshot.arrays, **self._known})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._pending.__exit__(kind, error, trace)
