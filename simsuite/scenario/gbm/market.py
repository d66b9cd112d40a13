"""`[market]`: what all assets share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, field_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import FieldMistake, Section
from simsuite.scenario.gbm.correlation import as_toml, is_definite, nearest_in_digits, smallest_eigenvalue
from simsuite.scenario.gbm.piecewise import PIECES, Rate
from simsuite.scenario.types import mistake
from simsuite.scenario.units import PER_YEAR, Unit
from simsuite.words import counted

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_OFFERED = 24  # the most rows of a matrix that a message shows


class Market(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"rate": PER_YEAR, "drift": PER_YEAR}

    rate: Rate = Field(description=f"interest rate, continuously compounded, 1/year; 0.05 means 5 %; {PIECES}")
    drift: Rate | None = Field(
        None,
        description="expected growth rate of every price, 1/year, in place of rate - dividend_yield: simulates a "
        f"real-world measure, and option results are then expected discounted payoffs instead of prices; {PIECES}",
    )
    correlation: Annotated[list[list[float]], Field(min_length=1)] | None = Field(
        None,
        description="of the Brownian motions of the assets, row by row; it must be positive definite, so between two "
        "assets more than -1 and less than 1 (default: independent assets)",
    )

    @field_validator("correlation")
    @classmethod
    def _is_correlation(cls, rows: list[list[float]] | None) -> list[list[float]] | None:
        if rows is None:
            return None
        for i, row in enumerate(rows):
            if len(row) != len(rows):
                entries = counted(len(row), "entry", "entries")
                raise mistake((i,), f"row {i + 1} has {entries}, but the matrix has {counted(len(rows), 'row')}")
        found = _entry_mistakes(rows)
        if found:
            raise FieldMistake(*found)
        matrix = np.array(rows)
        if not is_definite(matrix):
            smallest = smallest_eigenvalue(matrix)
            message = f"the matrix is not positive definite: its smallest eigenvalue is {smallest:.3g}"
            raise mistake((), message, _offer(matrix))
        return rows


def _entry_mistakes(rows: list[list[float]]) -> list[Mistake]:
    """Mistakes in single entries of the correlation matrix; one that stands on both sides of the diagonal is reported
    once."""
    n = len(rows)
    found = [
        Mistake((i, i), f"an asset's correlation with itself is 1, not {rows[i][i]:g}")
        for i in range(n)
        if rows[i][i] != 1
    ]
    found += [
        Mistake((i, j), f"is {rows[i][j]:g}, but the entry across the diagonal is {rows[j][i]:g}")
        for i in range(n)
        for j in range(i)
        if rows[i][j] != rows[j][i]
    ]
    found += [
        Mistake((i, j), f"must be between -1 and 1, got {rows[i][j]:g}", "covariances are no correlations")
        for i in range(n)
        for j in range(n)
        if abs(rows[i][j]) > 1 and (i < j or (i > j and rows[i][j] != rows[j][i]))
    ]
    return found


def _offer(matrix: npt.NDArray[np.float64]) -> str:
    if len(matrix) > _MOST_OFFERED:
        return "weaken the correlations, or drop an asset that follows from the others"
    return "one near it that is, by Higham's method:\n" + as_toml(nearest_in_digits(matrix))
