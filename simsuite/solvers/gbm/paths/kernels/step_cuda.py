"""One step of a path on a GPU: what the prices do, and what options keep of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import config, cuda, float32, uint64

from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.kernels.continuous_cuda import make_between
from simsuite.solvers.gbm.paths.kernels.step_terms_cuda import make_step_terms
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, LEANING, Kind
from simsuite.solvers.gbm.random_numbers.normals_cuda import power32, power64


def _inlined(**options: Any) -> Any:
    """A decorator for functions that are compiled into the kernel that calls them, so that their arrays stay in
    registers. The CUDA simulator, which compiles nothing, does not know the option."""
    return cuda.jit(device=True, **options, **({} if config.ENABLE_CUDASIM else {"forceinline": True}))


def make_step(
    n_assets: int,
    functionals: Sequence[tuple[int, int, int, int, int]],
    real: Any,
    drawn: Any,
    step_terms: StepTerms,
    rights: Sequence[tuple[int, bool]],
    correlated: str,
) -> Any:
    """The function `step` for so many assets and functionals. real: type of what is added up along a path; drawn: type
    of normals. correlated: "below" where the matrix that normals are multiplied by has nothing above its diagonal,
    "whole" where it may.

    Loops over assets and functionals have constant bounds, are unrolled, and leave nothing but registers.
    """
    N, F, KEEPS = n_assets, max(len(functionals), 1), len(functionals) > 0
    KIND, ASSET, BIT, ROW, PARTNER = zip(*functionals) if functionals else ((0,), (0,), (-1,), (0,), (0,))
    SUM, LOGARITHMS, LEAST, LARGEST = map(int, (Kind.SUM, Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST))
    BETWEEN = tuple(kind in CONTINUOUS for kind in KIND)
    WEIGHTED, NOISY, SQUARES, LATEST = map(int, (Kind.WEIGHTED, Kind.NOISY, Kind.SQUARES, Kind.LATEST))
    AT_LEAST, AT_LARGEST = map(int, (Kind.AT_LEAST, Kind.AT_LARGEST))
    EXERCISED, AT_EXERCISED = int(Kind.EXERCISED), int(Kind.AT_EXERCISED)
    NOTES = AT_EXERCISED in KIND
    RIGHT = tuple(KIND[:f].count(EXERCISED) for f in range(F))
    DEGREE, CALL = zip(*rights) if rights else ((0,), (False,))
    SLOPE, LEANS = int(Kind.SLOPE), tuple(kind in LEANING for kind in KIND)
    SLOPES = SLOPE in KIND
    DISCRETISED, JUMPING, PAYING = step_terms.scheme is not Scheme.EXACT, step_terms.jumping, step_terms.paying
    JUMPS, CASH, WHOLE = any(JUMPING), any(PAYING), correlated == "whole"
    power = power32 if real is float32 else power64
    keep_between, slope_after, weight_at_extreme = make_between(real)
    discretised, jumped, after_cash = make_step_terms(step_terms, real, drawn)

    @_inlined(fastmath=drawn is float32)
    def step(j, k, state, noise, path, sign, seed, dated, between, terms, policy):
        """Step k of a path, which is the one of number j in its block of random numbers.

        state: y, the noise of each asset in powers of 2, s, what each functional keeps, and now, the last step at whose
        end each option was exercised. noise: z, the normals of the block, (assets, steps), radii, those of functionals
        of all times, (functionals, steps), factors, which increments are multiplied by, (assets, steps), and mix, the
        matrix that makes them depend on each other. seed: uint64. For the others see `arguments.py`.
        """
        y, s, now = state
        z, radii, factors, mix = noise
        centre, growth, bridges, dividend_drops = dated.centre, dated.growth, between.bridges, between.dividend_drops
        past = cuda.local.array(N, real)
        at = uint64(k)  # an index without a sign takes fewer instructions
        for a in range(N):
            past[a] = y[a]
            dw = mix[a, 0] * z[0, j]
            for b in range(1, N if WHOLE else a + 1):
                dw += mix[a, b] * z[b, j]
            d = real(factors[a, j] * dw)
            y[a] += discretised(d, terms.drift, a, k) if DISCRETISED else d
            if JUMPS and JUMPING[a]:
                y[a] += jumped(k, a, path, seed, sign, terms.jumps, terms.thresholds)
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
                    s[f] = weight_at_extreme(KIND[f], s[f], s[h], x0, before, x1, variance, radii[h, j], w0, w1)
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
                if BIT[f] < 0 or dated.due[at] >> BIT[f] & 1:
                    v = y[ASSET[f]]
                    if KIND[f] == SUM:
                        s[f] += power(v) * growth[ASSET[f], at]
                    if KIND[f] == LOGARITHMS:
                        s[f] += v
                    if KIND[f] == LEAST:
                        s[f] = min(s[f], v + centre[ASSET[f], at])
                    if KIND[f] == LARGEST:
                        s[f] = max(s[f], v + centre[ASSET[f], at])
                    if KIND[f] == WEIGHTED:
                        price = power(v) * growth[ASSET[f], at]
                        s[f] += growth[N + ROW[f], at] * price
                    if KIND[f] == NOISY:
                        s[f] += v * (power(v) * growth[ASSET[f], at])
                    if KIND[f] in (AT_LEAST, AT_LARGEST) and s[PARTNER[f]] == v + centre[ASSET[f], at]:
                        s[f] = growth[N + ROW[f], at]
                    if KIND[f] == SQUARES:
                        v -= s[PARTNER[f]]
                        s[f] += growth[N + ROW[f], at] * (v * v)
                    if KIND[f] == LATEST:
                        s[f] = v
                    if KIND[f] == EXERCISED:
                        rule, degree = policy.rules[policy.row[RIGHT[f], k]], DEGREE[RIGHT[f]]
                        price = power(v)
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
                        s[f] = growth[N + ROW[f], at]

    return step
