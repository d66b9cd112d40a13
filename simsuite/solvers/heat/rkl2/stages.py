"""Stages of an RKL2 step (see `rkl2`), with constant coefficients or with any.

With constant coefficients and no sources, Δt M(Y) = rx L(Y), where L is the sum of differences that an explicit step
multiplies with rx (see `explicit`), and

    Y_j = Y_0 + μ_j (((Y_{j-1} - Y_0) + n_j (Y_{j-2} - Y_0)) + r_j (L(Y_{j-1}) + g_j L(Y_0))),
    n_j = ν_j / μ_j, r_j = μ̃_j / μ_j rx, g_j = γ̃_j / μ̃_j,

in which no sum has two products either; Y_1 follows from this formula with μ = 1, n = g = 0, r = μ̃_1 rx. L(Y_0) is
formed anew in every stage, with the edges at the time of Y_0: Y_0 is read anyway, so that a stage reads three fields,
writes one, and needs no others. With any coefficients a stage reads and writes nine fields. M(Y_0) is one of them,
because the coefficients that it was computed from may have changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.explicit.explicit import is_plain, mesh_of, mesh_ratios
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.edge_table import EdgeTable
from simsuite.solvers.heat.operator.ledger import Ledger
from simsuite.solvers.heat.operator.operator import Operator, block_for
from simsuite.solvers.heat.rkl2.coefficients import Coefficients
from simsuite.solvers.table import ROWS, Moments

STAGE_ROWS = (0.0,) * ROWS  # the number of rows of the tables; their times are given with each step


class PlainStages:
    """Stages with constant coefficients, whose ledger is a rise in temperature, K; the arguments of the kernels are

    Y1, Y2, Y0, out: the last stage, the last but one, the first, and the new one, (ny, nx); out may be Y2. mesh: a
    `Mesh`, to whose ledger b times the difference across an edge is added, times q along y. factors, table: `Factors`
    and `TableRows`.
    """

    operator = None

    def __init__(
        self, made: Discretisation, backend: Backend, edges: EdgeTable, ledger: Ledger, unit: float = 1.0
    ) -> None:
        """unit: the unit of what is booked: 1 for a rise in temperature, ρc for J/m³."""
        self._made, self.edges, self.ledger, self._unit = made, edges, ledger, unit
        self._real = edges.dtype.type
        self._mesh = mesh_of(made, edges, ledger)
        self._stage = backend.launcher(*backend.kernels("simsuite.solvers.heat.rkl2.plain").choose(made.ny, made.nx))

    def begin(self, step: int, n: int, offsets: Any = None) -> None:
        """Queue the evaluation of what depends on time, for n rows of the tables. offsets: their times in a step."""
        self.edges.fill(step, n, offsets)

    def launch(self, fields: Sequence[Any], j: int, row: int, dt: float, c: Coefficients) -> None:
        """Queue stage j of a step. fields: views of Y_0 .. Y_s. row: the row of the tables for Y_{j-1}; that for Y_0 is
        row 0."""
        edges, (rx, _) = self.edges, mesh_ratios(self._made, dt)
        factors = (1.0, 0.0, c.mu_tilde[1] * rx, 0.0)
        if j > 1:
            factors = (c.mu[j], c.nu[j] / c.mu[j], c.mu_tilde[j] / c.mu[j] * rx, c.gamma_tilde[j] / c.mu_tilde[j])
        typed = tuple(map(self._real, (*factors, c.weights[j - 1] * rx * self._unit)))
        before = (fields[j - 1], fields[max(0, j - 2)], fields[0])
        self._stage(*before, fields[j], self._mesh, typed, (edges.at(row), edges.at(0)))


class GeneralStages:
    """Stages for all problems, with any coefficients and sources. The arguments of the kernels are the operator's
    (`Plate`, and where the row of the edge table begins) and the factors of the equations, those of M times Δt."""

    def __init__(self, operator: Operator) -> None:
        made, backend = operator.made, operator.backend
        self.operator = operator
        self.edges, self.ledger = operator.edges, operator.ledger
        self._first_rate = backend.zeros((made.ny, made.nx), operator.dtype)
        self._first_rate_view = backend.view(self._first_rate)
        kernels = backend.kernels("simsuite.solvers.heat.rkl2.rkl2")
        extent = (made.nx, made.ny)
        self._first = backend.launcher(kernels.first_stage, extent, block_for(made))
        self._later = backend.launcher(kernels.later_stage, extent, block_for(made))

    def begin(self, step: int, n: int, offsets: Any = None) -> None:
        """Queue the evaluation of what depends on time, for n rows of the tables. offsets: their times in a step."""
        self.operator.begin(step, n, offsets)

    def launch(self, fields: Sequence[Any], j: int, row: int, dt: float, c: Coefficients) -> None:
        """Queue stage j of a step. fields: views of Y_0 .. Y_s. row: the row of the tables for Y_{j-1}."""
        o = self.operator
        real = o.dtype.type
        o.refresh(fields[j - 1], row)
        w = c.weights[j - 1] * dt
        o.book(fields[j - 1], row, w, w, w)
        common = (o.plate, o.edges.at(row))
        if j == 1:
            self._first(fields[0], fields[1], self._first_rate_view, real(c.mu_tilde[1] * dt), *common)
        else:
            factors = (c.mu[j], c.nu[j], c.mu_tilde[j] * dt, c.gamma_tilde[j] * dt)
            before = (fields[j - 1], fields[j - 2], fields[0], self._first_rate_view)
            self._later(*before, fields[j], *(real(f) for f in factors), *common)


def make_stages(
    made: Discretisation, clock: Moments, backend: Backend, start: Snapshot, rate_wanted: bool
) -> PlainStages | GeneralStages:
    """The stages that are the fastest for a problem. rate_wanted: whether dT/dt is measured, for which an operator is
    needed."""
    dtype = start.arrays["temperature"].dtype
    if is_plain(made) and not rate_wanted:
        edges = EdgeTable(made, clock, backend, dtype, STAGE_ROWS)
        return PlainStages(made, backend, edges, Ledger(backend, start.arrays))
    return GeneralStages(Operator(made, clock, backend, dtype, start.arrays, STAGE_ROWS))
