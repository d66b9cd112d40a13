"""Shares of processes in the paths of a batch, and states in parts, without MPI."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from gbm_problems import problem, two_assets
from hypothesis import given, settings
from hypothesis import strategies as st

from simsuite.backends.cpu import CpuBackend
from simsuite.communication.communicator import Alone
from simsuite.core import Snapshot
from simsuite.scenario.gbm import GROUP
from simsuite.solvers.gbm.schedule.shares import largest_share, shares


@given(n=st.integers(0, 40 * GROUP), processes=st.integers(1, 9), together=st.integers(0, 12 * GROUP))
@settings(max_examples=300, deadline=None)
def test_shares_are_whole_groups_and_even(n: int, processes: int, together: int) -> None:
    bounds = shares(n, processes, together)
    sizes = [b - a for a, b in pairwise(bounds)]
    assert (bounds[0], bounds[-1], len(sizes)) == (0, n, processes)
    assert min(sizes) >= 0
    assert sizes[0] >= min(together, n)
    assert all(bound % GROUP == 0 for bound in bounds if bound != n)
    assert max(sizes) <= largest_share(n, processes, together)
    others = sizes[1:] if together > GROUP * (n // GROUP // processes) else sizes
    assert max(others, default=0) - min(others, default=0) < 2 * GROUP


class OneOf(Alone):
    """One of several processes that share no memory, whose first one decides nothing here."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_parts_are_together_what_one_process_has(processes: int) -> None:
    """Stopped amid a batch that is smaller than the one before, and gone on with by another number of processes."""
    whole = two_assets(count=5 * GROUP + 8, batch=3 * GROUP, antithetic=True, stored=GROUP + 9)
    backend = CpuBackend()
    alone = whole.stepper(backend, whole.initial())
    steps = (whole.n_steps // 2, whole.n_steps, 1)
    parts = [whole.cut(whole.initial(), p, processes) for p in range(processes)]
    for n in steps:
        alone.advance(n)
        steppers = [whole.part(backend, part, OneOf(p, len(parts))) for p, part in enumerate(parts)]
        for stepper in steppers:
            stepper.advance(n)
        for name, arguments in (("snapshot", ()), ("observe", ("time",)), ("observe", ("options",))):
            found = whole.join([snapshot(getattr(stepper, name)(*arguments)) for stepper in steppers])
            expected = snapshot(getattr(alone, name)(*arguments))
            assert found.step == expected.step
            assert found.arrays.keys() == expected.arrays.keys()
            for array in found.arrays:
                assert found.arrays[array].tobytes() == expected.arrays[array].tobytes(), array
        state = whole.join([snapshot(stepper.snapshot()) for stepper in steppers])
        parts = [whole.cut(state, p, processes + 1) for p in range(processes + 1)]


def snapshot(pending: object) -> Snapshot:
    with pending as held:  # type: ignore[attr-defined]
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def test_a_part_needs_less_memory() -> None:
    whole = problem(paths={"count": 64 * GROUP})
    assert whole.part_bytes(1) == whole.device_bytes()
    saved = 2 * 8 * (64 - 16) * GROUP  # of the noise, and of what is looked at
    assert whole.part_bytes(4) == whole.device_bytes() - saved
