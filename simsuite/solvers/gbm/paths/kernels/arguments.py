"""What `advance` takes, named in one place for all who pass it or read it; see `paths/stepper.py` for what it does.

A launch passes each of these as a plain tuple, of which a kernel makes the named one again; that costs neither of them
anything. "real" is the type of the noise, "drawn" that of normals. Tables over steps have one column where all steps
are alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Paths(NamedTuple):
    """What is advanced. x: the noise, in powers of 2, real (assets, paths). kept: what functionals have taken, real
    (functionals, paths). seen: the noise after watched steps, real (watched, assets, paths)."""

    x: Any
    kept: Any
    seen: Any


class Stretch(NamedTuple):
    """Blocks begin .. end - 1, of the last one the first `valid` steps. watched: a bit for each step of the last block
    after which the noise is looked at; it goes to rows first_seen, first_seen + 1, .. of `seen`."""

    begin: Any
    end: Any
    valid: Any
    watched: Any
    first_seen: Any


class Random(NamedTuple):
    """seed: uint64. antithetic: whether paths 2 i and 2 i + 1 use the normals of number i, the latter with the opposite
    sign."""

    seed: Any
    antithetic: Any


class Increments(NamedTuple):
    """mix: what independent normals are multiplied by, drawn (assets, assets). scale: and then the increments of each
    step, in powers of 2, real (assets, steps or 1)."""

    mix: Any
    scale: Any


class Dated(NamedTuple):
    """What functionals take on their dates. due: a bit for each schedule, int32 (steps,). centre: the logarithm to base
    2 of S / S(0) without noise, real (assets, steps). growth: 2^centre, and below it a row for each weight, real."""

    due: Any
    centre: Any
    growth: Any


class Between(NamedTuple):
    """For functionals of all times, see `continuous`. bridges: variance of a step's bridge, and sharpness, real (2,
    assets, steps or 1). dividend_drops: real (assets, steps or 1). levels: what functionals are given, (functionals,),
    such as the logarithm of a barrier."""

    bridges: Any
    dividend_drops: Any
    levels: Any


class Terms(NamedTuple):
    """Of schemes, jumps and dividends in cash, see `step_terms`. drift: real (2 assets, steps or 1). jumps: real
    (assets, 4). thresholds: of the number of jumps in a step. cash: real (2 assets, steps)."""

    drift: Any
    jumps: Any
    thresholds: Any
    cash: Any


class Policy(NamedTuple):
    """Of American options. row: of the rule at the end of each step, int32 (options, steps). rules: real (rules,
    coefficients), see `exercise_policy`."""

    row: Any
    rules: Any
