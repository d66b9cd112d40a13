"""Estimates over many seeds, in units of their standard errors.

If an estimate X has no bias and its standard error s is right, z = (X - exact) / s is standard normal: E |z| is
sqrt(2 / pi) = 0.798, with a deviation of 0.603 for a single one. So the mean over a hundred seeds lies in 0.55 .. 1.05
but for one estimator in 30 000, unless standard errors are wrong by a third, or hide a bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simsuite.verify.checks import Check

SEEDS = "over seeds"
MEAN, WITHIN = math.sqrt(2 / math.pi), 2.5  # The mean of |z|, and how far it may be off, times sqrt(seeds).
LARGEST = 4.5  # |z| may be at most this: among ten thousand numbers it is exceeded once in 15 times.
BIAS = 4.0  # sum z / sqrt(n) may be at most this.


def judged(name: str, scores: Sequence[float]) -> Check:
    """A check that passes if the scores look like standard normal numbers."""
    mean = math.fsum(map(abs, scores)) / len(scores)
    bias = math.fsum(scores) / math.sqrt(len(scores))
    largest = max(map(abs, scores))
    within = WITHIN / math.sqrt(len(scores))
    passed = abs(mean - MEAN) <= within and abs(bias) <= BIAS and largest <= LARGEST
    words = f"mean |z| {MEAN:.3f} +- {within:.2f} (largest {largest:.2f}, bias {bias:+.2f})"
    return Check(name, SEEDS, mean, words, passed, {"seeds": len(scores), "largest": largest, "bias": bias})
