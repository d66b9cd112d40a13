"""Types and helpers for the fields of scenario models.

    class Initial(Section):
        temperature: Annotated[Expression, NumberOrExpression("x", "y")] | FileRef

A plain union is fine: of all its branches, the messages are about the one that the user came closest to. Unions of
tables say which by a key: ``Annotated[A | B, Field(discriminator="kind")]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError, core_schema

from simsuite.errors import Mistake
from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario.common import Section


class FieldMistake(ValueError):
    """Raised by a validator of a `Section` to report mistakes at paths relative to that section.

    A message that begins with "is" or "must" is said of the value itself: reports put its key in front.
    """

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__("; ".join(m.message for m in mistakes))
        self.mistakes = mistakes


def mistake(
    path: tuple[str | int, ...],
    message: str,
    help: str | None = None,
    column: int | None = None,
    on_key: bool = False,
) -> FieldMistake:
    """One mistake, to be raised: ``raise mistake(("left", "kind"), "both edges must be periodic")``."""
    return FieldMistake(Mistake(path, message, help, column, on_key))


@dataclass(frozen=True)
class NumberOrExpression:
    """Marks an `Expression` field: ``Annotated[Expression, NumberOrExpression("x", "y", gt=0)]``.

    A number gives the expression that is constant; a string is parsed with `variables`; both dump to JSON as written.
    gt, ge: bounds on the value, checked where it does not depend on any variable.
    """

    variables: tuple[str, ...]
    gt: float | None
    ge: float | None

    def __init__(self, *variables: str, gt: float | None = None, ge: float | None = None) -> None:
        for name, value in (("variables", variables), ("gt", gt), ("ge", ge)):
            object.__setattr__(self, name, value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(as_written, when_used="json"),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        number: dict[str, Any] = {"type": "number"}
        if self.gt is not None:
            number["exclusiveMinimum"] = self.gt
        if self.ge is not None:
            number["minimum"] = self.ge
        known = f"expression in {', '.join(self.variables)}" if self.variables else "constant expression"
        return {"anyOf": [number, {"type": "string", "description": known}]}

    def _validate(self, value: Any) -> Expression:
        expression = self._expression(value)
        if not expression.names:
            self._check_bounds(float(expression()))
        return expression

    def _expression(self, value: Any) -> Expression:
        if isinstance(value, Expression):
            return value
        if isinstance(value, str):
            try:
                return Expression.parse(value, self.variables)
            except ExpressionError as error:
                context = {"message": error.message, "column": error.column, "help": error.help}
                raise PydanticCustomError("expression", "{message}", context) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise PydanticCustomError("expression_type", "Input should be a number or an expression")
        try:
            return Expression.constant(value, self.variables)
        except (ValueError, OverflowError):
            raise PydanticCustomError("finite_number", "Input should be a finite number") from None

    def _check_bounds(self, value: float) -> None:
        if not math.isfinite(value):
            raise PydanticCustomError("finite_number", "Input should be a finite number")
        if self.gt is not None and not value > self.gt:
            raise PydanticCustomError("greater_than", "Input should be greater than {gt}", {"gt": self.gt})
        if self.ge is not None and not value >= self.ge:
            raise PydanticCustomError("greater_than_equal", "Input should be at least {ge}", {"ge": self.ge})


def _printable(text: str) -> str:
    for i, character in enumerate(text):
        if not character.isprintable():
            raise mistake((), f"must hold printable characters only, not U+{ord(character):04X}", column=i)
    return text


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_printable)]
Title: TypeAlias = Annotated[str, Field(max_length=200), AfterValidator(_printable)]


def as_written(expression: Expression) -> float | str:
    """The number or the text that gives `expression` back."""
    return expression.value if expression.is_literal else expression.text


class FileRef(Section):
    """Data in a file. A relative name starts from the scenario file's directory; the file must exist when loading."""

    file: Annotated[str, Field(min_length=1)] = Field(description="file name, relative to the scenario file")

    @field_validator("file")
    @classmethod
    def _exists(cls, file: str, info: ValidationInfo) -> str:
        base = (info.context or {}).get("base")
        if base is None:
            return file
        path = Path(base) / file
        if "\0" in file or not path.is_file():
            raise mistake((), f"no such file: {file!r}", f"looked for {str(path)!r}")
        return file

    def path(self, base: Path) -> Path:
        """Where the file is. base: the directory that relative names start from."""
        return base / self.file
