"""What a product of a matrix with changing ones does, whatever computes it."""

from __future__ import annotations

from typing import Any, Protocol


class Product(Protocol):
    """A X + b for a matrix A that it keeps, and X with as many columns as it was made for."""

    most_steps: int | None  # that one call takes at once; None for any number

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = X after n_steps of X -> A X + b_k, b_k row `row` + k `stride` of `bias`, added to every column.

        Views of arrays of the backend in C order: X (p, m); bias (.., n); out (n, m), another one than X. A of several
        steps is square.
        """
