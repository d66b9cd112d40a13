"""Whether the matrices of a linear system, and the names of its parts, fit together."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from simsuite.scenario.linear import LinearScenario
from simsuite.words import counted

KeyPath: TypeAlias = tuple[str | int, ...]
_TURNED = "its transpose would fit"


class Wrong(Protocol):
    """Notes a mistake at a key: what is wrong, and what to do."""

    def __call__(self, path: KeyPath, message: str, help: str | None = None) -> None: ...


def check_shapes(
    wrong: Wrong,
    n: int | None,
    B: np.ndarray | None,
    inputs: int | None,
    C: np.ndarray | None,
    D: np.ndarray | None,
    G: np.ndarray | None,
) -> None:
    """Note the matrices whose shapes do not fit together. n: how many components the state has, and inputs: how many
    inputs there are, if that is known.
    """
    components = counted(n, "component") if n is not None else ""
    if n is not None and G is not None and len(G) != n:
        rows = counted(len(G), "row")
        wrong(("system", "noise_matrix"), f"`noise_matrix` has {rows}, but the state has {components}")
    if n is not None and B is not None and len(B) != n:
        rows = counted(len(B), "row")
        message = f"`input_matrix` has {rows}, but the state has {components}"
        wrong(("system", "input_matrix"), message, _TURNED if B.shape == (inputs, n) else None)
    if n is not None and C is not None and C.shape[1] != n:
        width = counted(C.shape[1], "column")
        message = f"`output_matrix` has {width}, but the state has {components}"
        wrong(("system", "output_matrix"), message, _TURNED if len(C) == n else None)
    if inputs is not None and B is not None and B.shape[1] != inputs and B.shape != (inputs, n):
        width, entries = counted(B.shape[1], "column"), counted(inputs, "entry", "entries")
        wrong(("system", "input"), f"`input` has {entries}, but `input_matrix` has {width}")
    if D is not None and C is not None and inputs is not None and D.shape != (len(C), inputs):
        message = f"`feedthrough` is {D.shape[0]} x {D.shape[1]}, but there are {counted(len(C), 'output')}"
        turned = D.shape == (inputs, len(C))
        wrong(("system", "feedthrough"), f"{message} and {counted(inputs, 'input')}", _TURNED if turned else None)


def check_names(wrong: Wrong, model: LinearScenario, n: int | None, B: np.ndarray | None, C: np.ndarray | None) -> None:
    """Note lists of names that are not as long as what they name."""
    if model.names is None:
        return
    parts = (
        ("state", "component", n),
        ("input", "input", None if B is None else B.shape[1]),
        ("output", "output", None if C is None else len(C)),
    )
    for key, what, count in parts:
        names = getattr(model.names, key)
        if names is not None and count is not None and len(names) != count:
            message = f"has {counted(len(names), 'name')}, but the system has {counted(count, what)}"
            wrong(("names", key), message)
