"""Sums of payoffs, and of differences between those of two paths, by programs in CUDA C++."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Program
from simsuite.expressions import Expression
from simsuite.solvers.gbm.paths import payoff_arguments
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import GROUP, LARGEST
from simsuite.solvers.structs import packed

PAYOFFS = Path(__file__).parent / "kernels" / "payoffs.cu"
_THREADS, _BLOCKS = 256, 4  # threads of a block; blocks on each multiprocessor
_ROWS = 24  # rows that a program adds up at once, or a few more: they stay in registers and shared memory


def payoffs_macros(statement: Statement, rows: range, coarse: Payoffs | None = None) -> dict[str, str | int]:
    """The macros of a program that adds up payoffs. rows: those of the products of values that it adds up. coarse:
    payoffs of other paths, which are subtracted."""
    payoffs = statement.payoffs
    products = payoffs.products[rows.start : rows.stop]
    values = sorted({value for pair in products for value in pair if value >= 0})
    texts, calls = _calls(statement.n_assets, payoffs, values, "value")
    less, of_less = list[str](), list[str]()
    if coarse is not None:
        assert [f.kind for f in coarse.functionals] == [f.kind for f in payoffs.functionals]
        less, of_less = _calls(statement.n_assets, coarse, values, "coarse")
    shifts = [0.0 if coarse is not None else float(statement.shifts[value]) for value in values]
    pairs = [(values.index(a), values.index(b) if b >= 0 else -1) for a, b in products]
    return {
        "STATE": C_TYPES[statement.dtype],
        "ASSETS": statement.n_assets,
        "COUNT": max(len(payoffs.functionals), 1),
        "FUNCTIONALS": ",".join(f.kind.name for f in payoffs.functionals) or "NOTHING",
        "SIGNS": statement.width,
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "LARGEST_PRICE": repr(LARGEST),
        "FUNCTIONS": " ".join(texts + less),
        "CALLS": ",".join(calls),
        **({"COARSE": ",".join(of_less)} if of_less else {}),
        "VALUES": len(values),
        "SHIFTS": ",".join(shift.hex() for shift in shifts),
        "NAMED": ",".join(str(payoffs.asset(value)) for value in values),
        "PRODUCTS": ",".join(f"{{{a},{b}}}" for a, b in pairs),
        "ROWS": len(pairs),
        "THREADS": _THREADS,
    }


def _calls(n_assets: int, payoffs: Payoffs, values: Sequence[int], name: str) -> tuple[list[str], list[str]]:
    """CUDA functions that compute the values, and calls of them on the variables `v`."""
    assets, functionals = range(n_assets), range(max(len(payoffs.functionals), 1))
    variables = (*map(last, assets), *map(kept, functionals), *map(noise, assets))
    texts, calls = [], []
    for value in values:
        expression = Expression.from_tree(payoffs.values[value], variables)
        used = tuple(name for name in variables if name in expression.names)
        texts.append(" ".join(expression.cuda_function(f"{name}{value}", used).split("\n")))
        calls.append(f"{name}{value}({','.join(f'v[{variables.index(name)}]' for name in used)})")
    return texts, calls


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


def payoffs_programs(statement: Statement, backend: Backend, coarse: Payoffs | None = None) -> list[Program]:
    """The programs for each of `rows_together`, compiled at the same time."""
    each = [payoffs_macros(statement, rows, coarse) for rows in rows_together(statement)]
    return [backend.program(PAYOFFS, macros) for macros in each]


class ProgramPayoffs:
    """Adds up payoffs. coarse: a statement with the same options, and its payoffs, which are subtracted; paths then
    come in whole groups."""

    def __init__(self, statement: Statement, backend: Backend, coarse: tuple[Statement, Payoffs] | None = None) -> None:
        replicates, whole, each = statement.numbering if coarse is None else statement.open_numbering
        self.rows = rows_together(statement)
        grid = -(-backend.processors * _BLOCKS // replicates), replicates
        programs = payoffs_programs(statement, backend, coarse[1] if coarse else None)
        self._launches = [program.launcher("payoffs", grid, _THREADS) for program in programs]
        self._growth = backend.array(statement.end_growth)
        self._coarse_growth = backend.array(coarse[0].end_growth) if coarse else self._growth
        numbering = {"room": statement.batch, "whole": whole, "replicates": replicates, "each": each}
        stride = LIMBS * len(statement.payoffs.products)
        common = payoff_arguments.Payoffs(self._growth, self._coarse_growth, **numbering, stride=stride)
        self._common = packed(backend, common, np.float64)

    def add(
        self, y: Any, kept: Any, n: int, first_path: int, sums: Any, fault: Any, coarse: tuple[Any, Any] | None = None
    ) -> None:
        """Adds the payoffs of n paths to sums[row, limb], those of the first replicate. coarse: y and kept of the
        coarse paths."""
        of_coarse = (y, kept) if coarse is None else coarse
        for rows, launch in zip(self.rows, self._launches):
            own = sums[rows.start :]
            launch(y, kept, *of_coarse, self._common, np.uint32(n), np.uint64(first_path), own, fault)
