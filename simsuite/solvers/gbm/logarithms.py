"""Logarithms of prices along a path are to base 2, since that is how floating-point numbers are raised to powers."""

from __future__ import annotations

import math

LN2 = math.log(2.0)
ZERO = -1e30  # finite number that stands for the logarithm of a price of 0: any other logarithm vanishes beside it
