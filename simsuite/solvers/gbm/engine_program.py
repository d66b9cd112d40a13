"""Launches of programs in CUDA C++, compiled for what a scenario needs; the shape of the launch is found by trying."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simsuite.core import Backend, Program
from simsuite.expressions import Expression
from simsuite.solvers.gbm import continuous, quasi
from simsuite.solvers.gbm.exactsum import LIMBS
from simsuite.solvers.gbm.exercise import FIRST_PATH, judgements, learning_paths, learning_steps, policy_shape
from simsuite.solvers.gbm.functionals import Kind, marks
from simsuite.solvers.gbm.portfolio_launches import ProgramPortfolio
from simsuite.solvers.gbm.precision import C_TYPES
from simsuite.solvers.gbm.regression_program import learn_by_program
from simsuite.solvers.gbm.sharing import most_threads
from simsuite.solvers.gbm.statistics import BINS, BINS_PER_UNIT, GROUP, LARGEST, LOG_LARGEST, Z_MAX
from simsuite.solvers.gbm.tables import tables
from simsuite.solvers.gbm.variables import kept, last, noise

if TYPE_CHECKING:
    from simsuite.solvers.gbm.problem import GbmProblem

PATHS, MOMENTS, PAYOFFS = (Path(__file__).with_name(f"{name}.cu") for name in ("paths", "moments", "payoffs"))
SHAPES = ((256, 4), (256, 2), (512, 2), (128, 2))  # threads of a block, blocks of steps in a turn of the loop
CROWDED_SHAPES = ((256, 2, 4), (256, 1, 5))  # tried too where much is kept: blocks a multiprocessor is to hold at least
SOBOL_SHAPES = ((256, 2), (256, 1), (128, 2), (128, 1))  # which need more registers
_TRIED_BYTES, _TRIED_BLOCKS = 1 << 25, 64  # given back after the trials
_MOMENTS_THREADS, _MOMENTS_BLOCKS = 512, 3  # of a block; blocks a multiprocessor
_PAYOFFS_THREADS, _PAYOFFS_BLOCKS = 256, 2
_ROWS = 24  # added up by a program at once, or a few more: they stay in registers and shared memory


def is_crowded(problem: GbmProblem) -> bool:
    """Whether a path keeps so much that numbers would be spilt, were the compiler to choose the registers."""
    rights, moves = judgements(problem.payoffs.functionals), problem.dynamics.moves
    many = problem.n_assets * problem.width + len(problem.functional_codes) > 4
    between = continuous.watched(problem) and problem.normal == np.float64
    return many or between or bool(rights) or not moves.lognormal or problem.quasi


def shapes_of(problem: GbmProblem) -> tuple[tuple[int, ...], ...]:
    """Of launches that are tried: arguments of `paths_macros`."""
    if problem.quasi:
        return SOBOL_SHAPES
    few = problem.n_assets == 1 and problem.dynamics.moves.lognormal
    return SHAPES + CROWDED_SHAPES if few and is_crowded(problem) else SHAPES


def paths_macros(problem: GbmProblem, threads: int, unroll: int, blocks: int = 1) -> dict[str, str | int]:
    moves, rights = problem.dynamics.moves, judgements(problem.payoffs.functionals)
    wanted = [f"{{{Kind(kind).name},{','.join(map(str, rest))}}}" for kind, *rest in problem.functional_codes]
    return {
        "ASSETS": problem.n_assets,
        "STATE": C_TYPES[problem.dtype],
        "NORMAL": C_TYPES[problem.normal],
        "SIGNS": problem.width,
        "FUNCTIONALS": ",".join(wanted) or "{NOTHING,0,0}",
        "COUNT": max(len(wanted), 1),
        "RIGHTS": ",".join(f"{{{degree},{int(call)}}}" for degree, call in rights) or "{1,0}",
        "WIDTH": max(policy_shape(problem.payoffs.functionals)[1], 1),
        "VARYING": int(problem.dynamics.varying),
        "PAYING": int(continuous.shapes(problem)["falls"][1] > 1),
        "SCHEME": moves.scheme.name,
        "JUMPING": ",".join(str(int(jumps)) for jumps in moves.jumping),
        "IN_CASH": ",".join(str(int(pays)) for pays in moves.paying),
        "DENSE": int(is_dense(problem)),
        "UNROLL": unroll if moves.lognormal else 1,  # a step has many instructions then
        "THREADS": threads,
        "BOUNDS": f"{threads}, {blocks}" if is_crowded(problem) else threads,
        **({"SOBOL": 1, "GROUP": GROUP, "STACK": quasi.bridge_of(problem).depth} if problem.quasi else {}),
    }


def is_dense(problem: GbmProblem) -> bool:
    """Whether all steps are frames, and the bytes of a row of them can be counted in 32 bits."""
    every = len(problem.frame_steps) == problem.n_steps + 1
    return every and problem.batch * problem.dtype.itemsize < 1 << 32


def moments_macros(problem: GbmProblem) -> dict[str, str | int]:
    return {
        "STATE": C_TYPES[problem.dtype],
        "NORMAL": C_TYPES[problem.normal],
        "ASSETS": problem.n_assets,
        "SIGNS": problem.width,
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "BINS": BINS,
        "BINS_PER_UNIT": int(BINS_PER_UNIT),
        "Z_MAX": int(Z_MAX),
        "LARGEST": repr(LARGEST),
        "LOG_LARGEST": repr(LOG_LARGEST),
        "THREADS": _MOMENTS_THREADS,
    }


def payoffs_macros(problem: GbmProblem, rows: range) -> dict[str, str | int]:
    """rows: of the products of values that are added up."""
    payoffs = problem.payoffs
    assets, functionals = range(problem.n_assets), range(max(len(payoffs.functionals), 1))
    variables = (*map(last, assets), *map(kept, functionals), *map(noise, assets))
    products = payoffs.products[rows.start : rows.stop]
    values = sorted({value for pair in products for value in pair if value >= 0})
    texts, calls = [], []
    for value in values:
        expression = Expression.from_tree(payoffs.values[value], variables)
        used = tuple(name for name in variables if name in expression.names)
        texts.append(" ".join(expression.cuda_function(f"value{value}", used).split("\n")))
        calls.append(f"value{value}({','.join(f'v[{variables.index(name)}]' for name in used)})")
    pairs = [(values.index(a), values.index(b) if b >= 0 else -1) for a, b in products]
    return {
        "STATE": C_TYPES[problem.dtype],
        "ASSETS": problem.n_assets,
        "COUNT": max(len(payoffs.functionals), 1),
        "FUNCTIONALS": ",".join(f.kind.name for f in payoffs.functionals) or "NOTHING",
        "SIGNS": problem.width,
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "LARGEST_PRICE": repr(LARGEST),
        "FUNCTIONS": " ".join(texts),
        "CALLS": ",".join(calls),
        "VALUES": len(values),
        "SHIFTS": ",".join(float(problem.shifts[value]).hex() for value in values),
        "NAMED": ",".join(str(payoffs.asset(value)) for value in values),
        "PRODUCTS": ",".join(f"{{{a},{b}}}" for a, b in pairs),
        "ROWS": len(pairs),
        "THREADS": _PAYOFFS_THREADS,
    }


def rows_together(problem: GbmProblem) -> list[range]:
    """Which rows of products a program adds up: those of a price or of a Greek go together."""
    found: list[range] = []
    for mean in problem.payoffs.means:
        rows = mean.rows
        if found and rows.start - found[-1].start < _ROWS:
            found[-1] = range(found[-1].start, rows.stop)
        else:
            found.append(range(rows.start, rows.stop))
    return found


class ProgramEngine:
    def __init__(self, problem: GbmProblem, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._problem, self._backend, self._arrays = problem, backend, arrays
        self._seen = backend.zeros((problem.most_watched, problem.n_assets, problem.batch), problem.dtype)
        made = tables(problem, problem.normal) | quasi.program_tables(problem)
        self._tables = {name: backend.array(a) for name, a in made.items()}
        replicates, whole, each = problem.sharing
        self._sharing = np.uint32(replicates), np.uint64(whole), np.uint32(each)
        self._end_growth = backend.array(problem.end_growth)
        self._marks = marks(problem.frame_steps[1:], problem.block)
        self._marks_table = backend.array(np.array(self._marks, np.int32).reshape(-1, 2))
        self._advance = self._fastest()
        kernels = backend.kernels("simsuite.solvers.gbm.statistics")
        block = (kernels.THREADS, 1)
        self._clear = backend.launcher(kernels.clear, (kernels.THREADS, problem.n_assets), block)
        self._cleared = [backend.view(arrays[name]) for name in ("moments", "histogram")]
        self._clear(*self._cleared, 0, 0)
        self._moments_program = backend.program(MOMENTS, moments_macros(problem))
        self._moments = functools.cache(self._moments_launcher)
        self._moments(1)
        self._payoffs = [(rows, self._payoffs_launcher(rows)) for rows in rows_together(problem)]
        self._portfolio = ProgramPortfolio(problem, backend, arrays, self._tables["frames"], self._end_growth)

    def _moments_launcher(self, frames: int) -> Callable[..., None]:
        """Of so many frames at once."""
        x = max(1, self._backend.processors * _MOMENTS_BLOCKS // frames)
        return self._moments_program.launcher("moments", (x, self._problem.n_assets, frames), _MOMENTS_THREADS)

    def _payoffs_launcher(self, rows: range) -> Callable[..., None]:
        program = self._backend.program(PAYOFFS, payoffs_macros(self._problem, rows))
        replicates = self._problem.sharing[0]
        x = -(-self._backend.processors * _PAYOFFS_BLOCKS // replicates)
        return program.launcher("payoffs", (x, replicates), _PAYOFFS_THREADS)

    def _fastest(self) -> Callable[..., None]:
        """The launch of `advance` of the shape that is the fastest for such paths."""
        problem, backend = self._problem, self._backend
        most = _TRIED_BYTES // (problem.dtype.itemsize * (problem.n_assets + len(problem.functional_codes)))
        n = min(problem.batch, max(most // GROUP, 1) * GROUP)
        end = min(-(-problem.n_steps // problem.block), _TRIED_BLOCKS)
        if is_dense(problem):  # what is seen has to have room
            end = min(end, max(problem.most_watched // problem.block, 1))
        shapes = [paths_macros(problem, *shape) for shape in shapes_of(problem)]
        question = "\n".join(["paths", str(n), str(end), *map(str, shapes)])

        @functools.cache
        def program(i: int) -> Program:
            return backend.program(PATHS, shapes[i])

        x = backend.zeros((problem.n_assets, n), problem.dtype)
        room = backend.zeros((max(len(problem.functional_codes), 1), n), problem.dtype)

        no_marks = (self._marks_table, 0)

        def trial(i: int) -> None:
            launch = self._paths_launcher(program(i), shapes[i], n)
            launch(x, room, self._seen, n, n, 0, 0, end, *no_marks)

        best = backend.fastest(question, [functools.partial(trial, i) for i in range(len(shapes))])
        self._shape = shapes[best]
        launch = self._paths_launcher(program(best), shapes[best], problem.batch)
        launch(x, room, self._seen, 0, n, 0, 0, end, *no_marks)  # after which it is loaded
        return launch

    def _paths_launcher(self, program: Program, macros: Mapping[str, str | int], n: int) -> Callable[..., None]:
        """Launches for up to n paths."""
        problem, tables = self._problem, self._tables
        threads, width = int(macros["THREADS"]), problem.width
        lanes = most_threads(n, problem.sharing) if problem.quasi else n // width
        launcher = program.launcher("advance", -(-lanes // threads), threads)
        market = [tables[name] for name in ("mix", "scale", "centre", "growth", "due")]
        market.append(np.int32(tables["due"].size))
        market += [tables[name] for name in ("bridges", "falls", "levels", "drift", "jumps", "thresholds")]
        market.append(np.int32(tables["thresholds"].shape[1]))
        market += [tables[name] for name in ("cash", "turn", "rules")]
        points = [tables[name] for name in ("opened", "weights", "inside", "points", "offset")] if problem.quasi else []
        if problem.quasi:
            points += [np.int32(tables["opened"].size), *self._sharing]

        def launch(
            x: Any, kept: Any, seen: Any, n: int, room: int, first_path: int, begin: int, end: int, looks: Any,
            n_marks: int,
        ) -> None:  # fmt: skip
            launcher(
                x, kept, seen, np.uint32(n // width), np.uint64(room), np.uint64(first_path // width), problem.seed,
                np.int32(begin), np.int32(end), looks, np.int32(n_marks), np.int32(problem.n_steps), *market,
                *points,
            )  # fmt: skip

        return launch

    def learn(self) -> None:
        problem, backend = self._problem, self._backend
        n, steps = learning_paths(problem), learning_steps(problem.holders)
        x, kept, noise = (
            backend.zeros((*layers, n), problem.dtype)
            for layers in ((problem.n_assets,), (len(problem.functional_codes),), (len(steps), problem.n_assets))
        )
        looks = np.array(marks(steps.tolist(), problem.block), np.int32)
        end = int(looks[-1, 0]) + 1
        macros = {**self._shape, "DENSE": 0}
        launch = self._paths_launcher(backend.program(PATHS, macros), macros, n)
        launch(x, kept, noise, n, n, FIRST_PATH, 0, end, backend.array(looks), len(looks))
        learn_by_program(backend, problem.holders, steps, noise, self._arrays["policy"])

    def obey(self) -> None:
        with self._backend.arithmetic():
            self._tables["rules"][...] = self._arrays["policy"]

    def advance(self, n: int, first_path: int, begin: int, end: int, frames: range) -> None:
        x, room = self._arrays["x"], self._problem.batch
        first, last = (bisect.bisect_left(self._marks, (block, 0)) for block in (begin, end))
        n_marks = last - first if frames else 0
        kept, looks = self._arrays.get("kept", x), self._marks_table[first:]
        self._advance(x, kept, self._seen, n, room, first_path, begin, end, looks, n_marks)

    def clear(self, slot: int) -> None:
        self._clear(*self._cleared, slot, self._problem.n_assets)
        self._portfolio.clear(slot)

    def record(self, which: int, frame: int) -> None:
        if self._problem.stored:
            self._backend.copy(self._seen[which, :, : self._problem.stored], self._arrays["paths"][frame])

    def moments(self, n: int, first_path: int, frames: range) -> None:
        """Of all frames at once, where their statistics lie one after another."""
        problem, arrays = self._problem, self._arrays
        together = len(frames) if problem.n_batches > 1 else 1
        for which in range(0, len(frames), together):
            slot = problem.slot(frames[which])
            self._moments(together)(
                self._seen[which], np.uint64(problem.batch), np.uint32(n), np.uint64(first_path),
                self._tables["frames"][frames[which]], arrays["moments"][slot], arrays["histogram"][slot],
                arrays["fault"],
            )  # fmt: skip
        self._portfolio.expose(self._seen, n, frames)

    def payoffs(self, which: int, n: int, first_path: int) -> None:
        seen, arrays = self._seen[which], self._arrays
        self._portfolio.tally(seen, n)
        for rows, launch in self._payoffs:
            launch(
                seen, arrays.get("kept", seen), np.uint64(self._problem.batch), np.uint32(n), np.uint64(first_path),
                *self._sharing, np.uint32(LIMBS * len(self._problem.payoffs.products)), self._end_growth,
                arrays["options"][0, rows.start :], arrays["fault"],
            )  # fmt: skip
