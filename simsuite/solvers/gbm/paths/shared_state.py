"""The state of a run in parts, one of each process that shares it, and the parts together again.

Sums and counts are whole numbers: each process adds up those of its own paths, on top of what the first was given, and
the sum of all is what one process has, to the last bit. Paths within a batch are the columns of the processes, one
after another. All else is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.paths.plan import PathPlan

SUMS = ("moments", "histogram", "options", "joint", "risk", "exposure", "exposure_counts", "exposures")
_OF_FIRST = "paths"  # those that are stored
_ALONG = ("x", "kept", "joint_x", "joint_kept")
_LEAST = ("fault", "joint_fault")


def cut(plan: PathPlan, state: Snapshot, process: int, processes: int) -> Snapshot:
    """The part of a state that a process goes on from."""
    columns = _columns(plan, state, processes)[process] if any(name in state.arrays for name in _ALONG) else range(0)
    held = replace(plan, share=(process, processes)).held
    arrays = {}
    for name, a in state.arrays.items():
        if name in SUMS and process > 0:
            arrays[name] = np.zeros_like(a)
        elif name in _ALONG:
            arrays[name] = np.zeros((len(a), held), a.dtype)
            arrays[name][:, : len(columns)] = a[:, columns.start : columns.stop]
        elif name != _OF_FIRST or process == 0:
            arrays[name] = a
    return Snapshot(state.step, arrays)


def join(plan: PathPlan, parts: Sequence[Snapshot]) -> Snapshot:
    """The state, or the observation, whose parts the processes have."""
    first, arrays = parts[0], {}
    for name, a in first.arrays.items():
        each = [part.arrays[name] for part in parts if name in part.arrays]
        if name in SUMS:
            arrays[name] = _sum(each)
        elif name in _ALONG:
            arrays[name] = np.zeros((len(a), plan.batch), a.dtype)
            for columns, own in zip(_columns(plan, first, len(parts)), each):
                arrays[name][:, columns.start : columns.stop] = own[:, : len(columns)]
        else:
            arrays[name] = np.minimum.reduce(each) if name in _LEAST else a
    return Snapshot(first.step, arrays)


def _columns(plan: PathPlan, state: Snapshot, processes: int) -> list[range]:
    """The columns of each process among those of the batch that a state is amid."""
    done = int(state.arrays["done"][0])
    n = plan.batches.end(state.step // plan.n_steps) - done
    return [replace(plan, share=(process, processes)).own(n, done == 0) for process in range(processes)]


def _sum(each: Iterable[np.ndarray]) -> np.ndarray:
    total, *others = each
    total = total.copy()
    for other in others:
        total += other
    return total
