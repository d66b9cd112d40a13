"""The product that takes the states of a linear system over a step: with a dense or a sparse A, with blocks, or
by a series of products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from simsuite.core import Backend
from simsuite.solvers.linear.discretisation.series import SeriesProduct, series_entries
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul import product_entries
from simsuite.solvers.matmul.blocks import block_entries, block_product
from simsuite.solvers.matmul.product import Product, product
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Sharing
from simsuite.solvers.matmul.sparse import Matrix, sparse_bytes, sparse_product


def step_product(
    backend: Backend, system: LinearSystem, dtype: Any, columns: int, choice: str, sharing: Sharing = ALL_ROWS
) -> tuple[Product, str]:
    """(the product that computes X_{k+1} from X_k, or from [X_k; W_k] with noise, for so many columns; the names of its
    kernels). system: with the rows that this process computes. choice: the kernel asked for, as `product` takes it.
    """
    if system.series is not None:
        series = SeriesProduct(backend, system.A.astype(dtype), columns, system.series, choice, sharing)
        return series, series.kernel
    made, kernels = _single_product(backend, system, dtype, columns, choice)
    return sharing.completing(made), kernels


def _single_product(
    backend: Backend, system: LinearSystem, dtype: Any, columns: int, choice: str
) -> tuple[Product, str]:
    if system.blocks is not None:
        return block_product(backend, system.blocks.astype(dtype), columns, choice)
    A = _with_noise(system)
    if system.sparse:
        return sparse_product(backend, A.astype(dtype), columns, choice)
    biased = bool(np.any(system.B))
    return product(backend, backend.array(A.astype(dtype)), columns, choice, biased, many_steps=True)


def step_bytes(system: LinearSystem, dtype: Any) -> int:
    """How many bytes the step product of a system holds on its device, at most."""
    size = np.dtype(dtype).itemsize
    if system.blocks is not None:
        return block_entries(system.blocks, system.start.shape[1]) * size
    if not system.sparse:
        q, (n, p) = 0 if system.noise is None else system.noise.G.shape[1], system.A.shape
        return product_entries(n, p + q) * size
    entries = 0 if system.series is None else series_entries(system.start.shape)
    return sparse_bytes(_with_noise(system), size) + entries * size


def _with_noise(system: LinearSystem) -> Matrix:
    """The matrix [A G], or A if the system has no noise."""
    if system.noise is None:
        return system.A
    if system.sparse:
        return csr_array(hstack([system.A, csr_array(system.noise.G)], format="csr"))
    return np.hstack([system.A, system.noise.G])
