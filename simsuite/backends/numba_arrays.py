"""Importing Numba's support of arrays without SciPy, whose import takes a fifth of the time until a run begins."""

from __future__ import annotations

import importlib
from typing import Any


def import_arrays(package: str) -> None:
    """Import `arraymath` of Numba's package for arrays, "numba.np" or "numba.cuda.np".

    On import it asks whether there is a BLAS, for `numpy.dot`, and the answer is given by importing `scipy.linalg`,
    which no kernel of ours needs. SciPy is installed with simsuite, so the answer is known; who compiles `numpy.dot`
    has Numba import it then. Does nothing in versions of Numba that do not ask.
    """
    linalg: Any = importlib.import_module(f"{package}.linalg")  # Any: a function of this module is replaced
    ask = getattr(linalg, "ensure_blas", None)
    if ask is None:
        return
    linalg.ensure_blas = lambda: None
    try:
        # Any: a function of this module is replaced, too
        arraymath: Any = importlib.import_module(f"{package}.arraymath")
    finally:
        linalg.ensure_blas = ask
    if hasattr(arraymath, "ensure_blas"):
        arraymath.ensure_blas = ask
