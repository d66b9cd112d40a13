"""The interface of a product of a constant matrix with varying ones, whatever computes it."""

from __future__ import annotations

from typing import Any, Protocol


class Product(Protocol):
    """The product A X + b for a matrix A that it keeps, and X with as many columns as it was made for."""

    most_steps: int | None  # how many steps one call can take; None for any number

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = X after n_steps of X -> A X + b_k, where b_k is row `row` + k `stride` of `bias`, added to every
        column.

        All are views of arrays of the backend in C order: X (p, m); bias (.., n); out (n, m), which must not be X. A
        must be square if there are several steps.
        """
