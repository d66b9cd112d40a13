"""Conductivities that depend on T and become negative, or no number, at temperatures that a run comes to."""

from __future__ import annotations

import numpy as np

from simsuite.core import Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct

_MOST = 128  # the most cells along each axis at which conductivities are looked at, unless something is wrong there


def broken_law(scenario: HeatScenario, made: Discretisation, observed: Snapshot) -> str | None:
    """A sentence if a conductivity is negative or no number in a cell, as far as a row of results shows; steps take it
    as 0 then."""
    if made.law is None:
        return None
    lowest, highest = (float(f(observed.arrays[name])) for f, name in ((np.min, "row_min"), (np.max, "row_max")))
    if not np.isfinite(lowest + highest):
        return None
    with np.errstate(all="ignore"):
        if not any(_bad(_few(k), made).any() for _, *fields in made.conductivities((lowest, highest)) for k in fields):
            return None
        found = _in_field(made, observed) if "temperature" in observed.arrays else _anywhere(made, lowest, highest)
    if found is None:
        return None
    T, value = found
    key = "diffusivity" if scenario.material.alone else "conductivity"
    what = f"is {value:.4g}" if np.isfinite(value) else "is no number"
    return (
        f"the {key} {what} at T = {T:.5g} {scenario.degrees}, and is taken as 0 at such temperatures: what follows "
        "does not belong to the law that was given; write one that holds at all temperatures that come up, or check "
        "what heats or cools the plate"
    )


def _few(k: np.ndarray) -> np.ndarray:
    """Some of the values of a field, which stand for all where there are few different ones."""
    few = distinct(k)
    if few.ndim < 2:
        return np.asarray(few)
    return np.asarray(few[:: -(-few.shape[0] // _MOST), :: -(-few.shape[1] // _MOST)])


def _bad(k: np.ndarray, made: Discretisation) -> np.ndarray:
    """Where a conductivity is not a number from 0 on, in cells that are not held."""
    bad = ~((k >= 0) & (k < np.inf))
    return bad & ~made.held if k.shape == made.held.shape else bad


def _in_field(made: Discretisation, observed: Snapshot) -> tuple[float, float] | None:
    """(T, k) of a cell where k is not a number from 0 on."""
    T = observed.arrays["temperature"]
    for k in made.conductivity(T):
        bad = np.argwhere(_bad(np.broadcast_to(k, T.shape), made))
        if len(bad):
            place = tuple(bad[0])
            return float(T[place]), float(np.broadcast_to(k, T.shape)[place])
    return None


def _anywhere(made: Discretisation, lowest: float, highest: float) -> tuple[float, float] | None:
    """(T, k) at which k is not a number from 0 on, between two temperatures, if it depends on nothing else."""
    for T, *fields in made.conductivities((lowest, highest)):
        for k in fields:
            few = distinct(k)
            if few.size == 1 and _bad(few, made).any():
                return T, float(few.flat[0])
    return None
