"""What a scenario gives of a plate at its cells: material, regions, initial temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simsuite.errors import Mistake, SimsuiteError
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.mask import MaskShape


@dataclass(frozen=True)
class Plate:
    """A plate at its cells, [y, x] each. conductivity: along x and along y, W/(m K), at the initial temperature;
    capacity: density times specific heat, J/(m³ K); of a scenario with the diffusivity alone, that in m²/s and 1.
    initial: temperatures, K or °C. held: the cells that are held at a temperature. marked: by "region" and
    "source", those that files mark for any of them.
    """

    conductivity: tuple[np.ndarray, np.ndarray]
    capacity: np.ndarray
    initial: np.ndarray
    held: np.ndarray
    marked: Mapping[str, np.ndarray]

    @property
    def orthotropic(self) -> bool:
        return not np.array_equal(*self.conductivity)


def plate_of(model: HeatScenario, base: Path, temperature: np.ndarray | None = None) -> Plate:
    """The plate. base: where names of data files start from. temperature: [y, x], at which the conductivity is taken;
    default: the initial one. Raises SimsuiteError where data files cannot be read, or the scenario has mistakes that
    show at cells only."""
    from simsuite.solvers.heat.grid.sampling import Sampler
    from simsuite.solvers.heat.statement import discretise

    mistakes: list[Mistake] = []
    made = discretise(model, base, mistakes)
    _require(mistakes)
    sampler = Sampler(model, base, mistakes)
    marked = {"region": np.zeros(sampler.shape, bool), "source": np.zeros(sampler.shape, bool)}
    for kind, shapes in (("region", model.region), ("source", model.source)):
        for i, part in enumerate(shapes):
            if isinstance(part, MaskShape):
                marked[kind] |= sampler.inside(part, (kind, i))
    _require(mistakes)
    kx, ky = made.conductivity(made.T0 if temperature is None else temperature)
    shape = sampler.shape
    return Plate(
        (np.broadcast_to(kx, shape), np.broadcast_to(ky, shape)),
        np.broadcast_to(made.rho_c, shape),
        np.asarray(made.T0, np.float64),
        np.broadcast_to(made.held, shape),
        marked,
    )


def _require(mistakes: Sequence[Mistake]) -> None:
    if mistakes:
        raise SimsuiteError(f"the material of the plate is not known: {mistakes[0].message}")
