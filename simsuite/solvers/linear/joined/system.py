"""Several linear systems as one: as columns of one batch, or as blocks on a diagonal.

Systems that are the same but for their initial states are one system whose batch has all states side by side. Others,
of equal shapes, are the system of the block diagonal matrix of their A:

    [X_1]      [A_1        ] [X_1]   [B_1 u_1]
    [X_2]  ->  [    A_2    ] [X_2] + [B_2 u_2]
    [...]      [        ...] [...]   [  ...  ]

Each entry of a product is the same chain of fused multiply-adds by every kernel, for any number of columns, and by
those for blocks and for sparse matrices as by those for dense ones (see `matmul.product`, `matmul.blocks` and
`matmul.sparse`): so the states of each system have the bits that they have alone. A stands in compressed sparse rows,
with the zeros that dense blocks have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from simsuite.solvers.linear.inputs.input_values import Inputs
from simsuite.solvers.linear.inputs.recorded import Input
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.blocks import MOST_ROWS
from simsuite.solvers.matmul.sparse import Matrix


def in_columns(systems: Sequence[LinearSystem]) -> LinearSystem:
    """Systems that are the same but for their initial states, as one whose batch has all of these."""
    return dataclasses.replace(systems[0], start=np.hstack([system.start for system in systems]))


def fits_as_blocks(systems: Sequence[LinearSystem]) -> bool:
    """Whether the systems can be one of blocks: they are small, of equal shapes, without noise and series, and read
    their inputs in the same way."""
    first = systems[0]
    return first.A.shape[0] <= MOST_ROWS and all(
        system.series is None
        and system.noise is None
        and _shapes(system) == _shapes(first)
        and system.inputs.recorded == first.inputs.recorded
        for system in systems
    )


def _shapes(system: LinearSystem) -> tuple[object, ...]:
    parts = (system.A, system.B, system.C, system.D, system.start)
    shapes = tuple(None if part is None else part.shape for part in parts)
    return (*shapes, system.is_complex, system.inputs.width, system.inputs.ahead, system.inputs.dt)


def in_blocks(systems: Sequence[LinearSystem]) -> LinearSystem:
    """The system of the block diagonal matrix of systems that `fits_as_blocks`; without D, which frames of each of them
    add on their own."""
    first, dense = systems[0], [system.A for system in systems if not system.sparse]
    given: dict[Input, int] = {}
    places = [[given.setdefault(u, len(given)) for u in system.inputs.given] for system in systems]
    return dataclasses.replace(
        first,
        A=_diagonal([system.A for system in systems]),
        B=np.vstack([system.B for system in systems]),
        inputs=Inputs(tuple(given), first.inputs.dt, first.inputs.ahead),
        input_places=np.repeat(np.array(places, np.int64), first.A.shape[0], axis=0),
        C=None if first.C is None else _diagonal([system.C for system in systems if system.C is not None]),
        D=None,
        start=np.vstack([system.start for system in systems]),
        held=None,
        blocks=np.array(dense) if len(dense) == len(systems) else None,
    )


def _diagonal(blocks: Sequence[Matrix]) -> csr_array:
    """The block diagonal matrix of blocks of equal shape, with all entries of dense blocks, zeros as well."""
    q, n = blocks[0].shape
    rows = [_all_entries(block) if isinstance(block, np.ndarray) else block for block in blocks]
    values = np.concatenate([block.data for block in rows])
    columns = np.concatenate([block.indices.astype(np.int32) + k * n for k, block in enumerate(rows)])
    counts = np.concatenate([np.diff(block.indptr) for block in rows])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return csr_array((values, columns, starts), shape=(q * len(blocks), n * len(blocks)))


def _all_entries(block: np.ndarray) -> csr_array:
    q, n = block.shape
    columns, starts = np.tile(np.arange(n), q), np.arange(0, q * n + 1, n)
    return csr_array((np.ascontiguousarray(block).ravel(), columns, starts), shape=(q, n))
