"""Sums of payoffs, and of differences between those of two paths, by programs in CUDA C++."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, HostArray, Program
from simsuite.solvers.gbm.paths import payoff_arguments
from simsuite.solvers.gbm.paths.payoff_functions import PayoffFunctions
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import GROUP, LARGEST
from simsuite.solvers.structs import packed

PAYOFFS = Path(__file__).parent / "kernels" / "payoffs.cu"
_THREADS, _BLOCKS = 256, 4  # threads of a block; blocks on each multiprocessor
_ROWS = 24  # rows that a program adds up at once, or a few more: they stay in registers and shared memory


def payoffs_program(
    statement: Statement, rows: range, coarse: Payoffs | None = None
) -> tuple[dict[str, str | int], HostArray]:
    """The macros of a program that adds up payoffs, and the numbers that it takes. rows: those of the products of
    values that it adds up. coarse: payoffs of other paths, which are subtracted."""
    payoffs = statement.payoffs
    products = payoffs.products[rows.start : rows.stop]
    values = sorted({value for pair in products for value in pair if value >= 0})
    functions, of_less = PayoffFunctions(statement.n_assets), list[str]()
    calls = functions.calls(payoffs, values)
    if coarse is not None:
        assert [f.kind for f in coarse.functionals] == [f.kind for f in payoffs.functionals]
        of_less = functions.calls(coarse, values)
    shifts = [0.0 if coarse is not None else float(statement.shifts[value]) for value in values]
    place = {value: i for i, value in enumerate(values)} | {-1: -1}
    macros: dict[str, str | int] = {
        "STATE": C_TYPES[statement.dtype],
        "ASSETS": statement.n_assets,
        "COUNT": max(len(payoffs.functionals), 1),
        "FUNCTIONALS": ",".join(f.kind.name for f in payoffs.functionals) or "NOTHING",
        "SIGNS": statement.width,
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "LARGEST_PRICE": repr(LARGEST),
        "FUNCTIONS": " ".join(functions.texts),
        "CALLS": ",".join(calls),
        **({"COARSE": ",".join(of_less)} if of_less else {}),
        "VALUES": len(values),
        "NUMBERS": functions.room,
        "NAMED": ",".join(str(payoffs.asset(value)) for value in values),
        "PRODUCTS": ",".join(f"{{{place[a]},{place[b]}}}" for a, b in products),
        "ROWS": len(products),
        "THREADS": _THREADS,
    }
    return macros, functions.struct(shifts)


def rows_together(statement: Statement) -> list[range]:
    """The ranges of rows of products that a program adds up; the rows of a price or of a Greek stay together."""
    found: list[range] = []
    for mean in statement.payoffs.means:
        rows = mean.rows
        if found and rows.start - found[-1].start < _ROWS:
            found[-1] = range(found[-1].start, rows.stop)
        else:
            found.append(range(rows.start, rows.stop))
    return found


class PayoffsPrograms:
    """The programs for each of `rows_together`, compiled at the same time. Those of payoffs that differ in numbers
    alone are one. each: a program and the numbers that it takes, for each of `rows`. coarse: see `payoffs_program`."""

    def __init__(self, statement: Statement, backend: Backend, coarse: Payoffs | None = None) -> None:
        self.rows = rows_together(statement)
        made: dict[str, Program] = {}
        self.each: list[tuple[Program, HostArray]] = []
        for rows in self.rows:
            macros, numbers = payoffs_program(statement, rows, coarse)
            key = str(macros)
            if key not in made:
                made[key] = backend.program(PAYOFFS, macros)
            self.each.append((made[key], numbers))

    def launchers(self, grid: tuple[int, int]) -> list[tuple[Callable[..., None], HostArray]]:
        """A launcher of each of `each`, with its numbers; waits until the programs are compiled."""
        found = {id(program): program.launcher("payoffs", grid, _THREADS) for program, _ in self.each}
        return [(found[id(program)], numbers) for program, numbers in self.each]


class ProgramPayoffs:
    """Adds up payoffs. coarse: a statement with the same options, and its payoffs, which are subtracted; paths then
    come in whole groups. programs: those of the statement, if they are made already."""

    def __init__(
        self,
        statement: Statement,
        backend: Backend,
        coarse: tuple[Statement, Payoffs] | None = None,
        programs: PayoffsPrograms | None = None,
    ) -> None:
        replicates, whole, each = statement.numbering if coarse is None else statement.open_numbering
        grid = -(-backend.processors * _BLOCKS // replicates), replicates
        made = programs or PayoffsPrograms(statement, backend, coarse[1] if coarse else None)
        self.rows, self._launches = made.rows, made.launchers(grid)
        self._growth = backend.array(statement.end_growth)
        self._coarse_growth = backend.array(coarse[0].end_growth) if coarse else self._growth
        numbering = {"room": statement.held, "whole": whole, "replicates": replicates, "each": each}
        stride = LIMBS * len(statement.payoffs.products)
        common = payoff_arguments.Payoffs(self._growth, self._coarse_growth, **numbering, stride=stride)
        self._common = packed(backend, common, np.float64)

    def add(
        self, y: Any, kept: Any, n: int, first_path: int, sums: Any, fault: Any, coarse: tuple[Any, Any] | None = None
    ) -> None:
        """Adds the payoffs of n paths to sums[row, limb], those of the first replicate. coarse: y and kept of the
        coarse paths."""
        of_coarse = (y, kept) if coarse is None else coarse
        for rows, (launch, numbers) in zip(self.rows, self._launches):
            own = sums[rows.start :]
            launch(y, kept, *of_coarse, self._common, numbers, np.uint32(n), np.uint64(first_path), own, fault)
