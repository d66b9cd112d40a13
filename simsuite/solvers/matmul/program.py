"""Products by the fastest of some programs in CUDA C++. All of them give the same bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul.recipe import Recipe


class ProgramProduct:
    """As `Product`, by the fastest of some recipes, which the first call finds. A: an array (n, p) of the backend, kept
    as the programs read it.

    Raises DeviceError if a program cannot be compiled for the device.
    """

    def __init__(self, backend: Backend, A: Any, columns: int, recipes: Sequence[Recipe]) -> None:
        (n, p), self._dtype = A.shape, np.dtype(A.dtype)
        self._backend, self._shape = backend, (n, p, columns)
        self.most_steps: int | None = None if all(r.many for r in recipes) else 1
        # One copy of A serves all that read it in one way; the largest filling is one for the others too.
        stored: dict[tuple[int, int] | None, Any] = {}
        self._launches: list[Callable[..., None]] = []
        for recipe in recipes:
            if recipe.filled not in stored:
                stored[recipe.filled] = recipe.stored(backend, A)
            launch = backend.program(recipe.source, recipe.macros).launcher(
                recipe.kernel, recipe.blocks, recipe.threads, recipe.shared
            )
            self._launches.append(functools.partial(_launch, launch, stored[recipe.filled], self._shape))
        self._fastest: Callable[..., None] | None = None

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        arguments = X, bias, out, row, stride, n_steps
        if self._fastest is None:
            n, p, m = self._shape
            question = f"{n} x {p} times {p} x {m} {self._dtype.name} matrices by {len(self._launches)} programs"
            trials = [functools.partial(launch, *arguments) for launch in self._launches]
            self._fastest = self._launches[self._backend.fastest(question, trials)]
        self._fastest(*arguments)


def _launch(
    launch: Callable[..., None],
    A: Any,
    shape: tuple[int, int, int],
    X: Any,
    bias: Any,
    out: Any,
    row: int,
    stride: int,
    n_steps: int,
) -> None:
    launch(A, X, bias, out, *map(np.int32, (*shape, A.shape[1], row, stride, n_steps)))
