"""The interface of a peer, another library that takes the same steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Running:
    """A computation of a peer. advance(n) takes n steps and returns when they are done; result() gives the
    temperatures, (n, n).
    """

    advance: Callable[[int], None]
    result: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Peer:
    """A peer. library: the module that has to be importable. dialects: the kinds of devices that it runs on ("cpu",
    "cuda"). slow: whether it compiles for many seconds.

    start(T, r, device) begins at the temperatures T, in their precision, with mesh ratio r = αΔt/Δx², on a device named
    like "cpu" or "cuda:0". It raises ImportError where the library is not installed, and any exception of the library
    where it does not work.
    """

    name: str
    library: str
    dialects: tuple[str, ...]
    start: Callable[[np.ndarray, float, str], Running]
    slow: bool = False
