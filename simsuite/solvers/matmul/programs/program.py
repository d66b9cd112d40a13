"""Products that a program in CUDA C++ computes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul.programs.layout import Layout
from simsuite.solvers.matmul.programs.recipe import Recipe

Stored = dict[Layout, Any]
"""Copies of A for all programs that read it in the same way."""

Handed = dict[str, Any]
"""Memory through which blocks hand each other numbers, by the titles of recipes of one shape: all products that run one
after the other share it."""


class ProgramProduct:
    """A `Product` by the program of a recipe. A: an array (n, p) of the backend, of which the product keeps a copy in
    the program's layout. stored: copies of A by layout, shared with other products; handed: memory through which blocks
    pass numbers, shared likewise.

    Raises DeviceError if the program cannot be compiled for the device.
    """

    name = "nvrtc"

    def __init__(
        self,
        backend: Backend,
        A: Any,
        columns: int,
        recipe: Recipe,
        stored: Stored | None = None,
        handed: Handed | None = None,
    ) -> None:
        copies = {} if stored is None else stored
        if recipe.layout not in copies:
            copies[recipe.layout] = recipe.layout.stored(backend, A)
        self._A, self.recipe = copies[recipe.layout], recipe
        self.most_steps: int | None = None if recipe.many else 1
        self._sizes = tuple(map(np.int32, (*A.shape, columns, self._A.shape[1])))
        self._handed: tuple[Any, ...] = ()
        if recipe.handed:
            shared = {} if handed is None else handed
            if recipe.title not in shared:
                shared[recipe.title] = backend.zeros(recipe.handed, np.uint8)
            self._handed = (shared[recipe.title],)
        program = backend.program(recipe.source, recipe.macros)
        launcher = functools.partial(program.launcher, recipe.kernel, recipe.blocks, recipe.threads, recipe.shared)
        self._launch = launcher(waits_for=recipe.waits_for)
        # A program that reads A before earlier launches have ended must not run beside the launch that has just written
        # A.
        self._first = launcher() if recipe.waits_for == "launches" else self._launch

    def __str__(self) -> str:
        """The name of the program and all its macros."""
        return f"{self.recipe.program} {dict(self.recipe.macros)}"

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        launch, self._first = self._first, self._launch
        launch(self._A, X, bias, out, *self._sizes, *map(np.int32, (row, stride, n_steps)), *self._handed)
