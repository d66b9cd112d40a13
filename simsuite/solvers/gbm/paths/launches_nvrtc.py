"""Launches of programs in CUDA C++, compiled for what a scenario needs; the fastest shape of the launch is found by
trying."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Program
from simsuite.solvers.gbm.american.exercise_policy import FIRST_PATH, learning_paths
from simsuite.solvers.gbm.american.regression_launches import learn_by_program
from simsuite.solvers.gbm.paths.kernels import continuous
from simsuite.solvers.gbm.paths.path_arguments import Market, Points
from simsuite.solvers.gbm.paths.payoff_launches import PayoffsPrograms, ProgramPayoffs
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.portfolio_launches import ProgramPortfolio
from simsuite.solvers.gbm.paths.tables import tables
from simsuite.solvers.gbm.payoffs.exercise_rights import basis_specs, learning_steps, policy_shape
from simsuite.solvers.gbm.payoffs.functionals import Kind, marks
from simsuite.solvers.gbm.random_numbers.numbering import most_threads
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.sobol import sobol_tables
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import BINS, BINS_PER_UNIT, GROUP, LARGEST, LOG_LARGEST, Z_MAX
from simsuite.solvers.structs import packed

PATHS = Path(__file__).parent / "kernels" / "paths.cu"
MOMENTS = Path(__file__).parents[1] / "statistics" / "moments.cu"
SHAPES = ((128, 4), (256, 4), (256, 2), (128, 2))  # threads of a block, blocks of steps in a turn of the loop
# tried, too, where much is kept; the third number is how many blocks a multiprocessor is to hold at least
CROWDED_SHAPES = ((256, 2, 4), (256, 1, 5))
DENSE_SHAPES = ((128, 1), (256, 1), (256, 2), (512, 1))
SOBOL_SHAPES = ((256, 2), (256, 1), (128, 2), (128, 1))  # Sobol points need more registers
# bytes of a trial's paths, freed afterwards: fewer would leave multiprocessors idle; the blocks of steps of a trial
_TRIED_BYTES, _TRIED_BLOCKS = 1 << 27, 64
_MOMENTS_THREADS, _MOMENTS_BLOCKS = 512, 3  # threads of a block; blocks on each multiprocessor


def is_crowded(plan: PathPlan) -> bool:
    """Whether a path keeps so many numbers that the compiler, if it chose the number of registers, would spill some to
    memory."""
    rights, step_terms = basis_specs(plan.payoffs.functionals), plan.dynamics.step_terms
    many = plan.n_assets * (1 + plan.antithetic) + len(plan.functional_codes) > 4
    between = continuous.watched(plan) and plan.normal == np.float64
    return many or between or bool(rights) or not step_terms.lognormal or plan.uses_sobol


def shapes_of(plan: PathPlan) -> tuple[tuple[int, ...], ...]:
    """The shapes of launches that are tried: arguments of `paths_macros`."""
    if plan.uses_sobol:
        return SOBOL_SHAPES
    if paths_each(plan) > 1:
        return DENSE_SHAPES
    few = plan.n_assets == 1 and plan.dynamics.step_terms.lognormal
    return SHAPES + CROWDED_SHAPES if few and is_crowded(plan) else SHAPES


def paths_macros(plan: PathPlan, threads: int, unroll: int, blocks: int = 1) -> dict[str, str | int]:
    step_terms, rights = plan.dynamics.step_terms, basis_specs(plan.payoffs.functionals)
    wanted = [f"{{{Kind(kind).name},{','.join(map(str, rest))}}}" for kind, *rest in plan.functional_codes]
    return {
        "ASSETS": plan.n_assets,
        "STATE": C_TYPES[plan.dtype],
        "NORMAL": C_TYPES[plan.normal],
        "SIGNS": 1 + plan.antithetic,
        "FUNCTIONALS": ",".join(wanted) or "{NOTHING,0,0}",
        "COUNT": max(len(wanted), 1),
        "RIGHTS": ",".join(f"{{{degree},{int(call)}}}" for degree, call in rights) or "{1,0}",
        "WIDTH": max(policy_shape(plan.payoffs.functionals)[1], 1),
        "VARYING": int(plan.dynamics.varying),
        "PAYING": int(continuous.shapes(plan)["dividend_drops"][1] > 1),
        "SCHEME": step_terms.scheme.name,
        "JUMPING": ",".join(str(int(jumps)) for jumps in step_terms.jumping),
        "IN_CASH": ",".join(str(int(pays)) for pays in step_terms.paying),
        "LOOKS": int(looks_on_the_way(plan)),
        "DENSE": int(is_dense(plan)),
        "EACH": paths_each(plan),
        "UNROLL": unroll if step_terms.lognormal else 1,  # a step has many instructions otherwise
        "THREADS": threads,
        "BOUNDS": f"{threads}, {blocks}" if is_crowded(plan) else threads,
        **({"SOBOL": 1, "GROUP": GROUP, "STACK": sobol_tables.bridge_of(plan).depth} if plan.uses_sobol else {}),
        **({"SUMMED": 1} if plan.summed == 2 else {}),
    }


def looks_on_the_way(plan: PathPlan) -> bool:
    """Whether frames other than the end are looked at. If not, the noise at the end stays in `x`, and no block has to
    look up frames."""
    return plan.frame_steps[1:] != (plan.n_steps,)


def seen_by(plan: PathPlan, backend: Backend, x: Any) -> Any:
    """The array for the noise at frames that are looked at together: the array of the paths itself if only the end is
    looked at."""
    if not looks_on_the_way(plan) and not is_dense(plan):
        return x[None]
    return backend.zeros((plan.most_watched, plan.n_assets, plan.held), plan.dtype)


def is_dense(plan: PathPlan) -> bool:
    """Whether all steps are frames, and the bytes of a row of them fit in 32 bits."""
    every = len(plan.frame_steps) == plan.n_steps + 1
    return every and plan.held * plan.dtype.itemsize < 1 << 32


def paths_each(plan: PathPlan) -> int:
    """The number of paths, or pairs of them, of a thread: where all steps are stored, as many as make 16 bytes. Writing
    rows in pieces of 4 bytes would be slower than the memory can be."""
    signs = 1 + plan.antithetic
    together = max(16 // plan.dtype.itemsize, signs)
    fitting = plan.n_assets <= 2 and not plan.uses_sobol and plan.held % together == 0
    return together // signs if is_dense(plan) and fitting else 1


def moments_macros(plan: PathPlan) -> dict[str, str | int]:
    return {
        "STATE": C_TYPES[plan.dtype],
        "NORMAL": C_TYPES[plan.normal],
        "ASSETS": plan.n_assets,
        "SIGNS": plan.width,
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "BINS": BINS,
        "BINS_PER_UNIT": int(BINS_PER_UNIT),
        "Z_MAX": int(Z_MAX),
        "LARGEST": repr(LARGEST),
        "LOG_LARGEST": repr(LOG_LARGEST),
        "THREADS": _MOMENTS_THREADS,
    }


def _with_end(found: list[tuple[int, int]]) -> np.ndarray:
    """The marks, and one more that is never reached."""
    return np.array([*found, (np.iinfo(np.int32).max, 0)], np.int32)


class NvrtcLaunches:
    def __init__(self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._plan, self._backend, self._arrays = plan, backend, arrays
        self._moments_program = backend.program(MOMENTS, moments_macros(plan))
        programs = PayoffsPrograms(plan, backend)  # begun here, to be compiled beside the others
        self.seen = seen_by(plan, backend, arrays["x"])
        made = tables(plan, plan.normal) | sobol_tables.program_tables(plan)
        self._tables = {name: backend.array(np.ascontiguousarray(a)) for name, a in made.items()}
        self._end_growth = backend.array(plan.end_growth)
        self._marks = marks(plan.frame_steps[1:], plan.block)
        self._marks_table = backend.array(_with_end(self._marks))
        self._advance = self._fastest()
        self._moments = functools.cache(self._moments_launcher)
        self._moments(1)
        self._payoffs = ProgramPayoffs(plan, backend, programs=programs)
        self._portfolio = ProgramPortfolio(plan, backend, arrays, self._tables["frames"], self._end_growth)

    def _moments_launcher(self, frames: int) -> Callable[..., None]:
        """The launcher of `moments` for so many frames at once."""
        x = max(1, self._backend.processors * _MOMENTS_BLOCKS // frames)
        return self._moments_program.launcher("moments", (x, self._plan.n_assets, frames), _MOMENTS_THREADS)

    def _fastest(self) -> Callable[..., None]:
        """The launch of `advance` with the shape that is the fastest for such paths."""
        plan, backend = self._plan, self._backend
        most = _TRIED_BYTES // (plan.dtype.itemsize * (plan.n_assets + len(plan.functional_codes)))
        n = min(plan.held, max(most // GROUP, 1) * GROUP)
        end = min(-(-plan.n_steps // plan.block), _TRIED_BLOCKS)
        if is_dense(plan):  # the trials need room in `seen`
            end = min(end, max(plan.most_watched // plan.block, 1))
        shapes = [paths_macros(plan, *shape) for shape in shapes_of(plan)]
        question = "\n".join(["paths", str(n), str(end), *map(str, shapes)])

        x = backend.zeros((plan.n_assets, n), plan.dtype)
        room = backend.zeros((max(len(plan.functional_codes), 1), n), plan.dtype)

        no_marks = self._no_marks()

        @functools.cache
        def tried() -> list[Callable[..., None]]:
            programs = [backend.program(PATHS, shape) for shape in shapes]
            return [self._paths_launcher(program, shape, n) for program, shape in zip(programs, shapes)]

        def trial(i: int) -> None:
            tried()[i](x, room, self.seen, n, n, 0, 0, end, no_marks)

        best = backend.fastest(question, [functools.partial(trial, i) for i in range(len(shapes))])
        self._shape = shapes[best]
        launch = self._paths_launcher(backend.program(PATHS, shapes[best]), shapes[best], plan.held)
        launch(x, room, self.seen, 0, n, 0, 0, end, no_marks)  # loads the program
        return launch

    def _paths_launcher(self, program: Program, macros: Mapping[str, str | int], n: int) -> Callable[..., None]:
        """The function that launches `advance` for up to n paths."""
        plan, tables = self._plan, self._tables
        threads, width = int(macros["THREADS"]), 1 + plan.antithetic
        lanes = most_threads(n, plan.numbering) if plan.uses_sobol else -(-n // (width * int(macros["EACH"])))
        launcher = program.launcher("advance", -(-lanes // threads), threads)
        own = {name: tables[name] for name in Market._fields if name in tables}
        sizes = {"length": tables["due"].size, "n_thresholds": tables["thresholds"].shape[1]}
        given = [packed(self._backend, Market(**own, **sizes, n_steps=plan.n_steps), plan.dtype)]
        if plan.uses_sobol:
            replicates, whole, each = plan.numbering
            bridge = {name: tables[name] for name in Points._fields if name in tables}
            points = Points(**bridge, blocks=bridge["opened"].size, replicates=replicates, each=each, whole=whole)
            given.append(packed(self._backend, points, plan.dtype))

        def launch(
            x: Any, kept: Any, seen: Any, n: int, room: int, first_path: int, begin: int, end: int, looks: Any
        ) -> None:  # fmt: skip
            launcher(
                x, kept, seen, np.uint32(n // width), np.uint64(room), np.uint64(first_path // width), plan.seed,
                np.int32(begin), np.int32(end), looks, *given,
            )  # fmt: skip

        return launch

    def _no_marks(self) -> Any:
        return self._marks_table[len(self._marks) :]

    def learn(self) -> None:
        plan, backend = self._plan, self._backend
        n, steps = learning_paths(plan), learning_steps(plan.holders)
        x, kept, noise = (
            backend.zeros((*layers, n), plan.dtype)
            for layers in ((plan.n_assets,), (len(plan.functional_codes),), (len(steps), plan.n_assets))
        )
        looks = marks(steps.tolist(), plan.block)
        end = looks[-1][0] + 1
        macros = {**self._shape, "LOOKS": 1, "DENSE": 0, "EACH": 1}
        launch = self._paths_launcher(backend.program(PATHS, macros), macros, n)
        launch(x, kept, noise, n, n, FIRST_PATH, 0, end, backend.array(_with_end(looks)))
        learn_by_program(backend, plan.holders, steps, noise, self._arrays["policy"])

    def apply_policy(self) -> None:
        with self._backend.arithmetic():
            self._tables["rules"][...] = self._arrays["policy"]

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None:
        x = self._arrays["x"]
        first = bisect.bisect_left(self._marks, (begin, 0))
        looks = self._marks_table[first:] if frames else self._no_marks()
        self._advance(x, self._arrays.get("kept", x), self.seen, n, self._plan.held, first_path, begin, end, looks)

    def clear(self, slot: int) -> None:
        with self._backend.arithmetic():
            for name in ("moments", "histogram"):
                self._arrays[name][slot].fill(0)
        self._portfolio.clear(slot)

    def record(self, which: int, frame: int) -> None:
        if self._plan.stored_here:
            self._backend.copy(self.seen[which, :, : self._plan.stored_here], self._arrays["paths"][frame])

    def moments(self, n: int, first_path: int, frames: range) -> None:
        """Adds up the moments of all frames, in one launch where their statistics lie one after another."""
        plan, arrays = self._plan, self._arrays
        together = len(frames) if plan.n_batches > 1 else 1
        for which in range(0, len(frames), together):
            slot = plan.slot(frames[which])
            self._moments(together)(
                self.seen[which], np.uint64(plan.held), np.uint32(n), np.uint64(first_path),
                self._tables["frames"][frames[which]], arrays["moments"][slot], arrays["histogram"][slot],
                arrays["fault"],
            )  # fmt: skip
        self._portfolio.expose(self.seen, n, frames)

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        seen, arrays = self.seen[which], self._arrays
        self._portfolio.tally(seen, n)
        self._payoffs.add(
            seen, arrays.get("kept", seen), n, first_path, arrays["options"][0] if self._payoffs.rows else None,
            arrays["fault"],
        )  # fmt: skip
