"""Measures how fast a GPU does the parts of a path: rounds of Philox, normal numbers, powers of 2.

Each program does one of them and next to nothing else, so its rate is that of the units that do it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.bench.timing import Patience, seconds
from simsuite.core import Backend

SOURCE = Path(__file__).with_name("units.cu")
THREADS = 256
BLOCKS = 64  # blocks for each multiprocessor: several waves
TURNS = 8
CHAINS, PER_TURN = 8, 16  # the same as in units.cu
ROUNDS = 10  # rounds of Philox4x32
KEY = 2026
FIXED_POINT = 0.6411857445  # the number x with 2^-x = x


@dataclass(frozen=True)
class Units:
    """Rates per second: rounds of Philox4x32, pairs of float32 normals made of given words, powers of 2 in float32."""

    philox_rounds: float
    normal_pairs: float
    powers: float

    def as_json(self) -> dict[str, float]:
        """The rates for the JSON document."""
        return {f"{name}_per_second": rate for name, rate in asdict(self).items()}


def measure_units(backend: Backend, patience: Patience) -> Units | None:
    """The rates of a GPU; None where there are no programs in CUDA C++. Raises AssertionError if a program computes
    something else."""
    if not backend.compiles:
        return None
    program = backend.program(SOURCE, {"THREADS": THREADS})
    blocks = BLOCKS * backend.processors
    n = blocks * THREADS

    def rate(kernel: str, out: Any, each: int, right: Callable[[np.ndarray], Any], *arguments: Any) -> float:
        launch = program.launcher(kernel, blocks, THREADS)

        def work(k: int) -> None:
            for _ in range(k):
                launch(out, *arguments, np.int32(TURNS))

        second = seconds(backend, work, patience, pick=min)[0]
        assert right(backend.to_host(out)), f"{kernel} computes something else"
        return n * TURNS * PER_TURN * each / second

    words, numbers = backend.zeros((n, 4), np.uint32), backend.zeros(n, np.float32)
    return Units(
        rate("philox", words, ROUNDS, _words_right, np.uint32(KEY)),
        rate("normals", numbers, 1, lambda found: abs(found.mean() - 1) < 0.01),
        rate("exponentials", numbers, CHAINS, lambda found: np.allclose(found, FIXED_POINT, atol=1e-5)),
    )


def _words_right(found: np.ndarray) -> bool:
    """Whether the words that a few threads computed are right."""
    return all(found[i].tolist() == words_of(i) for i in (0, 1, len(found) - 1))


def words_of(thread: int) -> list[int]:
    """The words that the program `philox` leaves for a thread."""
    chains = []
    for c in range(4):
        v = [thread, c, 0, 0]
        for _ in range(TURNS * PER_TURN // 4):
            for r in range(ROUNDS):
                p, q = v[0] * 0xD2511F53, v[2] * 0xCD9E8D57
                k0, k1 = (KEY + r * 0x9E3779B9) % 2**32, (KEY + r * 0xBB67AE85) % 2**32
                v = [(q >> 32) ^ v[1] ^ k0, q % 2**32, (p >> 32) ^ v[3] ^ k1, p % 2**32]
        chains.append(v)
    return [a ^ b ^ c ^ d for a, b, c, d in zip(*chains)]
