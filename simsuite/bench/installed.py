"""Measurements of other libraries, which take part where they are installed and work."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

from simsuite.bench.findings import Row


def measured_if_installed(library: str, slow: bool, patient: bool, measured: Callable[[], Row]) -> Row:
    """The row that `measured` gives, with the library's version, or a row with the reason why there is none.

    library: the module that has to be importable. slow: whether it compiles for many seconds; patient: whether to wait
    for that.
    """
    if importlib.util.find_spec(library) is None:
        return {"skipped": f"{library} is not installed"}
    if slow and not patient:
        return {"skipped": "compiles for too long for a quick look"}
    try:
        row = measured()
    except Exception as reason:  # Each library raises its own exception for a missing compiler, device or driver.
        return {"skipped": f"{type(reason).__name__}: {reason}"}
    return {"version": getattr(importlib.import_module(library), "__version__", "")} | row
