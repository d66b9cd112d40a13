"""What a peer is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Running:
    """advance(n) makes n steps and returns when they are done; result() is the temperatures, (n, n)."""

    advance: Callable[[int], None]
    result: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Peer:
    """library: the module that has to be importable. dialects: kinds of devices that it runs on ("cpu", "cuda").
    start(T, r, device): to begin at the temperatures T, in their precision, with mesh ratio r = αΔt/Δx², on a device
    of a name like "cpu" or "cuda:0". slow: whether it compiles for many seconds. Raises ImportError where the library
    is not installed, and what the library raises where it does not work."""

    name: str
    library: str
    dialects: tuple[str, ...]
    start: Callable[[np.ndarray, float, str], Running]
    slow: bool = False
