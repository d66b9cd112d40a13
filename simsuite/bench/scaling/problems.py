"""The problems whose scaling is measured: a plate, an Asian option, and a batch of states of a linear system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_MANY = 10**8  # steps that no measurement comes to the end of
_GROUPS = 1024  # paths go to processes in groups of so many

Scenario = dict[str, Any]
SIZES: Mapping[str, Mapping[str, tuple[int, int]]] = {  # of one process, and a quick one
    "heat": {"cuda": (16384, 4096), "cpu": (1024, 256)},
    "gbm": {"cuda": (1 << 26, 1 << 23), "cpu": (1 << 17, 1 << 14)},
    "linear": {"cuda": (4096, 1024), "cpu": (256, 64)},
}


def heat(size: int, times: int, device: str, precision: str) -> Scenario:
    """A plate of size cells along x, and times as many along y, stepped explicitly: rows go to processes."""
    return {
        "solver": "heat",
        "run": {"device": device, "precision": precision, "threads": 1},
        "grid": {"nx": size, "ny": size * times, "lx": 1.0, "ly": float(times)},
        "material": {"diffusivity": 1.0},
        "initial": {"temperature": "1 + sin(6*x)*cos(5*y)"},
        "boundary": {side: {"kind": "insulated"} for side in ("left", "right", "bottom", "top")},
        "time": {"end": 0.2 / size**2 * _MANY, "dt": 0.2 / size**2, "stepper": "explicit"},
        "output": {"frames": 2},
    }


def gbm(size: int, times: int, device: str, precision: str) -> Scenario:
    """An Asian option with 252 fixings, on size times so many paths: these go to processes. All are of one batch."""
    paths = max(size * times, _GROUPS)
    return {
        "solver": "gbm",
        "run": {"device": device, "precision": precision, "threads": 1},
        "market": {"rate": 0.05},
        "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
        "time": {"end": 1.0, "steps": 252},
        "paths": {"count": paths, "batch": paths},
        "option": [{"name": "asian", "style": "asian", "payoff": "call", "strike": 100.0, "greeks": False}],
        "output": {"frames": 2},
    }


def linear(size: int, times: int, device: str, precision: str) -> Scenario:
    """As many states as a system has components, times so many, taken step by step: states go to processes."""
    return {
        "solver": "linear",
        "run": {"device": device, "precision": precision, "threads": 1},
        "system": {"kind": "discrete", "matrix": {"generator": "random_stable", "size": size}},
        "initial": {"state": {"random": "normal", "batch": size * times}},
        "time": {"steps": _MANY, "method": "step"},
        "output": {"frames": 2},
    }


SHARED: Mapping[str, Callable[[int], int]] = {  # how many rows, groups of paths or states of a size go to processes
    "heat": lambda size: size,
    "gbm": lambda size: max(1, size // _GROUPS),
    "linear": lambda size: size,
}
SCENARIOS: Mapping[str, Callable[[int, int, str, str], Scenario]] = {"heat": heat, "gbm": gbm, "linear": linear}
