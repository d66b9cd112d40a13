"""Automatic steps on random plates, against solutions by another method of lines and another integrator (Radau).

`make long` takes 500 plates and 60 with switches; every run of the tests a few small ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from heat_random import Plate, random_plate
from heat_study import STEPPERS, study
from heat_work import automatic, problem_of

from simsuite.backends import open_backend
from simsuite.core import Backend

pytestmark = pytest.mark.usefixtures("one_thread")


def off_by(plate: Plate, stepper: str) -> float:
    """The largest error at any frame, in units of tolerance times range."""
    problem, backend = problem_of(plate, stepper=stepper), open_backend("cpu")
    want = np.array(plate.reference([problem.clock.time(step) for step in problem.layout.series[0].steps]))
    error, _ = automatic(plate, backend, want, stepper)
    return error / (plate.sections["time"]["tolerance"] * float(np.ptp(want)))


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
@pytest.mark.parametrize("switches", [False, True], ids=["smooth", "switches"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_plate_is_within_its_tolerance(seed: int, switches: bool, stepper: str) -> None:
    assert off_by(random_plate(seed, switches, 6), stepper) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize(("switches", "count"), [(False, 500), (True, 60)], ids=["smooth", "switches"])
def test_random_plates_are_within_their_tolerance(
    backend: Backend, switches: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """99 of 100, and none beyond three times the tolerance."""
    found = list(study(range(count), switches, backend.name, compared=False))
    for stepper in STEPPERS:
        off = np.array([each.errors[stepper] for each in found])
        with capsys.disabled():
            print(f"\n{stepper}, {count} plates: {np.mean(off <= 1):.1%} within, {quantiles(off)}")
        assert np.mean(off <= 1.0) >= 0.99
        assert off.max() <= 3.0


@pytest.mark.long
@pytest.mark.parametrize(("switches", "count"), [(False, 500), (True, 60)], ids=["smooth", "switches"])
def test_automatic_steps_are_not_much_more_work_than_the_best_equal_ones(
    switches: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the plates take at most twice the work that the best stepper takes with the best equal steps."""
    ratios = np.array([each.ratio for each in study(range(count), switches)])
    with capsys.disabled():
        print(f"\n{count} plates, work over the best: {quantiles(ratios)}, {np.mean(ratios <= 2):.1%} at most 2")
    assert np.median(ratios) <= 2.0


def quantiles(values: np.ndarray) -> str:
    return ", ".join(f"{q:.0%}: {np.quantile(values, q):.2f}" for q in (0.5, 0.75, 0.9, 0.99, 1.0))
