"""How long stretches of steps become, on a device whose time is simulated: the host waits by moving its clock on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from simsuite.loop import AHEAD, ALONE, LONG, SHORT, Pace, march
from simsuite.running.stopwatch import Stopwatch

LAUNCH, LOADING = 2e-5, 0.8  # seconds: what it costs the host to queue a stretch, and the first one
LOOKS = 252  # steps between two looks


@dataclass
class Device:
    """Works off what is queued, one thing after the other, and is the stepper as well."""

    seconds: float  # a step
    slower: float = 1.0  # by this factor from look to look
    now: float = 0.0  # of the host
    done_at: float = 0.0
    idle: float = 0.0  # seconds in which nothing was queued, after the stretches that are waited for
    step: int = 0
    stretches: list[tuple[int, int]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    def advance(self, n: int) -> None:
        self.now += LAUNCH + (LOADING if self.step == 0 else 0)
        if len(self.stretches) > ALONE:
            self.idle += max(0.0, self.now - self.done_at)
        self.done_at = max(self.now, self.done_at) + n * self.seconds * self.slower ** (self.step // LOOKS)
        self.stretches.append((self.step, n))
        self.step += n
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)

    def fence(self) -> Fence:
        return Fence(self, self.done_at)

    def clock(self) -> float:
        return self.now


@dataclass
class Fence:
    device: Device
    at: float

    def wait(self) -> None:
        self.device.now = max(self.device.now, self.at)
        self.device.under_way -= 1

    def seconds_since(self, earlier: Fence) -> float:
        return self.at - earlier.at


def marched(monkeypatch: pytest.MonkeyPatch, device: Device, end: int, progress: Callable[[int], None]) -> None:
    monkeypatch.setattr("simsuite.loop.Pace", lambda backend: Pace(backend, device.clock))
    assert march(device, end, [], device, lambda: None, progress) is None


@pytest.mark.parametrize("seconds", [6e-7, 1.3e-6, 1e-4, 3e-3, 0.02, 0.07, 0.3])
def test_stretches_take_the_time_they_should(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    device = Device(seconds)
    marched(monkeypatch, device, max(1000, int(20 / seconds)), lambda step: None)
    assert [n for _, n in device.stretches[:ALONE]] == [1] * ALONE
    settled = [n * seconds for _, n in device.stretches[len(device.stretches) // 2 : -1]]
    assert min(settled) > SHORT / 4
    assert max(settled) <= max(LONG, seconds)
    assert device.idle < 1e-3 * device.now
    assert device.most_under_way == AHEAD + 1
    for step, n in device.stretches[-20:-1]:
        assert n & (n - 1) == 0
        assert step % n == 0


def test_the_steps_learn_their_length_before_the_device_has_worked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(6e-7)
    marched(monkeypatch, device, 10_000, lambda step: None)
    assert len(device.stretches) < 12
    assert device.idle == 0


class Looks:
    """Something that is due every so often."""

    def next_step(self, step: int) -> int:
        return -(-step // LOOKS) * LOOKS

    def due(self, step: int) -> bool:
        return step % LOOKS == 0

    def emit(self, stepper: Device) -> None: ...


def test_stretches_that_are_cut_short_may_be_too_long_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of twice the time after each look, as of batches of twice the paths."""
    device, at = Device(1e-5, slower=2.0), [0.0]
    monkeypatch.setattr("simsuite.loop.Pace", lambda backend: Pace(backend, device.clock))
    end = 14 * LOOKS
    assert march(device, end, [Looks()], device, lambda: None, lambda step: at.append(device.now)) is None
    assert device.seconds * LOOKS * device.slower**13 > 20
    assert max(b - a for a, b in zip(at[ALONE:], at[ALONE + 1 :])) < 4 * LONG


@pytest.mark.parametrize(("seconds", "end"), [(6e-7, 10_000), (1e-4, 5000), (0.3, 40)])
def test_the_rate_is_that_of_the_steps(monkeypatch: pytest.MonkeyPatch, seconds: float, end: int) -> None:
    device = Device(seconds)
    monkeypatch.setattr("simsuite.execution.time.monotonic", device.clock)
    watch = Stopwatch(device, 0, end, float)
    marched(monkeypatch, device, end, watch.stretch)
    device.now += 5.0  # writing the last frame is none of it
    watch.stop(device.step)
    assert watch.rate() == pytest.approx(1 / seconds, rel=0.02)
    assert watch.started > LOADING


def test_a_run_of_few_steps_has_a_rate_without_its_first(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(1e-2)
    monkeypatch.setattr("simsuite.execution.time.monotonic", device.clock)
    watch = Stopwatch(device, 0, 5, float)
    marched(monkeypatch, device, 5, watch.stretch)
    assert watch.rate() == pytest.approx(100, rel=0.02)


def test_one_step_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(1e-2)
    monkeypatch.setattr("simsuite.execution.time.monotonic", device.clock)
    watch = Stopwatch(device, 0, 1, float)
    marched(monkeypatch, device, 1, watch.stretch)
    assert watch.rate() is None
    assert watch.started == 0.0  # what it took is not all for a start
