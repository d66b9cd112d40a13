"""Hashes of all arrays that a run leaves, and the file in which they are kept."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import h5py
import llvmlite.binding as llvm
import numpy as np

import simsuite
from simsuite.errors import SimsuiteError

GOLDEN = Path(__file__).parents[1] / "golden" / "bits.json"
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "cupy-cuda13x", "numba-cuda")  # that bits may depend on
LEFT_OUT = ("digests", "VTKHDF")  # which say again what is in other arrays


def hashes(scenario: dict[str, Any], device: str, directory: Path) -> dict[str, str]:
    """Of each array in the results of a run, and of its totals in the summary; or of the name of the error that ends
    it."""
    try:
        run = simsuite.run(scenario, device=device, directory=directory)
    except SimsuiteError as error:
        return {"refused": type(error).__name__}
    found: dict[str, str] = {}

    def note(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset) and name.partition("/")[0] not in LEFT_OUT:
            found[name] = of_array(item[...])

    with h5py.File(directory / "results.h5") as file:
        file.visititems(note)
    found["results"] = of_text(json.dumps(run.results, sort_keys=True, default=str))
    return found


def of_array(values: np.ndarray) -> str:
    if values.dtype.hasobject:  # texts
        return of_text(json.dumps(values.tolist(), default=bytes.decode))
    return of_bytes(f"{values.dtype} {values.shape}".encode() + np.ascontiguousarray(values).tobytes())


def of_text(text: str) -> str:
    return of_bytes(text.encode())


def of_bytes(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=6).hexdigest()


def environment(device: str) -> dict[str, str]:
    """What bits may depend on besides the program."""
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    found = {"processor": f"{llvm.get_host_cpu_name()} {of_text(' '.join(features))}"}
    found["python"] = platform.python_version()
    for library in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    if device == "cuda":
        import cupy

        found["device"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return found


def load() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}


def store(device: str, runs: dict[str, dict[str, str]]) -> None:
    """In place of what was recorded of that device."""
    kept = load() | {device: {"environment": environment(device), "runs": runs}}
    GOLDEN.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n", encoding="utf-8")
