"""Time-stepping simulations on a GPU from one TOML file: heat conduction, geometric Brownian motion, linear systems.

    import simsuite

    run = simsuite.run("heat.toml", set={"grid.nx": 512})
    run.dataset                 # xarray.Dataset, read lazily from results.h5
    run.results                 # {"min": .., "max": .., "probes": {..}, "energy": {..}}

    sim = simsuite.open_simulation("heat.toml")
    sim.advance(100)
    sim.state["temperature"]    # the live array on its device

Names are imported when they are first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simsuite.version import VERSION as __version__

if TYPE_CHECKING:
    from simsuite.api.runs import Run, load, open_simulation, run
    from simsuite.api.sweeps import Solution, Sweep, sweep
    from simsuite.errors import DeviceError, NumericalFailure, ScenarioError, SimsuiteError, UsageError
    from simsuite.simulation import Simulation

__all__ = [
    "DeviceError",
    "NumericalFailure",
    "Run",
    "ScenarioError",
    "SimsuiteError",
    "Simulation",
    "Solution",
    "Sweep",
    "UsageError",
    "__version__",
    "load",
    "open_simulation",
    "run",
    "sweep",
]

_HOMES = {
    "simsuite.api.runs": {"Run", "load", "open_simulation", "run"},
    "simsuite.api.sweeps": {"Solution", "Sweep", "sweep"},
    "simsuite.errors": {"DeviceError", "NumericalFailure", "ScenarioError", "SimsuiteError", "UsageError"},
    "simsuite.simulation": {"Simulation"},
}


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
