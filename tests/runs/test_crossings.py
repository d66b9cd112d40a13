"""Times at which a number reaches a level, from looks at it: against closed forms and NumPy, without any solver."""

from __future__ import annotations

import functools
import json
import math

import numpy as np
import pytest

from simsuite.crossings.course import Course, totals
from simsuite.crossings.looks import MOST, ROUGH, SMOOTH, STEPWISE, Condition, Looks, Reading, spread


def course_of(times, values, level, points=SMOOTH, direction="any", breaks=()) -> Course:
    course = Course(Condition("c", "y", level, direction), points)
    for i, (t, v) in enumerate(zip(times, values)):
        course.look(float(t), Reading(float(v), float(v)), i in breaks)
    return course


def test_between_looks_the_error_falls_with_their_fourth_power() -> None:
    exact = np.arccos(0.3)  # cos t passes 0.3 downwards
    errors = []
    for h in (0.2, 0.1, 0.05, 0.025):
        times = exact + (np.arange(-4, 5) - 0.4) * h
        (found, estimate), *more = course_of(times, np.cos(times), 0.3).times
        assert not more
        errors.append(abs(found - exact))
        assert errors[-1] <= estimate < 3e-3
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[0] < 1e-4
    assert np.all((orders > 3.7) & (orders < 4.3)), orders


@pytest.mark.parametrize("seed", range(20))
def test_all_passages_are_found_where_a_random_curve_passes_a_level(seed: int) -> None:
    """Sums of sines, looked at irregularly, against the roots that NumPy finds on a grid a thousand times as fine."""
    rng = np.random.default_rng(seed)
    amplitudes, rates, shifts = rng.normal(size=5), rng.uniform(0.3, 3.0, 5), rng.uniform(0, 7, 5)
    level = float(rng.normal(scale=0.5))

    def y(t):
        return np.sum(amplitudes * np.sin(np.multiply.outer(t, rates) + shifts), axis=-1)

    times = np.cumsum(rng.uniform(0.02, 0.06, 400))
    fine = np.linspace(times[0], times[-1], 400_001)
    sign = np.sign(y(fine) - level)
    places = np.flatnonzero(sign[1:] * sign[:-1] < 0)
    left, right = y(fine[places]) - level, y(fine[places + 1]) - level
    roots = fine[places] + (fine[1] - fine[0]) * left / (left - right)
    kept = np.sign(y(times) - level)
    seen = int(np.sum(kept[1:] * kept[:-1] < 0))
    for direction, chosen in (("any", roots), ("up", roots[left < 0]), ("down", roots[left > 0])):
        course = course_of(times, y(times), level, direction=direction)
        found = np.array([t for t, _ in course.times])
        if seen == len(roots):  # no two passages between neighbouring looks
            assert course.count == len(chosen)
            np.testing.assert_allclose(found, chosen[:MOST], atol=1e-3)  # some passages are nearly tangents
            assert np.abs(y(found) - level).max(initial=0.0) < 1e-5
    assert course.largest[1] == y(times).max()
    assert course.largest[0] == times[np.argmax(y(times))]


def test_no_polynomial_goes_over_a_kink() -> None:
    """|t - 1| falls to a level by a straight line and rises to it by another one: both are met to rounding."""
    times = np.linspace(0.0, 2.0, 9)
    times[4] = 1.0
    found = course_of(times, np.abs(times - 1.0), 0.1, breaks={4})
    np.testing.assert_allclose([t for t, _ in found.times], [0.9, 1.1], atol=1e-14)
    over = course_of(times, np.abs(times - 1.0), 0.1)
    assert max(abs(t - e) for (t, _), e in zip(over.times, (0.9, 1.1))) > 1e-3


def test_a_jump_is_passed_at_its_time() -> None:
    course = Course(Condition("c", "y", 0.5, "up"), SMOOTH)
    for t, before, after in ((0.0, 0.0, 0.0), (1.0, 0.2, 1.0), (2.0, 0.7, 0.7), (3.0, 0.4, 0.4), (4.0, 0.6, 0.6)):
        course.look(t, Reading(before, after), False)
    assert course.times[0] == (1.0, 0.0)
    assert course.count == 2
    assert course.largest == (1.0, 1.0)


def test_levels_that_are_met_exactly_count_once() -> None:
    for values, up, down in (
        ([-1, 0, 1], 1, 0),
        ([1, 0, -1], 0, 1),
        ([-1, 0, -1], 1, 0),
        ([0, 0, 1], 0, 0),
        ([-1, 0, 0, 0, 1, 0, -1], 1, 1),
    ):
        counts = [course_of(range(len(values)), values, 0.0, direction=d).count for d in ("up", "down", "any")]
        assert counts == [up, down, up + down], values
    assert course_of([0.0, 1.0, 2.0], [-1.0, 0.0, 1.0], 0.0).times[0][0] == 1.0


def test_random_paths_take_straight_lines_and_steps_no_lines_at_all() -> None:
    times, values = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0]
    ((t, error),) = course_of(times, values, 2.0, ROUGH).times
    assert math.isclose(t, 1 + 1 / 3)
    assert error == max(t - 1.0, 2.0 - t)
    assert course_of(times, values, 2.0, STEPWISE).times == [(2.0, 0.0)]
    ((t, _),) = course_of(times, values, 2.0).times
    assert math.isclose(t, math.sqrt(2), rel_tol=1e-12)  # a parabola is met exactly


def test_with_derivatives_two_looks_are_enough_for_the_fourth_order() -> None:
    """sin passes 0.3 upwards, with a kink at both looks: only the derivatives on the inner sides count."""
    exact, errors = np.arcsin(0.3), []
    for h in (0.4, 0.2, 0.1, 0.05):
        course = Course(Condition("c", "y", 0.3), ROUGH)
        for t in (exact - 0.4 * h, exact + 0.6 * h):
            slopes = (9.0, np.cos(t)) if t < exact else (np.cos(t), -9.0)
            course.look(t, Reading(np.sin(t), np.sin(t), slopes), False)
        ((found, estimate),) = course.times
        errors.append(abs(found - exact))
        assert errors[-1] < estimate < 0.05 * h
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all((orders > 3.7) & (orders < 4.3)), orders


@pytest.mark.parametrize("slopes", [False, True])
@pytest.mark.parametrize("cut", range(1, 30, 3))
def test_a_course_that_is_kept_goes_on_to_the_bit(cut: int, slopes: bool) -> None:
    times = np.linspace(0, 9, 31)
    values = np.sin(times) + 0.1 * times

    def go_on(course: Course, steps: range) -> Course:
        for i in steps:
            t, y, slope = float(times[i]), float(values[i]), float(np.cos(times[i])) + 0.1
            course.look(t, Reading(y, y, (slope, slope) if slopes else None), i == 12)
        return course

    new = functools.partial(Course, Condition("c", "y", 0.4), SMOOTH)
    whole, begun, after = go_on(new(), range(len(times))), go_on(new(), range(cut)), new()
    after.take_up(json.loads(json.dumps(begun.to_keep())))
    go_on(after, range(cut, len(times)))
    assert after.results() == whole.results()
    assert whole.count > 2


def test_more_passages_than_are_kept_are_counted() -> None:
    times = np.arange(400.0)
    course = course_of(times, (-1.0) ** times, 0.0)
    assert (course.count, len(course.times)) == (399, MOST)
    looks = Looks((course.condition,), None, frozenset(), SMOOTH, "time")
    found = totals([course])
    assert {v.name for v in looks.variables} == {"event", *found}
    assert found["event_count"] == [399]
    np.testing.assert_allclose(found["event_time"][0, 1:], 1.5 + np.arange(MOST - 1), rtol=1e-14)
    assert found["event_time"].shape == (looks.sizes["event"], looks.sizes["crossing"])


def test_looks_are_spread_evenly_with_those_at_breaks() -> None:
    assert spread(11, 5) == (0, 1, 2, 3, 4, 5)
    assert spread(3, 10, [7, 99]) == (0, 5, 7, 10)
    assert spread(4, 10) == (0, 4, 8, 10)
