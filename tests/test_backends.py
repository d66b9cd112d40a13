"""What steppers rely on in every backend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simsuite.core import Backend


def test_arrays_come_back_as_they_went(backend: Backend) -> None:
    a = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    device = backend.array(a)
    a_before, a[:] = a.copy(), 0
    assert np.array_equal(backend.to_host(device), a_before)
    target = backend.zeros((3, 5), np.float32)
    backend.copy(device, target)
    assert np.array_equal(backend.to_host(target), a_before)


def test_a_staged_snapshot_keeps_its_values(backend: Backend) -> None:
    """Work queued after `stage` must not show in the snapshot, whichever slot it has, however late it is read."""
    n = 1 << 18
    live = backend.array(np.zeros(n))
    ones = backend.array(np.ones(n))
    pending = []
    for step in range(2):
        pending.append(backend.stage(step, {"a": live, "b": ones}))
        backend.copy(ones, live)
    for step, held in enumerate(pending):
        with held as snapshot:
            assert snapshot.step == step
            assert np.all(snapshot.arrays["a"] == step)
            assert np.all(snapshot.arrays["b"] == 1)


def test_snapshots_of_growing_size(backend: Backend) -> None:
    for n in (1, 1000, 1 << 20, 3):
        with backend.stage(n, {"a": backend.array(np.arange(n, dtype=np.float64))}) as snapshot:
            assert np.array_equal(snapshot.arrays["a"], np.arange(n))


def test_two_steppers_on_one_backend_do_not_mix(heat: Callable, backend: Backend) -> None:
    """Their recordings have the same keys and other buffers."""
    text = "sin(3*x) + y"
    problems = [
        heat(grid={"nx": n, "ny": n}, initial={"temperature": text}, time={"end": 1.0, "dt": 1e-3}) for n in (4, 8)
    ]
    together = [p.stepper(backend, p.initial()) for p in problems]
    for _ in range(4):
        for stepper in together:
            stepper.advance(3)
    for problem, stepper in zip(problems, together):
        alone = problem.stepper(backend, problem.initial())
        alone.advance(12)
        assert np.array_equal(
            backend.to_host(alone.state["temperature"]), backend.to_host(stepper.state["temperature"])
        )
