"""Steps of paths on a GPU, in a readable form: one thread for each path, a whole stretch of steps in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32, uint32, uint64

from simsuite.rng import fill_normals64, radius32, radius64, words
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
from simsuite.solvers.gbm.paths.kernels.step_cuda import make_step
from simsuite.solvers.gbm.payoffs.functionals import SAMPLED, Kind
from simsuite.solvers.gbm.random_numbers.normals_cuda import fill_normals32
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
    KIND, ASSET, *_ = zip(*functionals) if functionals else ((0,), (0,))
    LEAST, LARGEST, SURVIVAL = map(int, (Kind.LEAST, Kind.LARGEST, Kind.SURVIVAL))
    STREAM = tuple(chances(Kind(kind), asset) if kind in SAMPLED else 0 for kind, asset in zip(KIND, ASSET))
    EXERCISED, NOTES = int(Kind.EXERCISED), Kind.AT_EXERCISED in KIND
    PER_BLOCK = NORMALS_PER_BLOCK[np.dtype(normal)]
    real = float32 if np.dtype(state) == np.float32 else float64
    single = np.dtype(normal) == np.float32
    fill = fill_normals32 if single else fill_normals64
    drawn = float32 if single else float64
    QUASI, STACK = stack > 0, max(stack, 1)
    SUMMED, HALF, ROOT_HALF = summed == 2, PER_BLOCK // 2, drawn(math.sqrt(0.5))
    step = make_step(n_assets, functionals, real, drawn, step_terms, rights, "whole" if QUASI else "below")
    start, follow = make_bridge(n_assets, normal)

    @cuda.jit(fastmath=single)
    def advance(paths, n, first_path, stretch, random, increments, dated, between, terms, policy, points):
        paths, stretch, random = Paths(*paths), Stretch(*stretch), Random(*random)
        increments, dated, between = Increments(*increments), Dated(*dated), Between(*between)
        terms, policy, points = Terms(*terms), Policy(*policy), Points(*points)
        begin, end, seed = stretch.begin, stretch.end, uint64(random.seed)
        i = cuda.grid(1)
        if i < n:
            y = cuda.local.array(N, real)
            s = cuda.local.array(F, real)
            z = cuda.local.array((N, PER_BLOCK), drawn)
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
            final = increments.scale.shape[1] - 1
            steady = final == 0  # factors are read once where all steps have the same
            factors = cuda.local.array((N, PER_BLOCK), real)
            mix = cuda.local.array((N, N), drawn)
            for a in range(N):
                for j in range(PER_BLOCK):
                    factors[a, j] = sign * increments.scale[a, 0]
                for b in range(N):
                    mix[a, b] = increments.mix[a, b]
            state, noise = (y, s, now), (z, radii, factors, mix)
            for block in range(begin, end):
                first = block * PER_BLOCK
                if QUASI:
                    visit, depth = follow(z, block, visit, depth, whole, waiting, points, r, point)
                else:
                    for a in range(N):
                        if SUMMED:
                            halves = cuda.local.array((1, PER_BLOCK), drawn)
                            for h in range(2):
                                fill(halves, 0, 2 * block + h, a, path, seed)
                                for j in range(HALF):
                                    z[a, h * HALF + j] = ROOT_HALF * (halves[0, 2 * j] + halves[0, 2 * j + 1])
                        else:
                            fill(z, a, block, a, path, seed)
                for f in range(F):
                    if STREAM[f] > 0:
                        w0, w1, w2, w3 = words(block, STREAM[f], path, seed)
                        if single:
                            radii[f, 0], radii[f, 1] = radius32(w0 ^ flip), radius32(w1 ^ flip)
                            radii[f, 2], radii[f, 3] = radius32(w2 ^ flip), radius32(w3 ^ flip)
                        else:
                            radii[f, 0], radii[f, 1] = radius64(w0 ^ flip, w1 ^ flip), radius64(w2 ^ flip, w3 ^ flip)
                if not steady:
                    for j in range(PER_BLOCK):
                        for a in range(N):
                            factors[a, j] = sign * increments.scale[a, min(first + j, final)]
                if block < end - 1:  # the last block alone may have fewer steps, or steps after which noise is kept
                    step(0, first, state, noise, path, sign, seed, dated, between, terms, policy)
                    step(1, first + 1, state, noise, path, sign, seed, dated, between, terms, policy)
                    if PER_BLOCK == 4:
                        step(2, first + 2, state, noise, path, sign, seed, dated, between, terms, policy)
                        step(3, first + 3, state, noise, path, sign, seed, dated, between, terms, policy)
                else:
                    which = stretch.first_seen
                    for j in range(PER_BLOCK):
                        if j < stretch.valid:
                            step(j, first + j, state, noise, path, sign, seed, dated, between, terms, policy)
                            if stretch.watched >> j & 1:
                                for a in range(N):
                                    paths.seen[which, a, i] = y[a]
                                which += 1
            for a in range(N):
                paths.x[a, i] = y[a]
            if KEEPS:
                for f in range(F):
                    paths.kept[f, i] = s[f]

    return advance
