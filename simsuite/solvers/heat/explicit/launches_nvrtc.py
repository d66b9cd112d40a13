"""Temporal blocking on a GPU: several explicit steps a launch, by the program that is the fastest on this device.

The arithmetic is that of every other kernel of the explicit step, in the same order, to the bit: so results do not
depend on the choice, which is made by trying all programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Program
from simsuite.solvers.heat.explicit.arguments import Exchange, Tiles
from simsuite.solvers.structs import packed

_TRIED = 192  # the number of steps of a trial, which may also be a multiple of this; all depths divide it
_WORK = 1 << 28  # A trial of so many cells times steps is long enough.
_MOST_TIMES = 16


@dataclass(frozen=True)
class Variant:
    """A program and how it is launched.

    source, macros: what is compiled. depth: the number of steps of a launch. any: whether a launch may also take fewer
    steps, as many as its argument `count` says. parts: how the grid is divided, into tiles or into columns and lines of
    blocks. exchanging: whether blocks give each other cells, for which they have two further fields, and counters."""

    source: Path
    macros: Mapping[str, str | int]
    blocks: int
    threads: int
    shared_bytes: int
    depth: int
    any: bool
    parts: Tiles | tuple[int, int]
    exchanging: bool = False

    def __str__(self) -> str:
        macros = " ".join(f"{name}={value}" for name, value in self.macros.items())
        return f"{self.source.name} {macros} {self.blocks} {self.depth} {tuple(self.parts)}"


def loaded_together(lane: int, dtype: np.dtype, nx: int) -> int:
    """How many of a lane's cells in a row of nx can be loaded by one instruction, which loads 16 bytes at most, at a
    multiple of their number."""
    return next(w for w in (4, 2, 1) if w * dtype.itemsize <= 16 and lane % w == 0 and nx % w == 0)


class BlockedSteps:
    """Launches of the fastest of `variants`.

    shape, dtype: of the field, with all its planes. about: everything else about the problem on which it depends which
    variant is the fastest, in words. fields: two arrays; the second one is overwritten. harmless: arguments of a
    launch, after the size of the fields, with which it changes nothing but the second array."""

    def __init__(
        self,
        backend: Backend,
        shape: tuple[int, ...],
        dtype: np.dtype,
        about: str,
        variants: Sequence[Variant],
        fields: Sequence[Any],
        harmless: Sequence[Any],
    ) -> None:
        self._backend = backend
        self._rims: Any = None
        self._arrays: list[Any] = []
        # the shape and precision of the two fields through which blocks exchange cells
        self._shape, self._dtype = (2, *shape), dtype
        # all programs are compiled at the same time
        compiled = functools.cache(lambda: [backend.program(v.source, v.macros) for v in variants])
        trials = [self._trial(i, variants[i], compiled, fields, harmless) for i in range(len(variants))]
        question = "\n".join([about, *map(str, variants)])
        self.variant = variants[backend.fastest(question, trials) if len(trials) > 1 else 0]
        self._launch = self._launcher(self.variant, backend.program(self.variant.source, self.variant.macros))
        self(*fields, self.variant.depth, *harmless)  # this launch loads the program

    def takes(self, n: int) -> bool:
        """Whether a launch can take n steps."""
        return n == self.variant.depth or (self.variant.any and n < self.variant.depth)

    def __call__(self, T: Any, out: Any, n: int, *rest: Any) -> None:
        """Queue n steps from T to out. rest: arguments of the program that come after the size of the fields and before
        `count`, which the last argument follows."""
        self._launch(T, out, n, *rest)

    def _trial(
        self,
        i: int,
        variant: Variant,
        compiled: Callable[[], Sequence[Program]],
        fields: Sequence[Any],
        harmless: Sequence[Any],
    ) -> Callable[[], None]:
        """A function that queues the trial of variant number i. Its launches are recorded as steps of a run are,
        because small grids are done before the host has launched the next step."""
        launcher = functools.cache(lambda: self._launcher(variant, compiled()[i]))
        recorder = self._backend.recorder()
        *_, ny, nx = self._shape
        steps = _TRIED * min(max(1, _WORK // (_TRIED * ny * nx)), _MOST_TIMES)

        def launches() -> None:
            for _ in range(steps // variant.depth):
                launcher()(*fields, variant.depth, *harmless)

        return lambda: recorder.replay(0, launches)

    def _launcher(self, variant: Variant, program: Program) -> Callable[..., None]:
        waits_for = "blocks" if variant.exchanging else ""
        launch = program.launcher("steps", variant.blocks, variant.threads, variant.shared_bytes, waits_for)
        *_, ny, nx = map(np.int32, self._shape)
        parts = packed(self._backend, self._parts(variant), self._dtype)

        def go(T: Any, out: Any, n: int, *rest: Any) -> None:
            count = (np.int32(n),) if variant.any else ()
            launch(T, out, nx, ny, *rest, *count, parts)

        return go

    def _parts(self, variant: Variant) -> Tiles | Exchange:
        """The last argument of a variant's program. All variants exchange cells through the same fields."""
        if isinstance(variant.parts, Tiles):
            return variant.parts
        if not variant.exchanging:
            none = self._kept(np.zeros(1, self._dtype)), self._kept(np.zeros(1, np.int32))
            return Exchange(*none, *variant.parts)
        if self._rims is None:
            self._rims = self._kept(np.zeros(self._shape, self._dtype))
        return Exchange(self._rims, self._kept(np.zeros(variant.blocks, np.int32)), *variant.parts)

    def _kept(self, host: np.ndarray) -> Any:
        self._arrays.append(self._backend.array(host))
        return self._backend.view(self._arrays[-1])
