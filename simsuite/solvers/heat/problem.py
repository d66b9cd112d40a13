"""A heat scenario as a `Problem`: checked once, then frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Layout, Snapshot, Stepper
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.scenario.types import FileRef
from simsuite.solvers.arrays import read_npy
from simsuite.solvers.heat.edges import negative_h
from simsuite.solvers.heat.explicit import SAFETY, ExplicitStepper, largest_stable_dt
from simsuite.solvers.heat.layout import cell_centres, heat_layout
from simsuite.solvers.heat.ledger import booked, empty_ledger
from simsuite.solvers.schedule import frame_times, sample_steps
from simsuite.solvers.table import ROWS

MOST_STEPS = 1e15  # which no machine gets through


@dataclass(frozen=True, eq=False)
class HeatProblem:
    """ρc ∂T/∂t = ∇·(k∇T) on a rectangle, to be stepped explicitly.

    scenario: the validated file. T0: initial temperature at the cell centres, (ny, nx), in the run's precision.
    """

    scenario: HeatScenario
    T0: np.ndarray
    clock: Clock

    solver = "heat"
    rate_unit = "cell-steps/s"

    @classmethod
    def from_scenario(cls, model: HeatScenario, base: Path) -> HeatProblem:
        """Raises ScenarioError with all that is wrong: an unstable dt, an initial file of another shape, ..."""
        mistakes = [*_bad_steps(model), *_bad_times(model), *negative_h(model)]
        T0 = _initial(model, base, mistakes)
        if mistakes:
            raise ScenarioError(mistakes)
        dt = SAFETY * largest_stable_dt(model) if model.time.dt == "auto" else model.time.dt
        times = frame_times(model.output, model.time.end)
        return cls(model, T0, Clock.filling(sorted({0.0, *times}), dt))

    @property
    def method(self) -> Mapping[str, str]:
        return {"stepper": "explicit", "kernel": "numba", "precision": self.scenario.run.precision}

    @property
    def dt(self) -> float:
        return self.clock.dt(0)

    @property
    def work_per_step(self) -> float:
        return float(self.scenario.grid.nx * self.scenario.grid.ny)

    @cached_property
    def layout(self) -> Layout:
        start_is_frame = 0.0 in frame_times(self.scenario.output, self.scenario.time.end)
        frames = self.clock.steps if start_is_frame else self.clock.steps[1:]
        samples = sample_steps(self.scenario.output.samples, frames)
        return heat_layout(self.scenario, frames, samples)

    def position(self, step: int) -> tuple[int, float]:
        return step, self.clock.time(step)

    def initial(self) -> Snapshot:
        points = 2 * (self.scenario.grid.nx + self.scenario.grid.ny)
        return Snapshot(0, {"temperature": self.T0, **empty_ledger(points, self.T0.dtype)})

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return ExplicitStepper(self.scenario, self.clock, backend, start)

    def device_bytes(self) -> int:
        points = 2 * (self.scenario.grid.nx + self.scenario.grid.ny)
        return 2 * (self.T0.nbytes + (ROWS + 1) * points * self.T0.itemsize)

    def fault(self, observed: Snapshot) -> str | None:
        first = observed.arrays["row_bad"]
        rows = np.flatnonzero(first < self.scenario.grid.nx)
        if rows.size:
            return f"cell (x={first[rows[0]]}, y={rows[0]})"
        overflown = np.flatnonzero(~np.isfinite(observed.arrays["row_sum"]))
        if overflown.size:
            return f"the sum of row y={overflown[0]}"
        probes = zip(self.scenario.probe, observed.arrays["probes"])
        return next((f"probe {probe.name!r}" for probe, value in probes if not math.isfinite(value)), None)

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        t = self.clock.time(observed.step)
        if series == "time":
            rows = {"time": np.array(t), "temperature": observed.arrays["temperature"]}
            return rows | {f"error_{name}": np.array(value) for name, value in self._error(observed).items()}
        energy = self._energy(observed)
        return {
            "sample_time": np.array(t),
            **({"probe_temperature": observed.arrays["probes"]} if self.scenario.probe else {}),
            **{f"energy_{name}": np.array(value) for name, value in energy.items()},
        }

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return {}

    def results(self, observed: Snapshot) -> dict[str, Any]:
        a, g = observed.arrays, self.scenario.grid
        energy = self._energy(observed)
        results: dict[str, Any] = {
            "min": float(a["row_min"].min()),
            "max": float(a["row_max"].max()),
            "mean": math.fsum(a["row_sum"]) / (g.nx * g.ny),
            "probes": {p.name: float(v) for p, v in zip(self.scenario.probe, a["probes"])},
            "energy": {
                "stored": energy["stored"],
                "boundary": math.fsum(energy[edge] for edge in EDGES),
                "source": 0.0,
                "residual": energy["residual"],
                "edges": {edge: energy[edge] for edge in EDGES},
            },
        }
        error = self._error(observed)
        return results | ({"error": error} if error else {})

    @cached_property
    def _sum0(self) -> float:
        return math.fsum(np.sum(self.T0, axis=1, dtype=np.float64))

    def _energy(self, observed: Snapshot) -> dict[str, float]:
        """Energy stored since the start, that came in through each edge, and the difference (residual), J/m."""
        g = self.scenario.grid
        unit = self.scenario.material.rho_c * (g.lx / g.nx) * (g.ly / g.ny)
        cuts = np.cumsum([g.ny, g.ny, g.nx])
        through = {edge: unit * math.fsum(part) for edge, part in zip(EDGES, np.split(booked(observed.arrays), cuts))}
        stored = unit * math.fsum([*observed.arrays["row_sum"], -self._sum0])
        residual = math.fsum([stored, *(-value for value in through.values())])
        return {"stored": stored, **through, "residual": residual}

    def _error(self, observed: Snapshot) -> dict[str, float]:
        """Norms of the difference to the reference: l2 root mean square, linf largest, relative to the same norm."""
        if self.scenario.reference is None:
            return {}
        x, y = cell_centres(self.scenario)
        exact = self.scenario.reference.temperature(x=x, y=y[:, None], t=self.clock.time(observed.step))
        difference = observed.arrays["temperature"] - exact
        size = float(np.sqrt(np.mean(np.broadcast_to(exact, self.T0.shape) ** 2)))
        l2 = float(np.sqrt(np.mean(difference**2)))
        linf = float(np.max(np.abs(difference)))
        return {"l2": l2, "linf": linf, "relative_l2": l2 / size if size > 0 else math.nan}


def _bad_steps(model: HeatScenario) -> list[Mistake]:
    try:
        limit = largest_stable_dt(model)
    except (OverflowError, ZeroDivisionError):
        limit = 0.0
    if not 0 < limit < math.inf:
        message = "cells so small, or a diffusivity so far from 1, leave no stable time step"
        return [Mistake(("grid",), message, "check the units of grid.lx, grid.ly and [material]")]
    if model.time.dt != "auto" and model.time.dt > limit:
        message = f"dt = {model.time.dt:g} s is unstable for the explicit stepper on this grid"
        return [
            Mistake(("time", "dt"), message, f'the largest stable dt is {rounded_down(limit)} s; or write dt = "auto"')
        ]
    steps = model.time.end / (SAFETY * limit if model.time.dt == "auto" else model.time.dt)
    if steps > MOST_STEPS:
        return [
            Mistake(
                ("time", "end" if model.time.dt == "auto" else "dt"),
                f"that takes {steps:.1e} steps; at most {MOST_STEPS:.0e} are possible",
            )
        ]
    return []


def rounded_down(value: float) -> str:
    """Six digits of a positive number that are not more than it."""
    text = f"{value:.6g}"
    return text if float(text) <= value else f"{value * (1 - 5e-6):.6g}"


def _bad_times(model: HeatScenario) -> list[Mistake]:
    late = [(i, t) for i, t in enumerate(model.output.times or []) if t > model.time.end]
    help = f"the run ends at time.end = {model.time.end:g} s"
    return [Mistake(("output", "times", i), f"a frame at t = {t:g} s is never reached", help) for i, t in late]


def _initial(model: HeatScenario, base: Path, mistakes: list[Mistake]) -> np.ndarray:
    g = model.grid
    shape, dtype = (g.ny, g.nx), np.dtype(model.run.precision)
    given = model.initial.temperature
    if isinstance(given, FileRef):
        where: tuple[str | int, ...] = ("initial", "temperature", "file")
        try:
            T0 = read_npy(given.path(base))
        except ValueError as error:
            mistakes.append(Mistake(where, f"{given.file} {error}"))
            return np.zeros(shape, dtype)
        if T0.shape != shape:
            message = f"{given.file} holds an array of shape {T0.shape}, the grid needs (ny, nx) = {shape}"
            mistakes.append(Mistake(where, message))
            return np.zeros(shape, dtype)
    else:
        where = ("initial", "temperature")
        x, y = cell_centres(model)
        T0 = np.broadcast_to(given(x=x, y=y[:, None]), shape)
    with np.errstate(over="ignore"):
        T0 = np.ascontiguousarray(T0, dtype)
    bad = np.argwhere(~np.isfinite(T0))
    if len(bad):
        y0, x0 = bad[0]
        mistakes.append(Mistake(where, f"the initial temperature is not finite in cell (x={x0}, y={y0})"))
    return T0
