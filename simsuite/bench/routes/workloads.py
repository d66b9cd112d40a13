"""The work that a road is given: a small problem that is checked, a tiny one whose time is that of a launch, and a
large one for the rate. All in float32, on the road's own kind of device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.bench.routes.reference import PLATE_STEPS, RX, RY, contracts

TINY, MANY = 32, 2000  # points of a tiny plate along an edge, paths, rows; steps, or calls, of which a mean is taken
PATHS = 1 << 18  # of the prices that are checked
LEAST = 0.2  # seconds of a measurement of a rate
# Sizes of the large problem: points along an edge, paths, rows; on a GPU, on a CPU, and the same with --quick.
LARGE = {"heat": (4096, 1024), "gbm": (1 << 22, 1 << 16), "matmul": (4096, 1024)}
QUICK = {"heat": (4096, 512), "gbm": (1 << 21, 1 << 14), "matmul": (2048, 512)}
Place = Callable[[np.ndarray], Any]
Means = tuple[Place, Place, Callable[[], None]]
"""Functions that take an array of NumPy's to where the road works, bring one back, and wait until all work is done."""


class Work:
    """The work for a road. function: the road's. size: of the large problem. folder: holds `plate.npy` and
    `stepped.npy`."""

    unit = ""

    def __init__(self, function: Callable[..., Any], means: Means, size: int, folder: Path) -> None:
        self.function, self.size, self.folder = function, size, folder
        self.place, self.fetch, self.wait = means

    def small(self) -> tuple[float, float]:
        """(how far the answer to the small problem is off, how far a right one may be), after it has been fetched."""
        raise NotImplementedError

    def launch(self) -> float:
        """Seconds of a launch with next to nothing to do."""
        raise NotImplementedError

    def rate(self) -> float:
        """Units of work a second for the large problem."""
        raise NotImplementedError

    def seconds(self, work: Callable[[int], None], first: int = 1) -> float:
        """The time of one of n pieces of work, for the least of two measurements that are long enough."""
        n, took = first, 0.0
        while True:
            self.wait()
            began = time.perf_counter()
            work(n)
            self.wait()
            took = time.perf_counter() - began
            if took >= LEAST:
                break
            n *= max(2, min(16, math.ceil(LEAST / max(took, 1e-4))))
        began = time.perf_counter()
        work(n)
        self.wait()
        return min(took, time.perf_counter() - began) / n


class Heat(Work):
    unit = "cell-steps"

    def small(self) -> tuple[float, float]:
        u = self.place(np.load(self.folder / "plate.npy").astype(np.float32))
        found = self.fetch(self.function(u, PLATE_STEPS, RX, RY))
        return float(np.abs(found - np.load(self.folder / "stepped.npy")).max()), 1e-5

    def launch(self) -> float:
        u = self.place(np.zeros((TINY, TINY), np.float32))

        def took(steps: int) -> float:
            self.wait()
            began = time.perf_counter()
            self.function(u, steps, RX, RY)
            self.wait()
            return time.perf_counter() - began

        took(MANY)
        return max(0.0, min(took(MANY) for _ in range(3)) - min(took(0) for _ in range(3))) / MANY

    def rate(self) -> float:
        u = self.place(np.random.default_rng(1).random((self.size, self.size), np.float32))
        return self.size**2 / self.seconds(lambda n: self.function(u, n, RX, RY), 8)


class Gbm(Work):
    unit = "path-steps"

    def small(self) -> tuple[float, float]:
        """The larger number of standard errors that the prices of both options are off."""
        largest = 0.0
        for contract, exact in contracts().values():
            found = self.fetch(self.function(contract, 5, self.place(np.empty(PATHS, np.float32)))).astype(np.float64)
            largest = max(largest, abs(found.mean() - exact) / (found.std() / math.sqrt(PATHS)))
        return float(largest), 4.5

    def launch(self) -> float:
        contract, out = contracts()["european"][0], self.place(np.empty(TINY, np.float32))
        return self.calls(lambda: self.function(contract, 5, out))

    def calls(self, call: Callable[[], Any]) -> float:
        """The mean time of many calls."""

        def many() -> float:
            self.wait()
            began = time.perf_counter()
            for _ in range(MANY // 10):
                call()
            self.wait()
            return time.perf_counter() - began

        return min(many() for _ in range(3)) / (MANY // 10)

    def rate(self) -> float:
        contract, out = contracts()["european"][0], self.place(np.empty(self.size, np.float32))

        def work(n: int) -> None:
            for _ in range(n):
                self.function(contract, 5, out)

        work(2)
        return self.size * contract.steps / self.seconds(work)


class Matmul(Gbm):
    unit = "operations"

    def small(self) -> tuple[float, float]:
        """The larger error of an odd product and, since one kernel may be right for these only, a square one."""
        if self.size % 16 == 0 and self.function.__module__.endswith("tutorials_cuda"):
            shapes = [(64, 64, 64)]
        else:
            shapes = [(65, 129, 33), (64, 64, 64)]
        off = 0.0
        for m, k, n in shapes:
            a, b = (np.random.default_rng(2).uniform(-1, 1, s).astype(np.float32) for s in ((m, k), (k, n)))
            found = self.fetch(self.function(self.place(a), self.place(b)))
            off = max(off, float(np.abs(found - a.astype(np.float64) @ b.astype(np.float64)).max()))
        return off, 3e-5

    def launch(self) -> float:
        a = self.place(np.ones((TINY, TINY), np.float32))
        return self.calls(lambda: self.function(a, a))

    def rate(self) -> float:
        a = self.place(np.random.default_rng(2).random((self.size, self.size), np.float32))

        def work(n: int) -> None:
            for _ in range(n):
                self.function(a, a)

        return 2 * self.size**3 / self.seconds(work)


WORK: dict[str, type[Work]] = {"heat": Heat, "gbm": Gbm, "matmul": Matmul}
