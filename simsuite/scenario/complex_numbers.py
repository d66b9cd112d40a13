"""Fields that hold a number, or a complex one as text, which TOML has no numbers for: ``0.5`` or ``"0.5-0.25j"``."""

from __future__ import annotations

import cmath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, PydanticSerializationUnexpectedValue, core_schema

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


@dataclass(frozen=True)
class _RealOrComplex:
    """Marks a field whose numbers become float and whose texts become complex, real ones as well ("2+0j"): what is
    complex is so by the way it is written. Both dump to JSON so that they give the same again."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _number, serialization=core_schema.plain_serializer_function_ser_schema(_as_written, when_used="json")
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "number"}, {"type": "string", "description": 'complex number: "0.5-0.25j"'}]}


RealOrComplex: TypeAlias = Annotated[complex, _RealOrComplex()]


def _number(value: object) -> float | complex:
    number: float | complex
    if isinstance(value, complex):
        number = value
    elif isinstance(value, str) and "j" in value.lower():
        try:
            number = complex(value)
        except ValueError:
            raise _unlike_a_number() from None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            raise PydanticCustomError("finite_number", "Input should be a finite number") from None
    else:
        raise _unlike_a_number()
    if not cmath.isfinite(number):
        raise PydanticCustomError("finite_number", "Input should be a finite number")
    return number


def _unlike_a_number() -> PydanticCustomError:
    return PydanticCustomError("complex_number_type", "Input should be a number, real or complex")


def _as_written(number: float | complex) -> float | str:
    if not isinstance(number, (float, complex)):  # pydantic asks every branch of a union
        raise PydanticSerializationUnexpectedValue(f"no number: {type(number).__name__}")
    return str(number).strip("()") if isinstance(number, complex) else number
