"""What the last bits of results depend on besides the scenario, and what of it changed since a run was interrupted."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

from simsuite.capabilities import Driven
from simsuite.core import Backend
from simsuite.version import VERSION

_OF_DEVICE, _PROGRAM = ("device", "device_name"), "version"  # keys of a checkpoint; others are names of libraries


def conditions(backend: Backend) -> dict[str, str]:
    """The device, its model, and the versions of the program and of the libraries that make or run its kernels, by the
    keys that a checkpoint has for them: the names of libraries are their own keys."""
    installed = {name: version for name in backend.libraries if (version := _version(name)) is not None}
    return {"device": backend.name, "device_name": backend.device_name, _PROGRAM: VERSION, **installed}


def versions(backend: Backend) -> dict[str, str]:
    """The versions of the libraries that make or run the kernels of a device, and of its driver, if it has one."""
    found = {name: version for name, version in conditions(backend).items() if name not in (*_OF_DEVICE, _PROGRAM)}
    return found | ({"driver": backend.driver} if isinstance(backend, Driven) else {})


def changed(before: Mapping[str, Any], backend: Backend) -> str | None:
    """A sentence on the conditions that a checkpoint has recorded and that are others now; None where all are the same.
    before: what the checkpoint says of its run. What it does not say, as of an older version, is not compared."""
    now = conditions(backend)
    differing = [key for key, value in now.items() if key in before and str(before[key]) != value]
    if not differing:
        return None
    if "device" in differing:  # models of different kinds of devices differ anyway
        differing = [key for key in differing if key != "device_name"]
    was, goes_on = (", ".join(_in_words(key, str(at[key])) for key in differing) for at in (before, now))
    return f"this run was on {was}; from here on it is on {goes_on}, and last bits may be others"


def _in_words(key: str, value: str) -> str:
    if key in _OF_DEVICE:
        return value
    return f"{'simsuite' if key == _PROGRAM else key} {value}"


def _version(library: str) -> str | None:
    """The version of a library; None where it is not installed."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None
