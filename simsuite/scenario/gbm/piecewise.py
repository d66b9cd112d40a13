"""How scenario files write a `Schedule`: a number, or [[t, value], ..]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticSerializationUnexpectedValue, core_schema

from simsuite.errors import Mistake
from simsuite.scenario.common import FieldMistake
from simsuite.scenario.schedule import Schedule


@dataclass(frozen=True)
class Piecewise:
    """Marks a `Schedule` field: ``Annotated[Schedule, Piecewise(ge=0, le=100)]``. ge, le: bounds of every value."""

    ge: float
    le: float

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        number = core_schema.float_schema(ge=self.ge, le=self.le)
        time = core_schema.float_schema(ge=0)
        # `strict` would want a tuple of Python's, which TOML has not
        pair = core_schema.tuple_schema([time, number], strict=False)
        pieces = core_schema.list_schema(pair, min_length=1)
        return core_schema.no_info_wrap_validator_function(
            _schedule,
            core_schema.union_schema([number, pieces]),
            serialization=core_schema.plain_serializer_function_ser_schema(_written, when_used="json"),
        )


Rate: TypeAlias = Annotated[Schedule, Piecewise(ge=-100, le=100)]
Volatility: TypeAlias = Annotated[Schedule, Piecewise(ge=0, le=100)]
PIECES = "number, or [[t, value], ..] for each value from the time t in years on"


def _schedule(value: object, validated: core_schema.ValidatorFunctionWrapHandler) -> Schedule:
    if isinstance(value, Schedule):
        return value
    written = validated(value)
    if isinstance(written, float):
        return Schedule.constant(written)
    times = tuple(time for time, _ in written)
    found = [Mistake((0, 0), f"the first value holds from time 0 on, not {times[0]:g}")] if times[0] != 0 else []
    found += [
        Mistake((i, 0), f"{times[i]:g} does not come after {times[i - 1]:g}: sort the times")
        for i in range(1, len(times))
        if times[i] <= times[i - 1]
    ]
    if found:
        raise FieldMistake(*found)
    return Schedule(times, tuple(value for _, value in written))


def _written(schedule: Schedule) -> float | list[list[float]]:
    if not isinstance(schedule, Schedule):  # pydantic asks every branch of a union
        raise PydanticSerializationUnexpectedValue(f"no schedule: {type(schedule).__name__}")
    return schedule.written
