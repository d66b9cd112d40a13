"""What the result file of a heat run holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.core import Image, Layout, Series, Variable
from simsuite.crossings.looks import Looks
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.scenario.heat.source import SURFACE
from simsuite.solvers.heat.grid.sampling import cell_centres


def heat_layout(
    scenario: HeatScenario,
    energies: Sequence[str],
    frames: tuple[int, ...],
    samples: tuple[int, ...],
    looks: Looks | None = None,
) -> Layout:
    """Fields along `time` at the steps `frames`; probes and the energy ledger along `sample` at the steps `samples`.

    energies: the ledger's names. looks: the levels to be reached, if there are any.
    """
    g = scenario.grid
    x, y = cell_centres(scenario)
    time = Variable("time", ("time",), attrs={"units": "s", "long_name": "time", "axis": "T"})
    sample_time = Variable("sample_time", ("sample",), attrs={"units": "s", "long_name": "time of the sample"})
    # Where the diffusivity alone is given, rho c counts as 1; a steady state has powers in place of energies.
    joules = {"units": scenario.unit_of_heat}
    meaning = _meaning_of_flow if scenario.time.steady else _meaning
    degrees = {"units": scenario.units, "long_name": "temperature"}
    variables = [
        Variable(
            "y", ("y",), attrs={"units": "m", "long_name": "distance from the bottom edge", "axis": "Y"}, values=y
        ),
        Variable("x", ("x",), attrs={"units": "m", "long_name": "distance from the left edge", "axis": "X"}, values=x),
        Variable(
            "temperature",
            ("time", "y", "x"),
            scenario.run.dtype,
            degrees,
        ),
        *(Variable(f"energy_{name}", ("sample",), attrs=joules | {"long_name": meaning(name)}) for name in energies),
    ]
    sizes = {"y": g.ny, "x": g.nx}
    if scenario.probe:
        sizes["probe"] = len(scenario.probe)
        names = np.array([p.name for p in scenario.probe])
        variables += [
            Variable("probe", ("probe",), names.dtype, {"long_name": "name of the probe"}, names),
            Variable("probe_temperature", ("sample", "probe"), attrs=degrees),
        ]
    if scenario.reference is not None:
        of = {
            "l1": "mean absolute",
            "l2": "root mean square",
            "linf": "largest absolute",
            "relative_l2": "relative root mean square",
        }
        variables += [
            Variable(
                f"error_{norm}",
                ("time",),
                attrs={"units": "1" if norm == "relative_l2" else "K", "long_name": f"{text} error"},
            )
            for norm, text in of.items()
        ]
    if looks is not None:
        sizes |= looks.sizes
        variables += looks.variables
    return Layout(
        sizes=sizes,
        series=(Series("time", time, frames), Series("sample", sample_time, samples)),
        variables=tuple(variables),
        image=Image("temperature", (x[0], y[0]), (g.lx / g.nx, g.ly / g.ny)),
    )


def _meaning(name: str) -> str:
    if name in EDGES:
        return f"heat that came in, {name} edge"
    if name.startswith("source_"):
        return f"heat that arose, {name.removeprefix('source_')}"
    return {
        "stored": "heat stored since the start",
        SURFACE: "heat that came in through the faces",
        "held": "heat that came in from regions held at a temperature",
        "residual": "stored minus what came in",
    }[name]


def _meaning_of_flow(name: str) -> str:
    """The description of an entry in the heat ledger of a steady state, whose numbers are what comes in each second."""
    if name in EDGES:
        return f"heat flow in through the {name} edge"
    if name.startswith("source_"):
        return f"power of the source {name.removeprefix('source_')}"
    return {
        "stored": "heat stored each second, none at a steady state",
        SURFACE: "heat flow in through the faces",
        "held": "heat flow in from regions held at a temperature",
        "residual": "what is left of the heat flows",
    }[name]
