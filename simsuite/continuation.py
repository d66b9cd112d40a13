"""A new run that begins with the last good state of another: with other steps, another end, other data.

The state is put into a file beside the new run's other files, and the scenario names that file for its initial state.
Time begins anew at 0.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.assembly import device_of, make_backend, make_problem, scenario_of_run
from simsuite.core import Device, Problem
from simsuite.errors import UsageError
from simsuite.io.checkpoint import Checkpoint, read_checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.io.disk import replace_bytes
from simsuite.io.layout import as_text
from simsuite.io.reading import reading
from simsuite.scenario import Scenario
from simsuite.words import measured

FILE = "initial.npy"
_ZERO = {"K": 0.0, "degC": 273.15}  # the zero of each unit of temperature, in K
_KEYS = {"heat": ("initial.temperature", "temperature"), "linear": ("initial.state", "state")}


@dataclass(frozen=True)
class State:
    """A state of another run. values: as a file with an initial state has them. time: the time of the other run at
    which it had this state. at: that time in words. key: the key of the scenario that takes an initial state."""

    values: np.ndarray
    time: float
    at: str
    key: str


def last_state(directory: Path, scenario: Scenario) -> State:
    """The last state of the run in a directory, converted for `scenario`: the state of its newest checkpoint or of its
    last frame, whichever is later. A run that has ended has only checkpoints from before its end.

    Raises UsageError where there is neither, the solver has no such state, or it does not fit the scenario, and
    SimsuiteError for damage.
    """
    own = scenario_of_run(directory)
    if own.solver not in _KEYS:
        what = "no state but that of its paths" if own.solver == "gbm" else "a state that other runs cannot begin with"
        raise UsageError(f"{directory} has {what}: `simsuite resume {directory}` goes on")
    _require_fit(own, scenario, directory)
    state = _last_state(own, directory)
    if own.solver != "heat" or own.model.units == scenario.model.units:
        return state
    values = np.asarray(state.values, np.float64) + (_ZERO[own.model.units] - _ZERO[scenario.model.units])
    return replace(state, values=values)


def _require_fit(own: Scenario, scenario: Scenario, directory: Path) -> None:
    """Raises UsageError unless the scenario has the solver of the other run and, for heat, the same grid."""
    if own.solver != scenario.solver:
        raise UsageError(f"{directory} is a run of {own.solver}, and this scenario is of {scenario.solver}")
    if own.solver != "heat":
        return
    old, new = own.model.grid, scenario.model.grid
    if (old.nx, old.ny) != (new.nx, new.ny):
        raise UsageError(f"{directory} has {old.nx} x {old.ny} cells, and this scenario {new.nx} x {new.ny}")
    if (old.lx, old.ly) != (new.lx, new.ly):
        sizes = (f"{grid.lx:g} m x {grid.ly:g} m" for grid in (old, new))
        raise UsageError(f"{directory} is of {next(sizes)}, and this scenario of {next(sizes)}")


def _last_state(scenario: Scenario, directory: Path) -> State:
    found = read_checkpoint(directory)
    with reading(RunDirectory(directory).results) as file:
        frame = _last_frame(scenario, file)
        if found is None:
            if frame is None:
                raise UsageError(f"{file.filename} has no frame that a run can begin with, and there is no checkpoint")
            return frame.state(scenario)
        device = device_of(scenario)
        problem = make_problem(scenario, device, json.loads(file.attrs["decided"]))
        if frame is not None and frame.time > problem.position(found.snapshot.step)[1]:
            return frame.state(scenario)
        return _of_checkpoint(scenario, found, problem, device)


def _of_checkpoint(scenario: Scenario, found: Checkpoint, problem: Problem, device: Device) -> State:
    backend = make_backend(device, problem)
    key, name = _KEYS[scenario.solver]
    values = np.array(backend.to_host(problem.stepper(backend, found.snapshot).state[name]))
    if "numbers" in problem.method:  # complex numbers: the state holds their real parts above their imaginary parts
        values = values[: len(values) // 2] + 1j * values[len(values) // 2 :]
    time = problem.position(found.snapshot.step)[1]
    return State(values, time, _moment(time, problem), key)


@dataclass(frozen=True)
class _Frame:
    """The last frame in a file of results. row: its index along time. unit: the unit of the time."""

    file: Any
    row: int
    time: float
    unit: str

    def state(self, scenario: Scenario) -> State:
        key, name = _KEYS[scenario.solver]
        return State(self.file[name][self.row], self.time, f"t = {measured(f'{self.time:.9g}', self.unit)}", key)


def _last_frame(scenario: Scenario, file: Any) -> _Frame | None:
    """The last frame in a file of results; None if there is none or frames do not hold the whole state."""
    times = file["time"]
    rows = np.flatnonzero(np.isfinite(times[...]))
    if not rows.size or _KEYS[scenario.solver][1] not in file or _is_output(scenario):
        return None
    return _Frame(file, int(rows[-1]), float(times[rows[-1]]), as_text(times.attrs.get("units", "")))


def _is_output(scenario: Scenario) -> bool:
    """Whether the frames of a linear system hold its output instead of its state."""
    return scenario.solver == "linear" and scenario.model.system.output_matrix is not None


def _moment(time: float, problem: Problem) -> str:
    unit = problem.layout.series[0].coordinate.attrs.get("units", "")
    return f"t = {measured(f'{time:.9g}', unit)}"


def store(state: State, directory: Path, base: Path, fresh: bool) -> str:
    """Put the state beside the files of a new run in `directory`, and return the override that makes it the initial
    state of the new run's scenario. base: the directory that names of data files start from.

    Raises UsageError where another state lies there already, unless the run is to begin `fresh`, and SimsuiteError when
    the disk fails.
    """
    path, content = directory / FILE, io.BytesIO()
    np.save(content, state.values)
    if not (path.is_file() and path.read_bytes() == content.getvalue()):
        if os.path.lexists(path) and not (fresh and path.is_file()):
            raise UsageError(f"{path} is there already, with another state\n  = help: -o DIR writes the run elsewhere")
        directory.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content.getvalue())
    return f"{state.key}={{file = {json.dumps(os.path.relpath(path.resolve(), base.resolve()))}}}"
