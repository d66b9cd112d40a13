"""Which parts of a scenario depend on time."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from simsuite.expressions import Expression


def moving(model: BaseModel) -> list[str]:
    """The keys of expressions in t."""
    return sorted({key for key, found in _expressions(model, "") if "t" in found.names})


def _expressions(value: object, key: str) -> Iterator[tuple[str, Expression]]:
    if isinstance(value, Expression):
        yield key, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _expressions(getattr(value, name), f"{key}.{name}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _expressions(item, key)
