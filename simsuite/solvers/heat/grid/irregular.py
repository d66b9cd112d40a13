"""Irregular places between 0 and 1, at which data are looked at lest they are met at one phase again and again."""

from __future__ import annotations

GOLDEN = 0.6180339887498949  # (√5 - 1)/2, whose multiples, modulo 1, lie evenly and in no rhythm
