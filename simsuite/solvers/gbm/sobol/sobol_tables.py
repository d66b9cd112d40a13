"""Paths from Sobol points: the tables that kernels read besides those of pseudo-random numbers.

Every step of every asset is a dimension. A Brownian bridge in time and principal components over assets give the first
dimensions most to decide (`brownian_bridge.py`); the points are scrambled `replicates` times (`simsuite/sobol`), paths
share them as in `numbering.py`, and standard errors come from the replicates (`replicates.py`). With y_a += s_a (M
dW)_a for independent dW and M the Cholesky factor of the correlation, M V has the same law for any orthogonal V; the
one taken here makes the columns of M V principal components of a typical step. Where volatilities vary in time the
scale s_a does, and V is that of their mean squares: the law is exact, the order of dimensions a compromise.

What comes from `bridge` needs compiled code and is imported when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simsuite.solvers.gbm.statement import Statement

if TYPE_CHECKING:
    from simsuite.sobol.scrambling import Scramble
    from simsuite.solvers.gbm.market.dynamics import Dynamics
    from simsuite.solvers.gbm.sobol.brownian_bridge import Bridge


def bridge_of(statement: Statement) -> Bridge:
    from simsuite.solvers.gbm.sobol.brownian_bridge import Bridge

    return Bridge.of(statement.n_steps, statement.block)


def principal_components(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V[asset, component], deviation[component]): V is orthogonal, and the columns of factor V are eigenvectors of the
    covariance factor factor^T times standard deviations, the largest first.

    P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 2.3.3. They come from a
    singular value decomposition, so that small rows keep their relative precision. The largest entry of each column is
    positive.
    """
    _, deviation, transposed = np.linalg.svd(factor)
    components = factor @ transposed.T
    largest = np.abs(components).argmax(axis=0)
    return transposed.T * np.where(components[largest, np.arange(len(factor))] < 0, -1.0, 1.0), deviation


def _components(dynamics: Dynamics) -> tuple[np.ndarray, np.ndarray]:
    """The principal components of a typical step."""
    deviation = np.sqrt(dynamics.variance(np.array([dynamics.n_steps]))[:, 0] / dynamics.n_steps)
    return principal_components(deviation[:, None] * dynamics.factor)


def mix(statement: Statement) -> np.ndarray:
    """[asset, component]: the matrix that independent normals, or increments, are multiplied by before `scale`."""
    dynamics = statement.dynamics
    return dynamics.mix @ _components(dynamics)[0] if statement.uses_sobol else dynamics.mix


def _points(statement: Statement, bridge: Bridge) -> Scramble:
    from simsuite.sobol.scrambling import scramble

    replicates, dimensions = statement.numbering[0], statement.n_steps * statement.n_assets
    return bridge.points(scramble(int(statement.seed), replicates, dimensions), _components(statement.dynamics)[1])


def numba_tables(statement: Statement) -> dict[str, np.ndarray]:
    """The tables for Numba's kernels, see `sobol_cpu.py`. Single entries stand in for tables that nobody reads."""
    numbering = {
        "numbering": np.array(statement.numbering, np.int64),
        "open_numbering": np.array(statement.open_numbering, np.int64),
    }
    if not statement.uses_sobol:
        return numbering | {
            "opened": np.zeros(1, np.int32),
            "weights": np.zeros((1, 2), statement.normal),
            "directions": np.zeros((1, 1, 1, 32), np.uint32),
            "shift": np.zeros((1, 1, 1), np.uint32),
            "offset": np.zeros((1, 1, 1)),
        }
    bridge = bridge_of(statement)
    points = _points(statement, bridge)
    return numbering | {
        "opened": bridge.opened,
        "weights": bridge.weights.astype(statement.normal),
        "directions": points.directions,
        "shift": points.shift,
        "offset": points.offset,
    }


def program_tables(statement: Statement) -> dict[str, np.ndarray]:
    """The tables for programs in CUDA C++, see `sobol.cuh`."""
    if not statement.uses_sobol:
        return {}
    from simsuite.solvers.gbm.sobol.brownian_bridge import device_points

    bridge = bridge_of(statement)
    points = _points(statement, bridge)
    return {
        "opened": bridge.opened,
        "weights": bridge.weights.astype(statement.normal),
        "inside": bridge.inside().astype(statement.normal),
        "points": device_points(points),
        "offset": points.offset.astype(statement.normal),
    }


def table_bytes(statement: Statement) -> int:
    """The bytes of the larger of both sets of tables, found without making them."""
    size, replicates = statement.normal.itemsize, statement.numbering[0]
    blocks = -(-statement.n_steps // statement.block) if statement.uses_sobol else 1
    visits = blocks * statement.block if statement.uses_sobol else 1
    coordinates = replicates * visits * (statement.n_assets if statement.uses_sobol else 1)
    each = 2 * 4 * 32 + size if statement.uses_sobol else 4 * 32 + 4 + 8
    inside = 4 * (statement.block - 1) * size if statement.uses_sobol else 0
    return 6 * 8 + 4 * blocks + 2 * visits * size + coordinates * each + inside
