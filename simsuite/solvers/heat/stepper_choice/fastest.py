"""Which of several plans takes the least time.

Rates of the device are asked for only where the answer can depend on them. A run that takes a moment on two CPU cores
gets the same plan on all devices. Else only plans that some device could prefer are compared: those which take less
than FAR times the time of the best on two CPU cores, or on an H200. If one is left, that is it. Measuring takes a while
and is worth it for long runs only; for others the rates count that are usual on such a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from simsuite.solvers.heat.stepper_choice.rates import H200, TWO_CORES, Rates
from simsuite.solvers.heat.stepper_record import Work

MOMENT, LONG = 1.0, 60.0  # s
FAR = 10.0

RatesOf = Callable[[Iterable[str], bool], Rates]
"""The rates of the device for some kinds of work; whether they are worth measuring."""


def usual(kinds: Iterable[str], worth: bool) -> Rates:
    """The usual rates on two CPU cores, where no device is known."""
    return TWO_CORES


def cheapest(works: Mapping[str, Sequence[Work]], sizes: Mapping[str, str], rates_of: RatesOf) -> tuple[str, str]:
    """The name of the plan that takes the least time, and the reason: how much longer other plans take. How long the
    plan itself takes is not said, as it is foretold elsewhere.

    works: the work of each plan, by name. sizes: the work in words."""
    rates, near = TWO_CORES, list(works)
    if not is_short(works):
        near = contenders(works)
        if len(near) > 1:
            kinds = dict.fromkeys(work.kind for name in near for work in works[name])
            rates = rates_of(kinds, is_long(works))
    seconds = {name: rates.seconds(works[name]) for name in near}
    best = min(near, key=seconds.__getitem__)
    longer = {name: f"{seconds[name] / seconds[best]:.2g} times as long" for name in near}
    others = [f"{name} {sizes[name]}, {longer.get(name, 'far longer')}" for name in works if name != best]
    if not others:
        return best, "it meets the tolerance, which no other stepper is sure to do"
    return best, f"it takes the least time at {rates.origin} (else {'; '.join(others)})"


def is_short(works: Mapping[str, Sequence[Work]]) -> bool:
    """Whether some plan takes only a moment."""
    return _least(works) < MOMENT


def is_long(works: Mapping[str, Sequence[Work]]) -> bool:
    """Whether all plans take so long that measuring is worth it."""
    return _least(works) >= LONG


def _least(works: Mapping[str, Sequence[Work]]) -> float:
    """The time in seconds of the fastest plan on two CPU cores."""
    return min(map(TWO_CORES.seconds, works.values()))


def contenders(works: Mapping[str, Sequence[Work]]) -> list[str]:
    """The plans that some device could prefer."""
    near = set()
    for rates in (TWO_CORES, H200):
        seconds = {name: rates.seconds(work) for name, work in works.items()}
        near |= {name for name, s in seconds.items() if s < FAR * min(seconds.values())}
    return [name for name in works if name in near]
