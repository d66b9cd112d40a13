"""Geometric Brownian motion, sampled exactly in law unless the scenario names a scheme with an error in dt.

SDE:        dS_a / S_a = g_a dt + sigma_a dW_a,  dW_a dW_b = rho_ab dt,  g = rate - dividend_yield (or the drift)
Scheme:     y_a += sigma_a sqrt(dt) / log 2 (L z)_a,  log2(S_a / S_a(0)) = centre_a + y_a,  rho = L L^T (dynamics.py)
            P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), eq. (3.22) to (3.24) and
            section 2.3.3 for the Cholesky factor L.
Order:      of this scheme, none: weak and strong error are zero at every step, for any dt. All that is left is the
            sampling error, O(paths^-1/2), and round-off. For Euler's and Milstein's scheme see market/schemes.py.

Normals come in blocks of 2 (float64) or 4 (float32) steps of a path, and so does everything: a block is done as a
whole, even if a run stops amid it, so that no bit depends on where it was cut. Frames amid a block are looked at on the
way.

The readable kernels stand in `paths_cpu.py` and `paths_cuda.py`, the fast one for GPUs in `paths.cu`.
`make_advance(n_assets, functionals, state, normal, step_terms, rights, stack, summed)` makes advance(paths, n,
first_path, stretch, random, increments, dated, between, terms, policy, points), whose groups of arguments are declared
in `kernels/arguments.py` and `sobol/arguments.py`:

- paths: x[asset, path], the noise y, and kept[functional, path], see functionals.py, are updated for the first n
  columns, which are the paths from number first_path on; begun anew first if the stretch begins at block 0.
  functionals: of each (kind, asset, bit, row, partner): row of `growth` with its weights, below those of assets, and
  number of the functional that goes with it.
- increments and dated: mix, scale and centre as in dynamics.py, the weights as in weights.py. Functionals with a bit
  take the price at the end of the steps for which it is set in `due`, those with bit -1 at the end of every step.
- terms: see `step_terms.py`, which says what else is in a step. between: see `continuous.py`.
- policy: of American options, whose `rights` are (degree, call) of each, see exercise_policy.py.
- stack: 0 for pseudo-random numbers, or else the depth of the stack for Sobol points (numbering.py, sobol_tables.py,
  sobol_cpu.py). mix is then no triangle.
- summed: 2 if steps are twice as long as those whose random numbers they take (multilevel/problem.py), else 1.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from simsuite.communication.communicator import ALONE, Communicator
from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.gbm.paths.joint_launches import ArrayJoint, JointLaunches, ProgramJoint, market_arrays
from simsuite.solvers.gbm.paths.launches_numba import NumbaLaunches
from simsuite.solvers.gbm.paths.launches_nvrtc import NvrtcLaunches
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.kernel_choice import kernel_of, made_or_not

OPTIONS = "options"  # what to observe for sums of payoffs alone


class Launches(Protocol):
    """The launches of one kind of kernels. frames: the frames within the blocks that were made last, in order.
    seen[which, asset, path]: the noise y there."""

    seen: Any

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None: ...

    def learn(self) -> None:
        """Learns when to exercise American options, into `policy` of the state. Allocates memory and waits for the
        device, so that it is called before the run."""

    def apply_policy(self) -> None:
        """From now on, options are exercised by `policy`."""

    def clear(self, slot: int) -> None: ...

    def record(self, which: int, frame: int) -> None:
        """Keeps the first paths at a frame, which is number `which` of `frames`."""

    def moments(self, n: int, first_path: int, frames: range) -> None: ...

    def payoffs(self, which: int, n: int, first_path: int) -> None: ...


def launches_for(plan: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> tuple[Launches, Mapping[str, str]]:
    """The launches on these arrays, and which kernel was chosen."""
    choice = plan.scenario.run.kernel
    chosen = {"kernel": kernel_of(choice, backend)}
    launches: Launches | None = None
    if chosen["kernel"] == "nvrtc":
        make = functools.partial(NvrtcLaunches, plan, backend, arrays)
        launches, chosen = made_or_not(make, choice, chosen)
    return launches or NumbaLaunches(plan, backend, arrays), chosen


class PathStepper:
    """Paths in batches: step g of the run is time step g - b n_steps of batch b = g // n_steps.

    A batch begins in `advance`, so at its first step the arrays still hold the end of the batch before it, which nobody
    needs: snapshots between two batches leave them out. paths_done: the number of paths in the batches before the
    present one, which are all in the statistics of the end. Of several processes, each makes its share of every batch;
    rules of exercise are learnt by the first.
    """

    def __init__(self, plan: PathPlan, backend: Backend, start: Snapshot, communicator: Communicator = ALONE) -> None:
        self.step = start.step
        self.paths_done = int(start.arrays["done"][0])
        self._plan, self._backend = plan, backend
        self._arrays = {name: backend.array(a) for name, a in start.arrays.items() if name != "done"}
        for name, (shape, dtype) in plan.along_paths().items():
            if name not in self._arrays:
                self._arrays[name] = backend.zeros(shape, dtype)
        self._launches, self.chosen = launches_for(plan, backend, self._arrays)
        self._joint: JointLaunches | None = None
        if plan.joint is not None:
            each = [launches_for(p, backend, arrays)[0] for p, arrays in market_arrays(plan, self._arrays)]
            made = ProgramJoint if self.chosen["kernel"] == "nvrtc" else ArrayJoint
            self._joint = made(plan, backend, self._arrays, self._launches, each)
        if plan.holders:
            if start.step == self.paths_done == 0:
                self._learn(communicator)
            self._launches.apply_policy()

    def _learn(self, communicator: Communicator) -> None:
        if communicator.rank == 0:
            self._launches.learn()
        if communicator.size > 1:
            policy, backend = self._arrays["policy"], self._backend
            learnt = communicator.from_first(lambda: backend.to_host(policy))
            backend.copy(backend.array(learnt), policy)

    @property
    def course(self) -> Mapping[str, Any]:
        """What `settle` changes: the step."""
        return {"step": self.step}

    @course.setter
    def course(self, course: Mapping[str, Any]) -> None:
        self.step = course["step"]

    @property
    def state(self) -> Mapping[str, Any]:
        return self._arrays

    @property
    def launches(self) -> Launches:
        """The launches alone, to be timed."""
        return self._launches

    def advance(self, n: int) -> None:
        last, plan = self.step + n, self._plan
        while self.step < min(last, plan.batches_end):
            batch, k = divmod(self.step, plan.n_steps)
            target = min(k + last - self.step, plan.farthest(k))
            self._stretch(batch, k, target)
            self.step += target - k
            if target == plan.n_steps:
                self.paths_done = plan.batches.end(batch)
        self.step = last

    def _stretch(self, batch: int, k: int, target: int) -> None:
        """Makes the blocks of a batch that are left up to time step `target`, and looks at the frames in them."""
        plan, size = self._plan, self._plan.block
        begin, end = -(-k // size), -(-target // size)
        if begin == end:
            return
        done = self.paths_done
        own = plan.own(plan.batches.end(batch) - done, done == 0)
        n, first_path = len(own), done + own.start
        frames = plan.frames_within(begin * size, end * size)
        if begin == 0 and done > 0:
            self._clear_beyond(n)
        self._launches.advance(n, first_path, begin, end, frames)
        if self._joint is not None:
            self._joint.advance(n, first_path, begin, end)
        if done == 0:
            for which, frame in enumerate(frames):
                self._launches.clear(plan.slot(frame))
                self._launches.record(which, frame)
        if frames:
            self._launches.moments(n, first_path, frames)
            if plan.frame_steps[frames[-1]] == plan.n_steps:
                self._launches.payoffs(len(frames) - 1, n, first_path)
                if self._joint is not None:
                    self._joint.payoffs(len(frames) - 1, n, first_path)

    def _clear_beyond(self, n: int) -> None:
        """A batch of fewer paths than the one before begins: no path of that one is to be left in the arrays."""
        with self._backend.arithmetic():
            for name in self._plan.along_paths() if n < self._plan.held else ():
                self._arrays[name][:, n:] = 0

    def snapshot(self) -> Pending:
        between = self.step % self._plan.n_steps == 0 or self.step >= self._plan.batches_end
        dead = self._plan.along_paths() if between else {}
        return self._stage({name: a for name, a in self._arrays.items() if name not in dead})

    def observe(self, series: str) -> Pending:
        plan, arrays = self._plan, self._arrays
        if series == OPTIONS:
            names = ("fault", "options", "joint", "joint_fault")
            return self._stage({name: arrays[name] for name in names if name in arrays})
        frame = plan.frame_of_row(self.step)
        slot = plan.slot(frame)
        observed = {
            "fault": arrays["fault"],
            "moments": arrays["moments"][slot],
            "histogram": arrays["histogram"][slot],
        }
        if "paths" in arrays:
            observed["paths"] = arrays["paths"][frame]
        observed |= {name: arrays[name] for name in ("options", "joint", "joint_fault") if name in arrays}
        if "exposure" in arrays:
            observed["exposure"] = arrays["exposure"][frame]
            observed["exposure_counts"] = arrays["exposure_counts"][slot]
            if self.step == plan.clock.end:
                observed["exposures"] = arrays["exposure"]
        if "risk" in arrays:
            observed["risk"] = arrays["risk"]
        return self._stage(observed)

    def _stage(self, arrays: Mapping[str, Any]) -> Pending:
        return Joined(self._backend.stage(self.step, arrays), {"done": np.array([self.paths_done])})


class Joined(AbstractContextManager[Snapshot]):
    """A snapshot that is being copied from the device, joined with arrays that are on the host already."""

    def __init__(self, pending: Pending, known: Mapping[str, np.ndarray]) -> None:
        self._pending, self._known = pending, known

    def __enter__(self) -> Snapshot:
        snapshot = self._pending.__enter__()
        return Snapshot(snapshot.step, {**snapshot.arrays, **self._known})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._pending.__exit__(kind, error, trace)
