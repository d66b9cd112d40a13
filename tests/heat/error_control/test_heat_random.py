"""Automatic steps on random plates, against solutions by another method of lines and another integrator (Radau).

`make long` takes 500 plates and 60 with switches; every run of the tests a few small ones.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from heat_random import Plate, random_plate
from heat_study import STEPPERS, study
from heat_work import Reference, automatic
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.core import Backend

pytestmark = pytest.mark.usefixtures("one_thread")


one_of = functools.cache(random_plate)  # the reference takes as long as a run, and serves all steppers


def off_by(plate: Plate, stepper: str) -> float:
    """The largest error at the end of any step, in units of tolerance times range."""
    reference = Reference(plate, plate.solution, everywhere=True)
    return automatic(plate, open_backend("cpu"), reference, stepper).always / reference.enough


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
@pytest.mark.parametrize("switches", [False, True], ids=["smooth", "switches"])
@pytest.mark.parametrize("seed", range(2))
def test_a_random_plate_is_within_its_tolerance(seed: int, switches: bool, stepper: str) -> None:
    assert off_by(one_of(seed, switches, 6), stepper) <= 1.0


@pytest.mark.parametrize(
    ("seed", "stepper"),
    others_long(
        [(316, "auto"), (348, "auto"), (348, "adi"), (388, "adi"), (388, "rkl2"), (445, "auto")],
        {(316, "auto"), (348, "adi"), (388, "rkl2")},
        several=True,
    ),
)
def test_plates_that_were_far_off_are_within_their_tolerance(seed: int, stepper: str) -> None:
    """Regions that conduct 10³ to 10⁶ times as well, where the error of alternating directions hardly depends on the
    step (28 times the tolerance), and peaks that last a twentieth of the run (4 times)."""
    assert off_by(one_of(seed, False, 16), stepper) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize(("switches", "count"), [(False, 500), (True, 60)], ids=["smooth", "switches"])
def test_random_plates_are_within_their_tolerance(
    backend: Backend, switches: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """99 of 100, and none beyond three times the tolerance."""
    found = list(study(range(count), switches, backend.name, compared=False))
    for stepper in STEPPERS:
        off, always = (
            np.array([errors[stepper] for errors in each]) for each in zip(*((f.errors, f.always) for f in found))
        )
        with capsys.disabled():
            print(f"\n{stepper}, {count} plates: {np.mean(off <= 1):.1%} within at frames, {quantiles(off)}")
            print(f"{np.mean(always <= 1):.1%} within at the end of every step, {quantiles(always)}")
            worst = sorted(found, key=lambda f: -f.always[stepper])[:12]
            print(
                "worst seeds:", ", ".join(f"{f.seed} ({f.errors[stepper]:.2f}, {f.always[stepper]:.2f})" for f in worst)
            )
        assert np.mean(off <= 1.0) >= 0.99
        assert max(off.max(), always.max()) <= 3.0


@pytest.mark.long
@pytest.mark.parametrize(("switches", "count"), [(False, 500), (True, 60)], ids=["smooth", "switches"])
def test_automatic_steps_are_not_more_work_than_the_best_equal_ones(
    switches: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """All together, but for a tenth, when both keep the tolerance all the time; and nine of ten plates take no more
    than three times the work of the best stepper with the best equal steps."""
    found = list(study(range(count), switches))
    work, best, at_frames = (np.array(each) for each in zip(*((f.work, f.best[1], f.best_at_frames[1]) for f in found)))
    with capsys.disabled():
        for name, ratios in (("", work / best), (" at frames alone", work / at_frames)):
            print(f"\n{count} plates, work over the best that keeps the tolerance{name}: {quantiles(ratios)}", end=", ")
            print(f"{np.mean(ratios <= 2):.1%} at most 2, {np.mean(ratios <= 1.5):.1%} at most 1.5")
        print(f"all together {work.sum() / best.sum():.2f}, {work.sum() / at_frames.sum():.2f}")
    assert work.sum() <= 1.1 * best.sum()
    assert np.quantile(work / best, 0.9) <= 3.0


def quantiles(values: np.ndarray) -> str:
    return ", ".join(f"{q:.0%}: {np.quantile(values, q):.2f}" for q in (0.5, 0.75, 0.9, 0.99, 1.0))
