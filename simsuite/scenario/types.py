"""Types and helpers for the fields of scenario models.

    class Initial(Section):
        temperature: Annotated[Expression, NumberOrExpression("x", "y")] | FileRef

A plain union is fine: of all its branches, the messages are about the one that the user came closest to. Unions of
tables say which by a key: ``Annotated[A | B, Field(discriminator="kind")]``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_args

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import PydanticCustomError, PydanticSerializationUnexpectedValue, core_schema

from simsuite.errors import Mistake
from simsuite.expressions import Expression, ExpressionError, NumberWithUnit
from simsuite.scenario.common import FieldMistake, Section
from simsuite.scenario.numbers import terms_of
from simsuite.scenario.similar_names import DATA, near_file

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

_UNITS = {"x": "x in m", "y": "y in m", "t": "t in s", "T": "T in K (or °C)"}
_FILE_NAME = re.compile(r"[\w./\\: -]+\.(csv|npy|npz|mtx|mat|txt|dat|tsv|h5|xlsx?|png)", re.IGNORECASE)
_OF_FILE = 'where files are read, they are written {{file = "{}"}}'


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
    gt, ge, le: bounds on the value, checked where it does not depend on any variable. notes: names that are no
    variables here though one might think so, each with what to answer, as pairs ``("T", "help")``. of_file: what to
    answer to the name of a file; by default how tables name files.
    """

    variables: tuple[str, ...]
    gt: float | None
    ge: float | None
    le: float | None
    notes: tuple[tuple[str, str], ...]
    of_file: str | None

    def __init__(
        self,
        *variables: str,
        gt: float | None = None,
        ge: float | None = None,
        le: float | None = None,
        notes: tuple[tuple[str, str], ...] = (),
        of_file: str | None = None,
    ) -> None:
        given = {"variables": variables, "gt": gt, "ge": ge, "le": le, "notes": notes, "of_file": of_file}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(as_written, when_used="json"),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number: JsonSchemaValue = {"type": "number"}
        if self.gt is not None:
            number["exclusiveMinimum"] = self.gt
        if self.ge is not None:
            number["minimum"] = self.ge
        if self.le is not None:
            number["maximum"] = self.le
        known = f"expression in {', '.join(self.variables)}" if self.variables else "constant expression"
        return {"anyOf": [number, {"type": "string", "description": known}]}

    def _validate(self, value: object, info: ValidationInfo) -> Expression:
        expression = self._expression(value, terms_of(info.context).constants)
        if not expression.names:
            self._check_bounds(float(expression()))
        return expression

    def _about_file(self, name: str) -> dict[str, object]:
        message = f"{name!r} is the name of a file, not an expression"
        return {"message": message, "column": None, "help": self.of_file or _OF_FILE.format(name)}

    def _plain_number(self, error: NumberWithUnit) -> str:
        """What to write in place of a number with a unit, amid an expression."""
        units = ", ".join(_UNITS[name] for name in self.variables if name in _UNITS)
        return f"{error.help}: {units}" if units else str(error.help)

    def _expression(self, value: object, constants: Mapping[str, float]) -> Expression:
        if isinstance(value, Expression):
            return value
        if isinstance(value, str):
            try:
                return Expression.parse(value, self.variables, constants)
            except ExpressionError as error:
                if _FILE_NAME.fullmatch(value.strip()):
                    raise PydanticCustomError("expression", "{message}", self._about_file(value.strip())) from None
                context = {"message": error.message, "column": error.column, "help": error.help}
                word = re.match(r"\w*", value[error.column :])
                note = dict(self.notes).get(word[0]) if word else None
                if word and note is not None:
                    context |= {"message": f"must not depend on {word[0]}", "help": note}
                if isinstance(error, NumberWithUnit):
                    context["help"] = self._plain_number(error)
                    raise PydanticCustomError("expression_with_unit", "{message}", context) from None
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
            raise PydanticCustomError(
                "greater_than", "Input should be greater than {gt}", {"gt": self.gt, "got": value}
            )
        if self.ge is not None and not value >= self.ge:
            raise PydanticCustomError(
                "greater_than_equal", "Input should be at least {ge}", {"ge": self.ge, "got": value}
            )
        if self.le is not None and not value <= self.le:
            raise PydanticCustomError("less_than_equal", "Input should be at most {le}", {"le": self.le, "got": value})


def variables_of(parts: Iterable[object]) -> Iterator[tuple[str, ...]]:
    """The variables of all expressions that a field allows. parts: its annotation, and what stands beside it."""
    return (mark.variables for mark in expressions_in(parts))


def expressions_in(parts: Iterable[object]) -> Iterator[NumberOrExpression]:
    """The marks of all expressions that a field allows. parts: its annotation, and what stands beside it."""
    for part in parts:
        if isinstance(part, NumberOrExpression):
            yield part
        else:
            yield from expressions_in(get_args(part))


def _printable(text: str) -> str:
    for i, character in enumerate(text):
        if not character.isprintable():
            raise mistake((), f"must hold printable characters only, not U+{ord(character):04X}", column=i)
    return text


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_printable)]
Title: TypeAlias = Annotated[str, Field(max_length=200), AfterValidator(_printable)]


def as_written(expression: Expression) -> float | str:
    """The number or the text that gives `expression` back."""
    if not isinstance(expression, Expression):  # pydantic asks every branch of a union
        raise PydanticSerializationUnexpectedValue(f"no expression: {type(expression).__name__}")
    return expression.value if expression.is_literal else expression.text


def _exists(file: str, info: ValidationInfo) -> str:
    base = (info.context or {}).get("base")
    if base is None:
        return file
    path = Path(base) / file
    if "\0" in file:
        raise mistake((), f"no such file: {file!r}")
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise mistake((), f"cannot be looked at: {error.strerror}") from None
    if path.is_dir():
        raise mistake((), f"is a directory, not a file: {file!r}")
    if path.exists() and not path.is_file():
        raise mistake((), f"is a named pipe or a device, not a plain file: {file!r}")
    if not path.is_file():
        near = near_file(path, DATA)
        help = f"did you mean {near!r}?" if near else f"looked for {os.path.abspath(path)!r}"
        raise mistake((), f"no such file: {file!r}", help)
    return file


# A relative name starts from the scenario file's directory; the file must exist when loading. The key that holds it is
# always `file`: that is how the files of a scenario are found.
FileName: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_exists)]


class FileRef(Section):
    """Data in a file."""

    file: FileName = Field(description="file name, relative to the scenario file")

    def path(self, base: Path) -> Path:
        """Where the file is. base: the directory that relative names start from."""
        return base / self.file
