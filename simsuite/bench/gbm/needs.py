"""What a step of a path takes at least, and how many path-steps a second a device could make if it did nothing else.

The scheme is that of `paths/stepper.py`: Philox4x32-10, Box-Muller, and a power of 2 wherever a price is needed;
increments of several assets are mixed by a triangular matrix. What depends on the path alone or on the step alone is
not counted, since it can be done once: two of the ten rounds of Philox. Of the units that work side by side the slowest
one counts:

- Philox: the measured rate of its rounds (two wide products, two exclusive ors of three numbers).
- Special functions: the measured rate of pairs of float32 normals (logarithm, root, sine, cosine, conversion) and of
  powers of 2.
- Instructions: one for each lane and cycle, which is the measured rate of float32 multiply-adds.
- float64: the measured rate of its multiply-adds. Its functions are polynomials: 52 instructions for a pair of normals
  as in `normals.cuh`, 15 for a power of 2.
- Memory, where prices are stored: bytes written at the measured rate of a copy.

So no program for this scheme can be faster, and one that keeps several units busy at once does not come close."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.bench.gbm.cases import Case
from simsuite.bench.gbm.units import Units
from simsuite.bench.machine import Machine
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK, PRECISIONS

ROUNDS = 8  # rounds of Philox for a block of normals
# Instructions for a pair of float32 normals: conversion and bits of the angle, 2 fused multiply-adds, 2 factors, 4
# special functions. For a pair of float64 normals: the same, and 2 beginnings of Newton's method.
SINGLE_PAIR, DOUBLE_PAIR = 10, 52
DOUBLE_POWER = 15


@dataclass(frozen=True)
class Needs:
    """The work of one step of one path, for all its assets. instructions: those of all kinds. nbytes: bytes to be
    written."""

    rounds: float
    pairs: float
    powers: float
    instructions: float
    doubles: float
    nbytes: int

    def limits(self, machine: Machine, units: Units | None) -> dict[str, float]:
        """Path-steps per second that each unit allows; without limits of arithmetic if the rates of the units are not
        known."""
        found = {}
        if units is not None:
            special = self.pairs / units.normal_pairs + self.powers / units.powers
            took = {
                "philox": self.rounds / units.philox_rounds,
                "special functions": special,
                "instructions": self.instructions / machine.fma["float32"],
                "float64": self.doubles / machine.fma["float64"],
            }
            found = {name: 1 / second for name, second in took.items() if second > 0}
        if self.nbytes:
            found["memory"] = max(machine.copy, machine.write) / self.nbytes
        return found


def needs_of(case: Case, precision: str) -> Needs:
    state, normal = PRECISIONS[precision]
    single, assets = normal == np.float32, case.assets
    block = NORMALS_PER_BLOCK[normal]
    rounds, pairs = assets * ROUNDS / block, assets / 2
    # A pair; radius times direction and the mixing, which adds it up, or one addition that takes the radius as factor.
    mixing = assets + assets * (assets + 1) / 2 if assets > 1 else 1
    sums, powers = mixing, 0.0
    if case.functional == "sum":
        sums, powers = sums + 1, 1.0
    elif case.functional == "least":
        sums += 2
    apart = assets / block if single and state != normal else 0.0  # float64 sums of float32 blocks
    if case.stored:
        apart *= block
    instructions = 4 * rounds + 2 * assets / block + sums + apart + (assets if case.stored else 0)
    nbytes = assets * state.itemsize if case.stored else 0
    if single:
        return Needs(rounds, pairs, powers, instructions + SINGLE_PAIR * pairs + powers, apart, nbytes)
    doubles = DOUBLE_PAIR * pairs + sums + DOUBLE_POWER * powers
    return Needs(rounds, 0.0, 0.0, instructions - sums + 2 * pairs + doubles, doubles, nbytes)
