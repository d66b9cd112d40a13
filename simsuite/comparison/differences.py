"""How far two arrays are apart, also where they lie on other grids or at other times.

Times are compared where both have them, named rows (probes, assets, options) where both have the name, and places by
linear interpolation of the second array at those of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from simsuite.comparison.arrays import Array, Axis, Source
from simsuite.errors import UsageError

_SAME = 1e-9  # times that differ by less than this share of the last one are the same
_ERROR = "_standard_error"
_SERIES = ("time", "sample")


@dataclass(frozen=True)
class Difference:
    """The difference of two arrays.

    largest: of |a - b|, at the place `at`. size: the largest |a|. relative_l2: ‖a - b‖₂ / ‖a‖₂. sigmas: the largest
    |a - b| in standard errors of both; None where there are none. how: what was done to bring them together, in words.
    """

    name: str
    unit: str
    largest: float
    at: str
    size: float
    relative_l2: float
    sigmas: float | None
    how: str

    @property
    def same(self) -> bool:
        """Whether all numbers are equal."""
        return self.largest == 0.0

    def within(self, rtol: float, atol: float, sigmas: float | None) -> bool:
        """Whether the largest difference is allowed: at most atol + rtol · size, or so many standard errors."""
        if sigmas is not None and self.sigmas is not None:
            return self.sigmas <= sigmas
        if sigmas is not None and rtol == atol == 0 and _is_random(self.name):
            return True
        return self.largest <= atol + rtol * self.size


def _is_random(name: str) -> bool:
    """Whether a variable of a Monte Carlo run has no standard error to judge it by: errors, quantiles, histograms,
    paths."""
    return name.endswith((_ERROR, "_histogram")) or name.startswith(("price_quantile", "loss_bin")) or name == "path"


def differing_keys(a: Source, b: Source) -> dict[str, tuple[object, object]]:
    """The keys of two scenarios that have other values, or that one does not have (None)."""
    names = dict.fromkeys([*a.keys, *b.keys])
    return {n: (a.keys.get(n), b.keys.get(n)) for n in names if a.keys.get(n) != b.keys.get(n)}


def differences(a: Source, b: Source, variable: str | None) -> tuple[list[Difference], list[str]]:
    """The differences of all variables that both have, or of one; and the names that only one has. Raises UsageError
    where there is nothing to compare."""
    names = [variable.rpartition(":")[2]] if variable else [name for name in a.arrays if name in b.arrays]
    for name in names:
        for source in (a, b):
            if name not in source.arrays:
                known = ", ".join(list(source.arrays)[:12])
                raise UsageError(f"{source.label} has no variable `{name}`; it has {known}")
    alone = [name for name in dict.fromkeys([*a.arrays, *b.arrays]) if (name in a.arrays) != (name in b.arrays)]
    found = []
    for name in names:
        try:
            found.append(_difference(a.arrays[name], b.arrays[name], a.arrays, b.arrays))
        except UsageError as error:  # probes of other names, say, while fields can be compared
            if variable or len(names) == 1:
                raise
            alone.append(f"{name} ({error})")
    if not found:
        raise UsageError(f"{a.label} and {b.label} have no variable in common")
    return found, [] if variable else alone


def _difference(a: Array, b: Array, of_a: Mapping[str, Array], of_b: Mapping[str, Array]) -> Difference:
    x, y, axes, how = aligned(a, b)
    both = np.isfinite(x) & np.isfinite(y)
    with np.errstate(invalid="ignore"):
        distance = np.abs(x - y)
    apart = np.where(both, distance, np.where(np.isnan(x) & np.isnan(y), 0.0, np.inf))
    apart = np.where(~both & (x == y), 0.0, apart)
    i = int(np.argmax(apart)) if apart.size else 0
    largest = float(apart.flat[i]) if apart.size else 0.0
    size = float(np.max(np.abs(x), where=np.isfinite(x), initial=0.0))
    norm = float(np.linalg.norm(np.where(both, x, 0.0)))
    l2 = float(np.linalg.norm(apart)) / norm if norm > 0 else (0.0 if largest == 0 else np.inf)
    sigmas = None
    error = {"option_price": "option"}.get(a.name, a.name) + _ERROR
    if error in of_a and error in of_b:
        e, f, _, _ = aligned(of_a[error], of_b[error])
        both_errors = np.hypot(e, f)
        with np.errstate(all="ignore"):
            z = np.where(apart == 0, 0.0, apart / both_errors)
        sigmas = float(np.nanmax(z)) if z.size and np.isfinite(z).any() else None
    at = "" if largest == 0 or not apart.size else _place(axes, np.unravel_index(i, apart.shape))
    return Difference(a.name, a.unit or b.unit, largest, at, size, l2, sigmas, how)


def aligned(a: Array, b: Array) -> tuple[np.ndarray, np.ndarray, tuple[Axis, ...], str]:
    """The values of two arrays at the same places, with the axes of these, and what was done for it, in words. Raises
    UsageError where that cannot be."""
    x, y, axes, others = a.values(), b.values(), list(a.axes), list(b.axes)
    if x.ndim == y.ndim - 1 and others[0].name in _SERIES and x.shape == y.shape[1:]:
        if not len(y):
            raise UsageError(f"`{b.name}` of the second has no frame yet")
        y, others = y[-1], others[1:]  # the array of another program is compared with the last frame
        axes = others
    elif y.ndim == x.ndim - 1 and axes[0].name in _SERIES and y.shape == x.shape[1:]:
        if not len(x):
            raise UsageError(f"`{a.name}` of the first has no frame yet")
        x, axes = x[-1], axes[1:]
        others = axes
    if x.ndim != y.ndim:
        raise UsageError(f"`{a.name}` has the shape {x.shape} in one and {y.shape} in the other")
    said = []
    places: list[tuple[int, np.ndarray, np.ndarray]] = []
    for i in range(x.ndim):
        p, q = axes[i].points, others[i].points
        if p is None or q is None:
            if x.shape[i] != y.shape[i]:
                raise UsageError(f"`{a.name}` has the shape {x.shape} in one and {y.shape} in the other")
        elif p.shape == q.shape and np.array_equal(p, q):
            continue
        elif (p.dtype.kind in "US") != (q.dtype.kind in "US"):
            raise UsageError(f"{axes[i].name} is named in one of the two and numbered in the other")
        elif p.dtype.kind in "US" or q.dtype.kind in "US" or axes[i].name in _SERIES:
            first, second = _common(p, q)
            if not first.size:
                raise UsageError(f"the two have no {axes[i].name} of `{a.name}` in common")
            x, y = np.take(x, first, i), np.take(y, second, i)
            axes[i] = Axis(axes[i].name, p[first])
            said.append(f"at {first.size} common {'times' if axes[i].name in _SERIES else axes[i].name + 's'}")
        else:
            places.append((i, p, q))
    if places:
        for i, p, q in places:
            _require_covered(axes[i].name, p, q)
        y = _interpolated(y, places)
        said.append("interpolated")
    return x, y, tuple(axes), ", ".join(said)


def _require_covered(name: str, p: np.ndarray, q: np.ndarray) -> None:
    """Raises UsageError where points p lie beyond the points q, and beyond half the distance between these."""
    if not p.size or not q.size or len(set(q.tolist())) < q.size:
        raise UsageError(f"{name} has no points that one could interpolate between")
    half = 0.5 * (q.max() - q.min()) / (q.size - 1) if q.size > 1 else np.inf
    own = 0.5 * (p.max() - p.min()) / (p.size - 1) if p.size > 1 else 0.0
    beyond = max(q.min() - p.min(), p.max() - q.max())
    if beyond > max(half, own) * (1 + 1e-9):
        raise UsageError(
            f"{name} goes from {p.min():.6g} to {p.max():.6g} in one and {q.min():.6g} to {q.max():.6g} in the other"
        )


def _common(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of points that both have, in the order of the first."""
    if p.dtype.kind in "US":
        where = {name: i for i, name in enumerate(q.tolist())}
        pairs = [(i, where[name]) for i, name in enumerate(p.tolist()) if name in where]
    else:
        near = np.clip(np.searchsorted(q, p), 1, max(q.size - 1, 1))
        margin = _SAME * max(float(np.max(np.abs(p), initial=0.0)), float(np.max(np.abs(q), initial=0.0)))
        pairs = []
        for i, t in enumerate(p.tolist()):
            for j in (int(near[i]) - 1, int(near[i])):
                if 0 <= j < q.size and abs(float(q[j]) - t) <= margin:
                    pairs.append((i, j))
                    break
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _interpolated(y: np.ndarray, places: list[tuple[int, np.ndarray, np.ndarray]]) -> np.ndarray:
    """The second array at the places of the first along some dimensions, linearly; in a strip as wide as half a cell at
    the edges the line is continued."""
    for i, p, q in places:
        if q.size == 1:
            y = np.repeat(y, p.size, i)
            continue
        moved = np.moveaxis(y, i, 0)
        at = RegularGridInterpolator((q,), moved, bounds_error=False, fill_value=None)(p[:, None])
        y = np.moveaxis(at, 0, i)
    return y


def _place(axes: tuple[Axis, ...], index: tuple[np.intp, ...]) -> str:
    parts = []
    for axis, i in zip(axes, index):
        point = None if axis.points is None else axis.points[int(i)]
        name = {"sample": "time"}.get(axis.name, axis.name) or "index"
        parts.append(
            f"{name} {int(i)}" if point is None else f"{name} {point if isinstance(point, str) else f'{point:.6g}'}"
        )
    return ", ".join(parts)
