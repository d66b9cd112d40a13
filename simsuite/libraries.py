"""How libraries are loaded and used: parts of SciPy that take long to load, and the threads of the libraries of linear
algebra that NumPy and SciPy call.

OpenBLAS shares out even small products among threads, which spin while they wait for each other, and a decomposition is
thousands of small products. On two cores that other programs used as well, the eigenvalues of a 400 x 400 matrix took
3.5 s by two threads and 0.21 s by one.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any


class Later:
    """A module that is imported when something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


special: Any = Later("scipy.special")  # its import takes 0.15 s, longer than that of NumPy
optimize: Any = Later("scipy.optimize")  # which brings a hundred other modules
ALONE = 1024  # a matrix with at most so many rows is decomposed by one thread


def library_threads(n: int) -> contextlib.AbstractContextManager[Any]:
    """A context in which products and decompositions by the libraries of NumPy and SciPy take at most n threads."""
    return _libraries().limit(limits=n, user_api="blas")


@functools.cache
def _libraries() -> Any:
    """The libraries of linear algebra that are loaded; they are looked for once, since that takes 5 ms and more."""
    import scipy.linalg  # SciPy loads a library of its own, which is to be limited, too
    from threadpoolctl import ThreadpoolController

    assert scipy.linalg
    return ThreadpoolController()


def decomposing(rows: int) -> contextlib.AbstractContextManager[Any]:
    """A context in which to decompose a matrix with so many rows: by one thread, unless it is large."""
    return library_threads(1) if rows <= ALONE else contextlib.nullcontext()
