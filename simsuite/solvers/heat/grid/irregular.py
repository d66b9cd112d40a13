"""Irregular places between 0 and 1. Data are looked at there, because regular places might meet periodic data always at
the same phase."""

from __future__ import annotations

GOLDEN = 0.6180339887498949  # (√5 - 1)/2, whose multiples, modulo 1, lie evenly but not periodically
