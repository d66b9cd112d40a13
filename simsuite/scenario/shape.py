"""Which keys a scenario model knows, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Protocol, TypeGuard, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from simsuite.scenario.spans import KeyPath, Table

Models = tuple[type[BaseModel], ...]


class Container(Protocol):
    """A table with a given key, or a list with a given index."""

    def __getitem__(self, key: str | int, /) -> object: ...


def tables_in(annotation: object) -> Models:
    """The models that a field's annotation speaks of, directly or in lists and unions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return (annotation,)
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        arguments = arguments[:1]
    return tuple(model for argument in arguments for model in tables_in(argument))


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their keys in a file, which Python may not allow as names: ``from``."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def is_section(field: FieldInfo) -> bool:
    """Whether the field is a table or a list of tables and nothing else."""
    return _only_tables(field.annotation)


def _only_tables(annotation: object) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, BaseModel) or annotation is type(None)
    if get_origin(annotation) is Annotated:
        return _only_tables(get_args(annotation)[0])
    return get_origin(annotation) is not Literal and all(_only_tables(a) for a in get_args(annotation))


def value_at(data: object, path: KeyPath) -> object:
    """The value at `path`, or None if there is none."""
    for key in path:
        if not holds(data, key):
            return None
        data = data[key]
    return data


def holds(data: object, key: str | int) -> TypeGuard[Container]:
    """Whether `key` is a key of a table or an index of a list."""
    if isinstance(data, dict):
        return key in data
    return isinstance(data, list) and isinstance(key, int) and key < len(data)


def candidates(root: type[BaseModel], path: KeyPath) -> Models:
    """The models that a table at `path` could be."""
    models: Models = (root,)
    for key in path:
        if isinstance(key, str):
            fields = [fields_of(model)[key] for model in models if key in fields_of(model)]
            models = tuple(dict.fromkeys(table for field in fields for table in tables_in(field.annotation)))
    return models


def models_at(root: type[BaseModel], data: object, path: KeyPath) -> Models:
    """The models that the table at `path` of `data` may be meant as."""
    models, table = candidates(root, path), value_at(data, path)
    if not isinstance(table, dict):
        return models
    return tuple(model for model in models if _agrees(model, table)) or models


def selectors(model: type[BaseModel]) -> dict[str, object]:
    """The keys that say what a table is, each with the one value it may have: ``{"kind": "flux"}``."""
    fields = fields_of(model).items()
    return {name: choices(f)[0] for name, f in fields if f.is_required() and len(choices(f)) == 1}


def choices(field: FieldInfo) -> tuple[object, ...]:
    """What a field may be, if it is one of a few words."""
    return get_args(field.annotation) if get_origin(field.annotation) is Literal else ()


def _agrees(model: type[BaseModel], data: Table) -> bool:
    return all(data.get(name) == value for name, value in selectors(model).items())


def field_at(root: type[BaseModel], data: object, path: KeyPath) -> FieldInfo | None:
    """The field that `path` is the value of, list indices aside."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if not path:
        return None
    models = models_at(root, data, path[:-1])
    return next((fields_of(m)[str(path[-1])] for m in models if path[-1] in fields_of(m)), None)


def homes(root: type[BaseModel], key: str, path: KeyPath) -> Iterator[str]:
    """Where else than in the table at `path` a user may write `key`."""
    said: dict[str, list[str]] = {}
    for model in candidates(root, path):
        if key in fields_of(model):
            for name, value in selectors(model).items():
                said.setdefault(name, []).append(f'"{value}"')
    for name, values in said.items():
        listed = " or ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)
        yield f"goes with {name} = {listed}"
    if path and key in fields_of(root):
        yield "belongs at the top level"
    sections = [
        header(name, field)
        for name, field in fields_of(root).items()
        if name not in path and any(key in fields_of(model) for model in tables_in(field.annotation))
    ]
    if sections:
        yield f"belongs in {' or '.join(sections)}"


def header(name: str, field: FieldInfo) -> str:
    """How a section of the root begins."""
    return f"[[{name}]]" if get_origin(field.annotation) is list else f"[{name}]"
