"""sweep.h5: the results of all members, with the keys that vary as dimensions, for xarray and whatever reads netCDF-4.

All combinations of values are an array with a dimension for each key; other members lie along one dimension, `member`,
and the values of the keys are variables along it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import h5py
import numpy as np

from simsuite.provenance import appended
from simsuite.sweeps.directory import Ended
from simsuite.sweeps.frames import Frames
from simsuite.sweeps.plan import Plan

STATUS = {"complete": 0, "failed": 1, "missing": 2}


def write_results(
    path: Path,
    plan: Plan,
    ended: Mapping[int, Ended],
    attributes: Mapping[str, str],
    runs: Mapping[int, tuple[Path, int]] = MappingProxyType({}),
    frames: str | None = None,
    line: str = "",
) -> list[str]:
    """Write the file in place of one that is there, whose history goes on with a line. ended: by number of the member.
    frames: which of the frames of `runs` are stored, see `Frames`; None for none. Returns the names of variables whose
    frames could not be stored, as their shapes differ."""
    left_out: list[str] = []
    names = list(dict.fromkeys(name for each in ended.values() for name in each.results))
    units = {name: unit for each in ended.values() for name, unit in each.units.items()}
    new = path.with_name(path.name + ".new")
    with h5py.File(new, "w") as file:
        file.attrs.update(attributes)
        file.attrs["history"] = appended(_history(path), line)
        scales = _scales(file, plan)
        shape = plan.shape
        for name in names:
            values = np.full(len(plan.members), np.nan)
            for i, each in ended.items():
                if (value := each.results.get(name)) is not None:
                    values[i] = value
            _variable(file, scales, name, values.reshape(shape), units.get(name, ""))
        status = np.full(len(plan.members), STATUS["missing"], np.int8)
        seconds = np.full(len(plan.members), np.nan)
        for i, each in ended.items():
            status[i], seconds[i] = STATUS[each.status], each.seconds
        _variable(file, scales, "status", status.reshape(shape), "")
        file["status"].attrs["meaning"] = ", ".join(f"{number}: {name}" for name, number in STATUS.items())
        _variable(file, scales, "seconds", seconds.reshape(shape), "s")
        if frames is not None:
            found = Frames(file, scales, shape, frames)
            found.add(runs)
            left_out = found.left_out
    with new.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(new, path)
    return left_out


def _history(path: Path) -> str:
    """The history of a file; nothing if there is none, or it cannot be read."""
    try:
        with h5py.File(path, "r") as file:
            return str(file.attrs.get("history", ""))
    except (OSError, RuntimeError, KeyError, ValueError):
        return ""


def _scales(file: h5py.File, plan: Plan) -> list[h5py.Dataset]:
    """The dimensions of the file."""
    if not plan.is_product:
        file["member"] = np.arange(len(plan.members))
        file["member"].make_scale("member")
        for key, column in zip(plan.keys, zip(*plan.members)):
            _variable(file, [file["member"]], key, _array(column), "")
        return [file["member"]]
    found = []
    for i, key in enumerate(plan.keys):
        stride = math.prod(plan.shape[i + 1 :])
        file[key] = _array([plan.members[j * stride][i] for j in range(plan.shape[i])])
        file[key].make_scale(key)
        found.append(file[key])
    return found


def _array(values: Sequence[object]) -> np.ndarray:
    """Numbers as such, whatever else as text."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        found = np.asarray(values)
        return found if found.dtype.kind in "if" else np.asarray(values, np.float64)
    return np.asarray([str(value) for value in values], h5py.string_dtype())


def _variable(file: h5py.File, scales: list[h5py.Dataset], name: str, values: np.ndarray, unit: str) -> None:
    while name in file:  # a result called as a key or as `status`
        name += "_"
    variable = file.create_dataset(name, data=values)
    for i, scale in enumerate(scales):
        variable.dims[i].attach_scale(scale)
    if unit:
        variable.attrs["units"] = unit
