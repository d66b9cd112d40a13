"""The energy ledger of a heat run: what is stored, and what came in where.

    stored = Σ edges + Σ sources + held + residual                   J, or J per metre of depth, since the start

`stored` is what the cells that are not held gained, Σ ρc (T - T0) ΔxΔy; the others add up, step by step, what the
stepper itself moved, so the residual is its rounding error and whatever it fails to conserve. Sources that depend on
neither t nor T are counted in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from simsuite.core import Clock, Snapshot
from simsuite.scenario.heat import EDGES
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.ledger import booked


class Energy:
    """Computes the ledger of a run. sources: the names of the entries of all that heats. plain: whether the ledger is
    in K, as kernels for constant coefficients book it. steady: whether it has the heat that comes in each second at a
    steady state, in W, where nothing is stored any more. depth: of the plate, m, or 1 for energies per metre."""

    def __init__(
        self, made: Discretisation, sources: Sequence[str], clock: Clock, plain: bool, steady: bool, depth: float
    ) -> None:
        self._made, self._clock, self.plain, self._steady = made, clock, plain, steady
        self._depth = depth
        self.sources = tuple(sources)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the energies: stored, each edge, each source, held if some cell is held, residual."""
        held = ("held",) if self._made.any_held else ()
        return ("stored", *EDGES, *self.sources, *held, "residual")

    @cached_property
    def _capacity(self) -> np.ndarray:
        """ρc as the run's precision has it, J/(m³ K), 0 in cells that are held."""
        c = self._made.inverse_capacity.astype(self._made.T0.dtype).astype(np.float64)
        return np.divide(1.0, c, out=np.zeros_like(c), where=c > 0)

    @cached_property
    def _heat0(self) -> float:
        """Σ ρc T0, or Σ T0 where the ledger is in K."""
        T0 = self._made.T0
        return math.fsum(np.sum(T0 if self.plain else self._capacity * T0, axis=1, dtype=np.float64))

    @cached_property
    def _static_power(self) -> dict[int, float]:
        """The sum of each static source over all cells, W/m³, by the number of the source."""
        made = self._made
        return {i: math.fsum(made.source(i, 0.0).sum(axis=1)) for i, static in enumerate(made.static) if static}

    def of(self, observed: Snapshot) -> dict[str, float]:
        """The energies by name, J."""
        made, arrays = self._made, observed.arrays
        cell = made.dx * made.dy * self._depth
        unit = cell * float(made.rho_c.flat[0]) if self.plain else cell
        kind = "sum" if self.plain else "heat"
        rows = [*arrays[f"row_{kind}"], *arrays.get(f"low_{kind}", ())]
        # at the start all is 0; the sum over rows might differ from the initial sum by rounding
        at_start = observed.step == 0
        stored = 0.0 if self._steady or at_start else unit * math.fsum([*rows, -self._heat0])
        entries = booked(arrays)
        cuts = np.cumsum([made.ny, made.ny, made.nx, made.nx])
        *edges, others = np.split(entries, cuts)
        parts = {edge: unit * math.fsum(part) for edge, part in zip(EDGES, edges)}
        elapsed, at = self._clock.time(observed.step) - self._clock.times[0], 0
        for i, name in enumerate(self.sources):
            if i in self._static_power:
                parts[name] = unit * self._static_power[i] * elapsed
            else:
                parts[name] = unit * math.fsum(others[at : at + made.ny])
                at += made.ny
        if made.any_held:
            parts["held"] = unit * math.fsum(others[at:])
        residual = math.fsum([stored, *(-value for value in parts.values())])
        return {"stored": stored, **parts, "residual": residual}
