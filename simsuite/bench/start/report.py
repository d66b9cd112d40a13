"""Measurements of how long runs take to start, as lines of text."""

from __future__ import annotations

from simsuite.bench.table import Column, Table, key


def _seconds(name: str) -> Column:
    return Column(name.replace("_", " "), 11, lambda row: f"{row[name]:.2f}")


TABLE = Table(
    "whole runs, each in a process of its own; seconds. first step: from the start of the process to the first step",
    (
        Column("scenario", -18, key("scenario")),
        Column("cache", -6, key("cache")),
        _seconds("wall"),
        _seconds("cpu"),
        _seconds("first_step"),
        _seconds("interpreter"),
        _seconds("imports"),
        _seconds("compiling"),
        Column("functions", 9, lambda row: f"{row['compiled']:.0f}"),
        _seconds("tuning"),
        Column("MB", 6, lambda row: f"{row['memory'] / 1e6:.0f}"),
    ),
)
