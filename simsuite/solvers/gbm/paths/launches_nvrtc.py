"""Launches of programs in CUDA C++, compiled for what a scenario needs; the shape of the launch is found by trying."""

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
from simsuite.solvers.gbm.moment_matching import moment_matching
from simsuite.solvers.gbm.paths.kernels import continuous
from simsuite.solvers.gbm.paths.payoff_launches import ProgramPayoffs, observation, payoffs_programs
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.portfolio_launches import ProgramPortfolio
from simsuite.solvers.gbm.paths.tables import tables
from simsuite.solvers.gbm.payoffs.exercise_rights import judgements, learning_steps, policy_shape
from simsuite.solvers.gbm.payoffs.functionals import Kind, marks
from simsuite.solvers.gbm.random_numbers.numbering import most_threads
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.sobol import sobol_tables
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import BINS, BINS_PER_UNIT, GROUP, LARGEST, LOG_LARGEST, Z_MAX

PATHS = Path(__file__).parent / "kernels" / "paths.cu"
MOMENTS = Path(__file__).parents[1] / "statistics" / "moments.cu"
SHAPES = ((128, 4), (256, 4), (256, 2), (128, 2))  # threads of a block, blocks of steps in a turn of the loop
CROWDED_SHAPES = ((256, 2, 4), (256, 1, 5))  # tried too where much is kept: blocks a multiprocessor is to hold at least
DENSE_SHAPES = ((128, 1), (256, 1), (256, 2), (512, 1))
SOBOL_SHAPES = ((256, 2), (256, 1), (128, 2), (128, 1))  # which need more registers
_TRIED_BYTES, _TRIED_BLOCKS = 1 << 27, 64  # given back after the trials; with less, blocks that are few count
_MOMENTS_THREADS, _MOMENTS_BLOCKS = 512, 3  # of a block; blocks a multiprocessor


def is_crowded(problem: PathPlan) -> bool:
    """Whether a path keeps so much that numbers would be spilt, were the compiler to choose the registers."""
    rights, moves = judgements(problem.payoffs.functionals), problem.dynamics.moves
    many = problem.n_assets * (1 + problem.antithetic) + len(problem.functional_codes) > 4
    between = continuous.watched(problem) and problem.normal == np.float64
    drawn = problem.quasi or problem.scenario.paths.moment_matching
    return many or between or bool(rights) or not moves.lognormal or drawn


def shapes_of(problem: PathPlan) -> tuple[tuple[int, ...], ...]:
    """Of launches that are tried: arguments of `paths_macros`."""
    if problem.quasi:
        return SOBOL_SHAPES
    if paths_each(problem) > 1:
        return DENSE_SHAPES
    few = problem.n_assets == 1 and problem.dynamics.moves.lognormal
    return SHAPES + CROWDED_SHAPES if few and is_crowded(problem) else SHAPES


def paths_macros(problem: PathPlan, threads: int, unroll: int, blocks: int = 1) -> dict[str, str | int]:
    moves, rights = problem.dynamics.moves, judgements(problem.payoffs.functionals)
    wanted = [f"{{{Kind(kind).name},{','.join(map(str, rest))}}}" for kind, *rest in problem.functional_codes]
    return {
        "ASSETS": problem.n_assets,
        "STATE": C_TYPES[problem.dtype],
        "NORMAL": C_TYPES[problem.normal],
        "SIGNS": 1 + problem.antithetic,
        "FUNCTIONALS": ",".join(wanted) or "{NOTHING,0,0}",
        "COUNT": max(len(wanted), 1),
        "RIGHTS": ",".join(f"{{{degree},{int(call)}}}" for degree, call in rights) or "{1,0}",
        "WIDTH": max(policy_shape(problem.payoffs.functionals)[1], 1),
        "VARYING": int(problem.dynamics.varying),
        "PAYING": int(continuous.shapes(problem)["falls"][1] > 1),
        "SCHEME": moves.scheme.name,
        "JUMPING": ",".join(str(int(jumps)) for jumps in moves.jumping),
        "IN_CASH": ",".join(str(int(pays)) for pays in moves.paying),
        "LOOKS": int(looks_on_the_way(problem)),
        "DENSE": int(is_dense(problem)),
        "EACH": paths_each(problem),
        "UNROLL": unroll if moves.lognormal else 1,  # a step has many instructions then
        "THREADS": threads,
        "BOUNDS": f"{threads}, {blocks}" if is_crowded(problem) else threads,
        **({"SOBOL": 1, "GROUP": GROUP, "STACK": sobol_tables.bridge_of(problem).depth} if problem.quasi else {}),
        **({"SUMMED": 1} if problem.summed == 2 else {}),
        **({"MATCHED": 1, "GROUP": GROUP} if problem.scenario.paths.moment_matching else {}),
    }


def looks_on_the_way(problem: PathPlan) -> bool:
    """Or else the end is all that is looked at, where paths stay: no block has to ask for frames."""
    return problem.frame_steps[1:] != (problem.n_steps,)


def seen_by(problem: PathPlan, backend: Backend, x: Any) -> Any:
    """Where frames go that are looked at together: the paths themselves, where they end."""
    if not looks_on_the_way(problem) and not is_dense(problem):
        return x[None]
    return backend.zeros((problem.most_watched, problem.n_assets, problem.batch), problem.dtype)


def is_dense(problem: PathPlan) -> bool:
    """Whether all steps are frames, and the bytes of a row of them can be counted in 32 bits."""
    every = len(problem.frame_steps) == problem.n_steps + 1
    return every and problem.batch * problem.dtype.itemsize < 1 << 32


def paths_each(problem: PathPlan) -> int:
    """Paths of a thread, or pairs of them: where all steps are stored, as many as make 16 bytes. Rows that are written
    in pieces of 4 bytes keep the memory from its full rate."""
    signs = 1 + problem.antithetic
    together = max(16 // problem.dtype.itemsize, signs)
    fitting = problem.n_assets <= 2 and not problem.quasi and problem.batch % together == 0
    return together // signs if is_dense(problem) and fitting else 1


def moments_macros(problem: PathPlan) -> dict[str, str | int]:
    return {
        "STATE": C_TYPES[problem.dtype],
        "NORMAL": C_TYPES[problem.normal],
        "ASSETS": problem.n_assets,
        **observation(problem),
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
    """Marks, and one that never comes."""
    return np.array([*found, (np.iinfo(np.int32).max, 0)], np.int32)


class ProgramEngine:
    def __init__(self, problem: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._problem, self._backend, self._arrays = problem, backend, arrays
        self._moments_program = backend.program(MOMENTS, moments_macros(problem))
        payoffs_programs(problem, backend)  # compiled beside the others
        self.seen = seen_by(problem, backend, arrays["x"])
        made = tables(problem, problem.normal) | sobol_tables.program_tables(problem)
        self._tables = {name: backend.array(a) for name, a in made.items()}
        replicates, whole, each = problem.sharing
        self._sharing = np.uint32(replicates), np.uint64(whole), np.uint32(each)
        self._end_growth = backend.array(problem.end_growth)
        self._longest, self._measure = -(-problem.n_steps // problem.block), None
        if problem.scenario.paths.moment_matching:
            self._match = backend.zeros(moment_matching.table_shape(problem), problem.normal)
            self._longest = self._match.shape[1]
            self._measure = moment_matching.program_measure(problem, backend, self._match)
        self._marks = marks(problem.frame_steps[1:], problem.block)
        self._marks_table = backend.array(_with_end(self._marks))
        self._advance = self._fastest()
        self._moments = functools.cache(self._moments_launcher)
        self._moments(1)
        self._payoffs = ProgramPayoffs(problem, backend)
        self._portfolio = ProgramPortfolio(problem, backend, arrays, self._tables["frames"], self._end_growth)

    def _moments_launcher(self, frames: int) -> Callable[..., None]:
        """Of so many frames at once."""
        x = max(1, self._backend.processors * _MOMENTS_BLOCKS // frames)
        return self._moments_program.launcher("moments", (x, self._problem.n_assets, frames), _MOMENTS_THREADS)

    def _fastest(self) -> Callable[..., None]:
        """The launch of `advance` of the shape that is the fastest for such paths."""
        problem, backend = self._problem, self._backend
        most = _TRIED_BYTES // (problem.dtype.itemsize * (problem.n_assets + len(problem.functional_codes)))
        n = min(problem.batch, max(most // GROUP, 1) * GROUP)
        end = min(self._longest, _TRIED_BLOCKS)
        if is_dense(problem):  # what is seen has to have room
            end = min(end, max(problem.most_watched // problem.block, 1))
        shapes = [paths_macros(problem, *shape) for shape in shapes_of(problem)]
        question = "\n".join(["paths", str(n), str(end), *map(str, shapes)])

        x = backend.zeros((problem.n_assets, n), problem.dtype)
        room = backend.zeros((max(len(problem.functional_codes), 1), n), problem.dtype)

        no_marks = self._no_marks()

        @functools.cache
        def tried() -> list[Callable[..., None]]:
            programs = [backend.program(PATHS, shape) for shape in shapes]
            return [self._paths_launcher(program, shape, n) for program, shape in zip(programs, shapes)]

        def trial(i: int) -> None:
            tried()[i](x, room, self.seen, n, n, 0, 0, end, no_marks)

        best = backend.fastest(question, [functools.partial(trial, i) for i in range(len(shapes))])
        self._shape = shapes[best]
        launch = self._paths_launcher(backend.program(PATHS, shapes[best]), shapes[best], problem.batch)
        launch(x, room, self.seen, 0, n, 0, 0, end, no_marks)  # after which it is loaded
        return launch

    def _paths_launcher(self, program: Program, macros: Mapping[str, str | int], n: int) -> Callable[..., None]:
        """Launches for up to n paths."""
        problem, tables = self._problem, self._tables
        threads, width = int(macros["THREADS"]), 1 + problem.antithetic
        lanes = most_threads(n, problem.sharing) if problem.quasi else -(-n // (width * int(macros["EACH"])))
        launcher = program.launcher("advance", -(-lanes // threads), threads)
        market = [tables[name] for name in ("mix", "scale", "centre", "growth", "due")]
        market.append(np.int32(tables["due"].size))
        market += [tables[name] for name in ("bridges", "falls", "levels", "drift", "jumps", "thresholds")]
        market.append(np.int32(tables["thresholds"].shape[1]))
        market += [tables[name] for name in ("cash", "turn", "rules")]
        points = [tables[name] for name in ("opened", "weights", "inside", "points", "offset")] if problem.quasi else []
        if problem.quasi:
            points += [np.int32(tables["opened"].size), *self._sharing]
        if "MATCHED" in macros:
            points += [self._match, np.int32(self._longest)]

        def launch(
            x: Any, kept: Any, seen: Any, n: int, room: int, first_path: int, begin: int, end: int, looks: Any
        ) -> None:  # fmt: skip
            launcher(
                x, kept, seen, np.uint32(n // width), np.uint64(room), np.uint64(first_path // width), problem.seed,
                np.int32(begin), np.int32(end), looks, np.int32(problem.n_steps), *market,
                *points,
            )  # fmt: skip

        return launch

    def _no_marks(self) -> Any:
        return self._marks_table[len(self._marks) :]

    def learn(self) -> None:
        problem, backend = self._problem, self._backend
        n, steps = learning_paths(problem), learning_steps(problem.holders)
        x, kept, noise = (
            backend.zeros((*layers, n), problem.dtype)
            for layers in ((problem.n_assets,), (len(problem.functional_codes),), (len(steps), problem.n_assets))
        )
        looks = marks(steps.tolist(), problem.block)
        end = looks[-1][0] + 1
        macros = {name: value for name, value in self._shape.items() if name != "MATCHED"} | {
            "LOOKS": 1,
            "DENSE": 0,
            "EACH": 1,
        }
        launch = self._paths_launcher(backend.program(PATHS, macros), macros, n)
        launch(x, kept, noise, n, n, FIRST_PATH, 0, end, backend.array(_with_end(looks)))
        learn_by_program(backend, problem.holders, steps, noise, self._arrays["policy"])

    def obey(self) -> None:
        with self._backend.arithmetic():
            self._tables["rules"][...] = self._arrays["policy"]

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None:
        x, room, looked_at = self._arrays["x"], self._problem.batch, 0
        kept = self._arrays.get("kept", x)
        for stretch in moment_matching.stretches(begin, end, self._longest):
            first, last = (bisect.bisect_left(self._marks, (block, 0)) for block in stretch)
            looks = self._marks_table[first:] if frames else self._no_marks()
            seen = self.seen[looked_at:] if looked_at and first < last else self.seen
            if self._measure is not None:
                self._measure(n, first_path, *stretch)
            self._advance(x, kept, seen, n, room, first_path, *stretch, looks)
            looked_at += sum(watched.bit_count() for _, watched in self._marks[first:last])

    def clear(self, slot: int) -> None:
        with self._backend.arithmetic():
            for name in ("moments", "histogram"):
                self._arrays[name][slot].fill(0)
        self._portfolio.clear(slot)

    def record(self, which: int, frame: int) -> None:
        if self._problem.stored:
            self._backend.copy(self.seen[which, :, : self._problem.stored], self._arrays["paths"][frame])

    def moments(self, n: int, first_path: int, frames: range) -> None:
        """Of all frames at once, where their statistics lie one after another."""
        problem, arrays = self._problem, self._arrays
        together = len(frames) if problem.n_batches > 1 else 1
        for which in range(0, len(frames), together):
            slot = problem.slot(frames[which])
            self._moments(together)(
                self.seen[which], np.uint64(problem.batch), np.uint32(n), np.uint64(first_path),
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
