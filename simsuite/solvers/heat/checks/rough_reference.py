"""Manufactured solutions that jump, or have a kink in space: no source of finite power leads to them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import jumping, searched_changes
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.irregular import GOLDEN

_POINTS = 24  # the number of points, in the other two variables, at which changes are looked for
# Shares of the length of the plate, or of the run: how far beside a change the reference is looked at, and its slope.
_BESIDE, _FAR = 1e-9, 1e-5
_JUMP, _KINK = 1e-6, 1e-3  # shares of the range of the reference, and of that over the length, that are no rounding
_UNITS = {"x": "m", "y": "m", "t": "s"}


def rough_reference(scenario: HeatScenario) -> list[str]:
    """A sentence for each variable in which a manufactured reference jumps, or has a kink where the conductivity does
    not jump as well."""
    if not scenario.manufactured or scenario.reference is None:
        return []
    T = scenario.reference.temperature
    if not isinstance(T, Expression):
        return []
    with np.errstate(all="ignore"):
        return [sentence for name in ("x", "y", "t") for sentence in _found(T, scenario, name)]


def _found(T: Expression, scenario: HeatScenario, name: str) -> Iterator[str]:
    lengths = {"x": scenario.grid.lx, "y": scenario.grid.ly, "t": scenario.time.end or 0.0}
    length = lengths.pop(name)
    if length == 0.0 or not T.depends_on(name):
        return
    i = np.arange(_POINTS) + 1
    points = {other: size * ((k + 2) * i * GOLDEN % 1.0) for k, (other, size) in enumerate(lengths.items())}
    places, _ = searched_changes(T.tree, name, 0.0, length, points)
    places = places[(places > 2 * _FAR * length) & (places < (1 - 2 * _FAR) * length)]
    values = np.broadcast_to(T(**points, **{name: length * (i * GOLDEN % 1.0)[:, None]}), (_POINTS, _POINTS))
    range_ = float(np.ptp(values)) or abs(float(values.flat[0]))

    def at(shift: float) -> np.ndarray:
        return np.broadcast_to(T(**points, **{name: (places + shift * length)[:, None]}), (places.size, _POINTS))

    if not places.size or not np.isfinite(range_):
        return
    step = np.max(np.abs(at(_BESIDE) - at(-_BESIDE)), axis=1)
    bend = np.max(np.abs((at(_FAR) - at(_BESIDE)) - (at(-_BESIDE) - at(-_FAR))), axis=1) / _FAR
    jumping_at, bent_at = places[step > _JUMP * range_], places[bend > _KINK * range_]
    if jumping_at.size:
        yield _words(f"jumps at {name} = {jumping_at[0]:.6g} {_UNITS[name]}, which no source of finite power follows")
    elif bent_at.size and name != "t" and not _conduction_jumps(scenario, name):
        where = f"has a kink at {name} = {bent_at[0]:.6g} {_UNITS[name]}"
        yield _words(f"{where}, where a source on a line would be needed, which a plate of cells does not get")


def _words(what: str) -> str:
    """The sentence about a reference of which `what` is told."""
    off = "the run does not come to it, by about as much"
    return f"the manufactured reference {what}: {off}; write one that is smooth there"


def _conduction_jumps(scenario: HeatScenario, name: str) -> bool:
    """Whether a conductivity jumps along an axis, so that a kink of the temperature may leave the flux continuous."""
    material = scenario.material
    parts = [material.conductivity, material.diffusivity]
    found = [f for part in parts for f in (part if isinstance(part, (list, tuple)) else [part])]
    return any(isinstance(f, Expression) and any(jumping(f.tree, name)) for f in found)
