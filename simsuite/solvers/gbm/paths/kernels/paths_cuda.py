"""Steps of paths on a GPU, in a readable form: one thread for each path, a whole stretch of steps in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32, uint32, uint64

from simsuite.rng import fill_normals32, fill_normals64, radius32, radius64, words
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.kernels.arguments import (
    Between,
    Dated,
    Increments,
    Paths,
    Policy,
    Random,
    Stretch,
    Terms,
)
from simsuite.solvers.gbm.paths.kernels.continuous import chances
from simsuite.solvers.gbm.paths.kernels.continuous_cuda import make_between
from simsuite.solvers.gbm.paths.kernels.step_terms_cuda import make_step_terms
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, LEANING, SAMPLED, Kind
from simsuite.solvers.gbm.random_numbers.numbering_kernels import point_of
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK
from simsuite.solvers.gbm.sobol.arguments import Points
from simsuite.solvers.gbm.sobol.sobol_cuda import make_bridge


def make_advance(
    n_assets: int,
    functionals: Sequence[tuple[int, int, int, int, int]],
    state: Any,
    normal: Any,
    step_terms: StepTerms,
    rights: Sequence[tuple[int, bool]] = (),
    stack: int = 0,
    summed: int = 1,
) -> Any:
    """The kernel for so many assets and functionals; see `paths/stepper.py` for its arguments.

    Loops over assets and functionals have constant bounds, are unrolled, and leave nothing but registers.
    """
    N, F = n_assets, max(len(functionals), 1)
    KEEPS = len(functionals) > 0
    KIND, ASSET, BIT, ROW, PARTNER = zip(*functionals) if functionals else ((0,), (0,), (-1,), (0,), (0,))
    SUM, LOGARITHMS, LEAST, LARGEST = map(int, (Kind.SUM, Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST))
    SURVIVAL, BETWEEN = int(Kind.SURVIVAL), tuple(kind in CONTINUOUS for kind in KIND)
    STREAM = tuple(chances(Kind(kind), asset) if kind in SAMPLED else 0 for kind, asset in zip(KIND, ASSET))
    WEIGHTED, NOISY, SQUARES, LATEST = map(int, (Kind.WEIGHTED, Kind.NOISY, Kind.SQUARES, Kind.LATEST))
    AT_LEAST, AT_LARGEST = map(int, (Kind.AT_LEAST, Kind.AT_LARGEST))
    EXERCISED, AT_EXERCISED = int(Kind.EXERCISED), int(Kind.AT_EXERCISED)
    NOTES = AT_EXERCISED in KIND
    RIGHT = tuple(KIND[:f].count(EXERCISED) for f in range(F))
    DEGREE, CALL = zip(*rights) if rights else ((0,), (False,))
    PER_BLOCK = NORMALS_PER_BLOCK[np.dtype(normal)]
    real = float32 if np.dtype(state) == np.float32 else float64
    single = np.dtype(normal) == np.float32
    fill = fill_normals32 if single else fill_normals64
    drawn = float32 if single else float64
    ln2 = real(math.log(2.0))
    keep_between, slope_after, weight_at_extreme = make_between(real)
    SLOPE, LEANS = int(Kind.SLOPE), tuple(kind in LEANING for kind in KIND)
    SLOPES = SLOPE in KIND
    DISCRETISED, JUMPING, PAYING = step_terms.scheme is not Scheme.EXACT, step_terms.jumping, step_terms.paying
    JUMPS, CASH = any(JUMPING), any(PAYING)
    discretised, jumped, after_cash = make_step_terms(step_terms, real, drawn)
    QUASI, STACK = stack > 0, max(stack, 1)
    SUMMED, HALF, ROOT_HALF = summed == 2, PER_BLOCK // 2, drawn(math.sqrt(0.5))
    start, follow = make_bridge(n_assets, normal)

    @cuda.jit
    def advance(paths, n, first_path, stretch, random, increments, dated, between, terms, policy, points):
        paths, stretch, random = Paths(*paths), Stretch(*stretch), Random(*random)
        increments, dated, between = Increments(*increments), Dated(*dated), Between(*between)
        terms, policy, points = Terms(*terms), Policy(*policy), Points(*points)
        begin, end, valid, watched = stretch.begin, stretch.end, stretch.valid, stretch.watched
        centre, growth, bridges, dividend_drops = dated.centre, dated.growth, between.bridges, between.dividend_drops
        i = cuda.grid(1)
        if i < n:
            y = cuda.local.array(N, real)
            s = cuda.local.array(F, real)
            z = cuda.local.array((N, PER_BLOCK), drawn)
            past = cuda.local.array(N, real)
            radii = cuda.local.array((F, PER_BLOCK), drawn)
            now = cuda.local.array(F, int32)  # the last step at whose end the option was exercised
            path = first_path + i
            sign, flip = drawn(1), uint32(0)
            if random.antithetic:
                if path & 1:
                    sign, flip = drawn(-1), uint32(0xFFFFFFFF)
                path >>= 1
            if QUASI:
                whole = cuda.local.array(N, drawn)
                waiting = cuda.local.array((STACK, N), drawn)
                r, point, _ = point_of(path, points.numbering[0], points.numbering[1], points.numbering[2])
                visit, depth = start(whole, waiting, begin, points, r, point)
            for a in range(N):
                y[a] = paths.x[a, i] if begin > 0 else real(0)
            for f in range(F):
                s[f] = real(0)
                if NOTES:
                    now[f] = -1
                if KIND[f] == LEAST:
                    s[f] = real(math.inf)
                if KIND[f] == LARGEST:
                    s[f] = real(-math.inf)
                if KIND[f] == SURVIVAL:
                    s[f] = real(1)
                if KIND[f] == EXERCISED:
                    s[f] = real(-1)
                if KEEPS and begin > 0:
                    s[f] = paths.kept[f, i]
            steady = increments.scale.shape[1] == 1  # factors that are read once, where all steps have the same
            factors = cuda.local.array(N, real)
            mix = cuda.local.array((N, N), drawn)
            for a in range(N):
                factors[a] = sign * increments.scale[a, 0]
                for b in range(N):
                    mix[a, b] = increments.mix[a, b]
            for block in range(begin, end):
                if QUASI:
                    visit, depth = follow(z, block, visit, depth, whole, waiting, points, r, point)
                else:
                    for a in range(N):
                        if SUMMED:
                            halves = cuda.local.array((1, PER_BLOCK), drawn)
                            for h in range(2):
                                fill(halves, 0, 2 * block + h, a, path, uint64(random.seed))
                                for j in range(HALF):
                                    z[a, h * HALF + j] = ROOT_HALF * (halves[0, 2 * j] + halves[0, 2 * j + 1])
                        else:
                            fill(z, a, block, a, path, uint64(random.seed))
                for f in range(F):
                    if STREAM[f] > 0:
                        w0, w1, w2, w3 = words(block, STREAM[f], path, uint64(random.seed))
                        if single:
                            radii[f, 0], radii[f, 1] = radius32(w0 ^ flip), radius32(w1 ^ flip)
                            radii[f, 2], radii[f, 3] = radius32(w2 ^ flip), radius32(w3 ^ flip)
                        else:
                            radii[f, 0], radii[f, 1] = radius64(w0 ^ flip, w1 ^ flip), radius64(w2 ^ flip, w3 ^ flip)
                which = stretch.first_seen
                for j in range(PER_BLOCK):  # the bound is a constant, so that z stays in registers
                    if block < end - 1 or j < valid:
                        k = block * PER_BLOCK + j
                        for a in range(N):
                            past[a] = y[a]
                            dw = mix[a, 0] * z[0, j]
                            for b in range(1, N if QUASI else a + 1):
                                dw += mix[a, b] * z[b, j]
                            d = real((factors[a] if steady else sign * increments.scale[a, k]) * dw)
                            y[a] += discretised(d, terms.drift, a, k) if DISCRETISED else d
                            if JUMPS and JUMPING[a]:
                                y[a] += jumped(k, a, path, uint64(random.seed), sign, terms.jumps, terms.thresholds)
                            if CASH and PAYING[a] and terms.cash[a, k] > real(0):
                                y[a] = after_cash(y[a], terms.cash[a, k], terms.cash[N + a, k])
                        if SLOPES:  # slopes are updated before the survivals that they belong to
                            for f in range(F):
                                if KIND[f] == SLOPE:
                                    a, h = ASSET[f], PARTNER[f]
                                    x1 = y[a] + centre[a, k]
                                    s[f] = slope_after(
                                        s[f],
                                        s[h],
                                        past[a] + (centre[a, k - 1] if k > 0 else real(0)),
                                        x1 + dividend_drops[a, k if dividend_drops.shape[1] > 1 else 0],
                                        x1,
                                        bridges[1, a, k if bridges.shape[2] > 1 else 0],
                                        between.levels[h],
                                        growth[N + ROW[f], k - 1] if k > 0 else between.levels[f],
                                        growth[N + ROW[f], k],
                                    )
                        for f in range(F):
                            if BETWEEN[f] and KIND[f] != SLOPE:
                                a, c = ASSET[f], k if bridges.shape[2] > 1 else 0
                                x0 = past[a] + (centre[a, k - 1] if k > 0 else real(0))
                                x1 = y[a] + centre[a, k]
                                before = x1 + dividend_drops[a, k if dividend_drops.shape[1] > 1 else 0]
                                variance, sharpness = bridges[0, a, c], bridges[1, a, c]
                                if LEANS[f]:
                                    h = PARTNER[f]
                                    w0 = growth[N + ROW[f], k - 1] if k > 0 else real(0)
                                    w1 = growth[N + ROW[f], k]
                                    s[f] = weight_at_extreme(
                                        KIND[f], s[f], s[h], x0, before, x1, variance, radii[h, j], w0, w1
                                    )
                                else:
                                    s[f] = keep_between(
                                        KIND[f],
                                        s[f],
                                        x0,
                                        before,
                                        x1,
                                        variance,
                                        sharpness,
                                        between.levels[f],
                                        radii[f, j],
                                    )
                        if KEEPS:
                            for f in range(F):
                                if BIT[f] < 0 or dated.due[k] >> BIT[f] & 1:
                                    v = y[ASSET[f]]
                                    if KIND[f] == SUM:
                                        s[f] += math.exp(ln2 * v) * growth[ASSET[f], k]
                                    if KIND[f] == LOGARITHMS:
                                        s[f] += v
                                    if KIND[f] == LEAST:
                                        s[f] = min(s[f], v + centre[ASSET[f], k])
                                    if KIND[f] == LARGEST:
                                        s[f] = max(s[f], v + centre[ASSET[f], k])
                                    if KIND[f] == WEIGHTED:
                                        price = math.exp(ln2 * v) * growth[ASSET[f], k]
                                        s[f] += growth[N + ROW[f], k] * price
                                    if KIND[f] == NOISY:
                                        s[f] += v * (math.exp(ln2 * v) * growth[ASSET[f], k])
                                    if KIND[f] in (AT_LEAST, AT_LARGEST) and s[PARTNER[f]] == v + centre[ASSET[f], k]:
                                        s[f] = growth[N + ROW[f], k]
                                    if KIND[f] == SQUARES:
                                        v -= s[PARTNER[f]]
                                        s[f] += growth[N + ROW[f], k] * (v * v)
                                    if KIND[f] == LATEST:
                                        s[f] = v
                                    if KIND[f] == EXERCISED:
                                        rule, degree = policy.rules[policy.row[RIGHT[f], k]], DEGREE[RIGHT[f]]
                                        price = math.exp(ln2 * v)
                                        value = rule[0] * price + rule[1]
                                        if s[f] < real(0) and value > real(0):
                                            if CALL[RIGHT[f]]:
                                                price = real(1) / price
                                            u = min(max(rule[2] * price + rule[3], real(-1)), real(1))
                                            waits, later = rule[TERMS + degree], real(0)
                                            for c in range(degree - 1, 0, -1):
                                                following = waits
                                                waits = rule[TERMS + c] + real(2) * u * waits - later
                                                later = following
                                            if rule[TERMS] + u * waits - later <= real(0):
                                                s[f] = value
                                                if NOTES:
                                                    now[f] = k
                                    if NOTES and KIND[f] == AT_EXERCISED and now[PARTNER[f]] == k:
                                        s[f] = growth[N + ROW[f], k]
                        if block == end - 1 and watched >> j & 1:
                            for a in range(N):
                                paths.seen[which, a, i] = y[a]
                            which += 1
            for a in range(N):
                paths.x[a, i] = y[a]
            if KEEPS:
                for f in range(F):
                    paths.kept[f, i] = s[f]

    return advance
