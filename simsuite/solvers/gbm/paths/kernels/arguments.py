"""The arguments of the kernel `advance`, named in one place for all who pass or read them; see `paths/stepper.py` for
what it does.

A launch passes each of these as a plain tuple, of which the kernel makes the named tuple again; that takes no time on
either side. "real" is the type of the noise, "drawn" that of normals. Tables over steps have one column where all steps
are alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Paths(NamedTuple):
    """The paths that are advanced. x: the noise, in powers of 2, real (assets, paths). kept: what functionals have kept
    of each path, real (functionals, paths). seen: the noise after watched steps, real (watched, assets, paths)."""

    x: Any
    kept: Any
    seen: Any


class Stretch(NamedTuple):
    """The steps that are made: those of blocks begin .. end - 1, but only the first `valid` steps of the last block.
    watched: a bit for each step of the last block, set if the noise after it is kept; it goes to rows first_seen,
    first_seen + 1, .. of `seen`."""

    begin: Any
    end: Any
    valid: Any
    watched: Any
    first_seen: Any


class Random(NamedTuple):
    """The random numbers. seed: uint64. antithetic: whether paths 2 i and 2 i + 1 use the normals of number i, the
    latter with the opposite sign."""

    seed: Any
    antithetic: Any


class Increments(NamedTuple):
    """The normal increments. mix: the matrix that independent normals are multiplied by, drawn (assets, assets). scale:
    a factor of the increments of each step, in powers of 2, real (assets, steps or 1)."""

    mix: Any
    scale: Any


class Dated(NamedTuple):
    """The tables that functionals read on their dates. due: a bit for each schedule, int32 (steps,). centre: the
    logarithm to base 2 of S / S(0) without noise, real (assets, steps). growth: 2^centre, and below it a row for each
    weight, real."""

    due: Any
    centre: Any
    growth: Any


class Between(NamedTuple):
    """The tables for functionals of all times, see `continuous`. bridges: variance of a step's bridge, and sharpness,
    real (2, assets, steps or 1). dividend_drops: real (assets, steps or 1). levels: a number given to each functional,
    such as the logarithm of a barrier, (functionals,)."""

    bridges: Any
    dividend_drops: Any
    levels: Any


class Terms(NamedTuple):
    """The tables of schemes, jumps and dividends in cash, see `step_terms`. drift: real (2 assets, steps or 1). jumps:
    real (assets, 4). thresholds: for the number of jumps in a step. cash: real (2 assets, steps)."""

    drift: Any
    jumps: Any
    thresholds: Any
    cash: Any


class Policy(NamedTuple):
    """The tables of American options. row: the row of the rule at the end of each step, int32 (options, steps). rules:
    real (rules, coefficients), see `exercise_policy`."""

    row: Any
    rules: Any
