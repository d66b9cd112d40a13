"""Steps of paths on the CPU: threads share out chunks of paths; the innermost loops run along paths, vectorised.

Most of the time that a first run takes is spent by Numba, which compiles the kernel for each combination of types of
arguments. So None stands for whatever a run does without. Among the kernel's arguments, Numba then drops the code under
`is not None` before it compiles; as the first argument of a procedure, None leaves out the procedure's call.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from simsuite.elementary_functions import fma
from simsuite.parallel_for import kernel, parallel_for, procedure
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.kernels.arguments import Between, Dated, Increments, Paths, Policy, Stretch, Terms
from simsuite.solvers.gbm.paths.kernels.continuous import chances
from simsuite.solvers.gbm.paths.kernels.continuous_cpu import draw_radii, keep_extremes_between, keep_survivals
from simsuite.solvers.gbm.paths.kernels.functionals_cpu import (
    keep_beside_sums,
    keep_exercised,
    keep_extremes,
    keep_logarithms,
    keep_sums,
)
from simsuite.solvers.gbm.paths.kernels.step_terms_cpu import discretise, jump, pay
from simsuite.solvers.gbm.payoffs.functionals import SAMPLED, Kind
from simsuite.solvers.gbm.random_numbers.normals_cpu import draw
from simsuite.solvers.gbm.random_numbers.numbering_kernels import runs
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK
from simsuite.solvers.gbm.sobol.sobol_cpu import SPAN, follow, start

_CHUNK = 512  # paths of a chunk: their normals and prices stay in the first two levels of cache
# other kinds begin with 0
_BEGUN = {Kind.SURVIVAL: 1.0, Kind.EXERCISED: -1.0, Kind.LEAST: np.inf, Kind.LARGEST: -np.inf}


class _Random(NamedTuple):
    """The fields of `Random`, and how numbers come in blocks. summed: how many of the numbers make up one step's.
    single_normal, single_state: precisions of normals and of the noise, see `normals_cpu.py`."""

    seed: Any
    antithetic: Any
    summed: Any
    per_block: Any
    single_normal: Any
    single_state: Any


class _Tables(NamedTuple):
    """Tables that all runs read. mix, scale: those of `Increments`. rights: degree and call of each American option,
    and a `Policy`. begun: the value of each functional at the beginning."""

    mix: Any
    scale: Any
    dated: Any
    between: Any
    rights: Any
    begun: Any


class _Functionals(NamedTuple):
    """int64[number, (functional, kind, asset, bit, row, partner)] of the functionals that each procedure updates, in
    the order in which they are updated; None if there are none. draws: the streams of random numbers of `between`, see
    `draw_radii`. radii: the number of these. begins: True where the noise at the beginning of a step is needed, else
    None."""

    sums: Any
    beside_sums: Any
    logarithms: Any
    extremes: Any
    survivals: Any
    between: Any
    draws: Any
    radii: Any
    begins: Any
    exercised: Any


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
    """The kernel for so many assets and these functionals; see `paths/stepper.py` for its arguments."""
    per_block = NORMALS_PER_BLOCK[np.dtype(normal)]
    single_normal, single_state = (True if np.dtype(real) == np.float32 else None for real in (normal, state))
    begun = np.array([_BEGUN.get(Kind(kind), 0.0) for kind, *_ in functionals])
    functionals_by_kind = tuple(_by_kind(functionals))
    judged = np.array(rights, np.int64).reshape(-1, 2)
    half, jumping, paying = step_terms.scheme.half, np.array(step_terms.jumping), np.array(step_terms.paying)

    @functools.lru_cache(maxsize=2)
    def cut(first_path: int, n: int, *numbering: int) -> np.ndarray:
        return runs(first_path, n, _CHUNK, numbering)

    def advance(
        paths: tuple[Any, ...], n: int, first_path: int, stretch: tuple[Any, ...], random: tuple[Any, ...],
        increments: Any, dated: Any, between_dates: Any, terms: Any, policy: Any, points: Any,
    ) -> None:  # fmt: skip
        numbering, *bridge = points
        pieces = cut(first_path, n, *numbering.tolist())
        own = Terms(*terms)
        jumps = (jumping, own.jumps, own.thresholds) if any(step_terms.jumping) else None
        cash = (paying, own.cash) if any(step_terms.paying) else None
        _advance(
            pieces, paths, stretch, (*random, summed, per_block, single_normal, single_state),
            (*bridge, stack) if stack else None,
            (own.drift, half) if step_terms.scheme is not Scheme.EXACT else None,
            (jumps, cash), (increments, dated, between_dates, policy, judged, begun), functionals_by_kind,
        )  # fmt: skip

    return advance


def _of(functionals: Sequence[tuple[int, int, int, int, int]], *kinds: Kind) -> np.ndarray | None:
    """int64[number, (functional, kind, asset, bit, row, partner)] of the functionals of these kinds; None if there are
    none."""
    found = [(f, *functional) for f, functional in enumerate(functionals) if functional[0] in kinds]
    return np.array(found, np.int64) if found else None


def _by_kind(functionals: Sequence[tuple[int, int, int, int, int]]) -> _Functionals:
    survivals = _of(functionals, Kind.SURVIVAL, Kind.SLOPE)
    between = _of(functionals, Kind.LOWEST, Kind.HIGHEST, Kind.AT_LOWEST, Kind.AT_HIGHEST)
    streams = None
    if between is not None:
        streams = np.array([chances(Kind(kind), a) * (kind in SAMPLED) for _, kind, a, *_ in between], np.int64)
    return _Functionals(
        sums=_of(functionals, Kind.SUM),
        beside_sums=_of(functionals, Kind.WEIGHTED, Kind.NOISY),
        logarithms=_of(functionals, Kind.LOGARITHMS, Kind.SQUARES, Kind.LATEST),
        extremes=_of(functionals, Kind.LEAST, Kind.LARGEST, Kind.AT_LEAST, Kind.AT_LARGEST),
        survivals=survivals,
        between=between,
        draws=streams,
        radii=0 if streams is None else streams.size,
        begins=None if survivals is None and between is None else True,
        exercised=_of(functionals, Kind.EXERCISED, Kind.AT_EXERCISED),
    )


@kernel
def _advance(pieces, paths, stretch, random, bridge, scheme, terms, tables, functionals):
    increments, dated, between, policy, judged, begun = tables
    own = Increments(*increments)
    named = _Tables(own.mix, own.scale, Dated(*dated), Between(*between), (judged, Policy(*policy)), begun)
    arguments = (pieces, Paths(*paths), Stretch(*stretch), _Random(*random), bridge, scheme, terms, named)
    _advance_pieces(pieces.shape[0], (*arguments, _Functionals(*functionals)))


@parallel_for
def _advance_pieces(first, last, pieces, paths, stretch, random, bridge, scheme, terms, tables, functionals):
    """Advances pieces first .. last - 1, which are rows of `numbering_kernels.runs`. bridge: see `sobol_cpu.py`;
    scheme, terms: see `step_terms_cpu.py`."""
    mix, scale, dated, between = tables.mix, tables.scale, tables.dated, tables.between
    x, kept, seen, begin, end, valid = paths.x, paths.kept, paths.seen, stretch.begin, stretch.end, stretch.valid
    seed, antithetic, summed, per_block = random.seed, random.antithetic, random.summed, random.per_block
    single_normal, single_state = random.single_normal, random.single_state
    jumps, cash = terms
    n_assets = x.shape[0]
    if bridge is None:
        z = np.empty((n_assets, per_block, _CHUNK), mix.dtype)
    else:
        z = np.empty((n_assets, per_block + 1 + bridge[5], _CHUNK), mix.dtype)
        at, words, low = np.empty(2, np.int64), np.empty(_CHUNK, np.uint32), np.empty(SPAN, np.uint32)
    room = np.empty((2, per_block, _CHUNK), mix.dtype)
    bits = np.empty((4, _CHUNK), np.uint32)
    dw = np.empty(_CHUNK, mix.dtype)
    y = np.empty((n_assets, _CHUNK), x.dtype)
    past = np.empty((n_assets, _CHUNK), x.dtype)
    prices = np.empty((n_assets, _CHUNK), x.dtype)
    taken = np.empty((tables.begun.size, _CHUNK), x.dtype)
    q, now = np.empty(_CHUNK, x.dtype), np.empty(_CHUNK, np.bool_)
    radii = np.empty((functionals.radii, per_block, _CHUNK), mix.dtype)
    for piece in range(first, last):
        i, w = pieces[piece, 0], pieces[piece, 1] - pieces[piece, 0]
        replicate, point = pieces[piece, 2], pieces[piece, 3]
        if begin == 0:
            _begin(y, taken, tables.begun, w)
        else:
            _take(y, x, i, w)
            _take(taken, kept, i, w)
        if bridge is not None:
            split = bridge, replicate, point, w, (dw, words, low)
            start(z, at, begin, split, single_normal)
        for block in range(begin, end):
            if bridge is None:
                for a in range(n_assets):
                    draw(z, a, room, bits, w, point, block, seed, antithetic, summed, single_normal)
            else:
                follow(z, at, block, per_block, split, single_normal)
            draw_radii(functionals.draws, radii, bits, w, point, block, seed, antithetic, single_normal)
            which = stretch.first_seen
            for j in range(per_block if block < end - 1 else valid):
                k = block * per_block + j
                for a in range(n_assets):
                    _copy(functionals.begins, past, y, a, w)
                    factor = scale[a, k if scale.shape[1] > 1 else 0]
                    _increments(dw, w, z, j, mix, a)
                    if scheme is None:
                        for p in range(w):
                            y[a, p] += factor * dw[p]
                    else:
                        drift, half = scheme
                        discretise(y, a, w, dw, factor, drift, k if drift.shape[1] > 1 else 0, half, single_state)
                    jump(jumps, y, a, w, bits, point, k, seed, antithetic, single_normal)
                    pay(cash, y, a, w, k, single_state)
                keep_sums(functionals.sums, dated, taken, y, prices, w, k, single_state)
                keep_beside_sums(functionals.beside_sums, dated, taken, y, prices, w, k)
                keep_logarithms(functionals.logarithms, dated, taken, y, w, k)
                keep_extremes(functionals.extremes, dated, taken, y, w, k)
                keep_survivals(functionals.survivals, between, dated, taken, y, past, q, w, k, single_state)
                keep_extremes_between(functionals.between, between, dated, taken, y, past, radii, w, j, k)
                keep_exercised(functionals.exercised, tables.rights, dated, taken, y, q, now, w, k, single_state)
                if block == end - 1 and stretch.watched >> j & 1:
                    _put(seen[which], y, i, w)
                    which += 1
        _put(x, y, i, w)
        _put(kept, taken, i, w)


@procedure
def _begin(y, taken, begun, w):
    """Sets the noise and the functionals of w paths to their values at the beginning."""
    for a in range(y.shape[0]):
        for p in range(w):
            y[a, p] = 0
    for f in range(begun.size):
        for p in range(w):
            taken[f, p] = begun[f]


@procedure
def _copy(wanted, rows, y, a, w):
    """rows[a, :w] = y[a, :w], unless `wanted` is None."""
    for p in range(w):
        rows[a, p] = y[a, p]


@procedure
def _take(rows, paths, i, w):
    """rows[:, :w] = paths[:, i : i + w], for as many rows as there are."""
    for a in range(rows.shape[0]):
        source = paths[a, i : i + w]
        for p in range(w):
            rows[a, p] = source[p]


@procedure
def _put(paths, rows, i, w):
    """paths[:, i : i + w] = rows[:, :w]."""
    for a in range(rows.shape[0]):
        target = paths[a, i : i + w]
        for p in range(w):
            target[p] = rows[a, p]


@procedure
def _increments(dw, w, z, j, mix, a):
    """dw[:w] = normal increments of an asset in step j of a block, before `scale` is applied."""
    for p in range(w):
        dw[p] = mix[a, 0] * z[0, j, p]
    for b in range(1, mix.shape[0]):
        if mix[a, b] == 0:  # half the entries of a Cholesky factor are 0
            continue
        for p in range(w):
            dw[p] = fma(mix[a, b], z[b, j, p], dw[p])
