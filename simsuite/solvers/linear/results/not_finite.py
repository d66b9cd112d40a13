"""Where a frame of a linear system holds NaN or Inf."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def first_not_finite(arrays: Mapping[str, np.ndarray], is_complex: bool) -> str | None:
    """The place of the first entry that is NaN or Inf, in words; None if all are finite. arrays: what a frame has, by
    what is put behind the number of a component. is_complex: whether the lower half of their rows holds imaginary
    parts."""
    for what, X in arrays.items():
        good = np.isfinite(X)
        if not good.all():
            component, sample = np.unravel_index(int(np.argmin(good)), good.shape)
            if is_complex:
                component %= len(good) // 2
            return f"component {component}{what}, sample {sample}"
    return None
