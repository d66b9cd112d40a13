"""What of `[analysis]` cannot be computed of a system, said before the run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.errors import Mistake
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.linear.analysis import Frequencies
from simsuite.solvers.linear.state_space import StateSpace
from simsuite.words import counted

LARGEST = 512  # Systems of up to so many rows are analysed: some seconds.
LARGEST_LOOP = 200  # The same for margins, which take the eigenvalues of matrices of twice that size.
MOST_NUMBERS = 10**7  # A response has at most so many numbers: inputs times outputs times frequencies, or times.


def analysis_mistakes(model: LinearScenario, stated: StateSpace) -> Iterator[Mistake]:
    """The mistakes in `[analysis]` that show once the matrices are read."""
    asked = model.analysis
    if asked is None or not asked.asked:
        return
    n, first = stated.A.shape[0], asked.asked[0]
    q = n if stated.C is None else len(stated.C)
    p = 0 if stated.B is None else stated.B.shape[1]
    if any(M is not None and np.iscomplexobj(M) for M in (stated.A, stated.B, stated.C, stated.D)):
        yield Mistake(
            ("analysis", first), "is for real systems; this one has complex numbers", "leave it out", on_key=True
        )
        return
    for key in asked.asked:
        most = LARGEST_LOOP if key == "margins" else LARGEST
        if n > most:
            message = f"the matrix has {n} rows; `{key}` is computed of up to {most}"
            yield Mistake(("analysis", key), message, "leave it out, or reduce the system first", on_key=True)
    if asked.margins and p and (p, q) != (1, 1):
        message = f"margins are those of a loop with one input and one output, but there are {p} and {q}"
        help = "close all loops but one, and keep one column of `input_matrix` and one row of `output_matrix`"
        yield Mistake(("analysis", "margins"), message, help, on_key=True)
    for key, part, default in (("bode", asked.bode, 500), ("step_response", asked.step_response, 201)):
        points = default if isinstance(part, bool) else part.points
        if part is not False and n <= LARGEST and p * q * points > MOST_NUMBERS:
            message = f"{counted(p, 'input')} and {counted(q, 'output')} at {points} points are too many numbers"
            yield Mistake(("analysis", key), message, "choose outputs by `output_matrix`, or fewer points", on_key=True)
    if isinstance(asked.bode, Frequencies) and model.system.kind == "discrete":
        yield from _beyond(asked.bode, np.pi / model.dt)


def _beyond(asked: Frequencies, highest: float) -> Iterator[Mistake]:
    """Frequencies of more than half a turn a step, which look like others."""
    for key, value in (("from", asked.from_), ("to", asked.to)):
        if value is not None and value > highest * (1 + 1e-9):
            message = f"is more than half a turn a step, pi/dt = {highest:.9g} rad/s, beyond which the response repeats"
            yield Mistake(("analysis", "bode", key), message, "leave it out" if key == "to" else None)
