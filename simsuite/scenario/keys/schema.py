"""The JSON schema of scenario files, for editors."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from simsuite.expressions import Expression
from simsuite.plugins import solver_names
from simsuite.scenario.load import model_class
from simsuite.scenario.schedule import Schedule
from simsuite.scenario.types import as_written

_TEXT = 'arithmetic with the names in [constants], as "2*w", or a number with a unit, as "5 mm"'
_OF_NUMBERS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    def encode_default(self, dft: object) -> object:
        if isinstance(dft, Schedule):
            return dft.written
        return as_written(dft) if isinstance(dft, Expression) else super().encode_default(dft)


class _EditorGenerator(_Generator):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        table = super().model_schema(schema)
        for other, key in getattr(schema["cls"], "other_names", {}).items():
            _add_name(table, other, key)
        return table


def editor_schema(solver: str | None = None) -> JsonSchemaValue:
    """The schema by which editors check files: numbers may be texts there, and keys have their other names. Raises
    `KeyError` for an unknown solver."""
    return _with_texts(_schema_by(_EditorGenerator, solver))


def _add_name(table: JsonSchemaValue, other: str, key: str) -> None:
    """Let a table have a key by another name. A key that is needed may be given by either."""
    table["properties"][other] = table["properties"][key]
    if key in table.get("required", ()):
        table["required"] = [name for name in table["required"] if name != key]
        table.setdefault("allOf", []).append({"anyOf": [{"required": [key]}, {"required": [other]}]})


def _with_texts(node: JsonSchemaValue) -> JsonSchemaValue:
    """A schema in which whatever is a number may be a text that stands for one."""
    found = {name: _inside(part) for name, part in node.items()}
    if found.get("type") in ("number", "integer"):
        bounds = {name: found.pop(name) for name in [*found] if name in _OF_NUMBERS}
        found["anyOf"] = [bounds, {"type": "string", "description": _TEXT}]
    return found


def _inside(part: object) -> object:
    if isinstance(part, dict):
        return _with_texts(part)
    return [_inside(each) for each in part] if isinstance(part, list) else part


def json_schema(solver: str | None = None) -> JsonSchemaValue:
    """The schema of one solver's scenarios, or of all of them, in which numbers are no texts. Raises `KeyError` for an
    unknown solver."""
    return _schema_by(_Generator, solver)


def _schema_by(generator: type[_Generator], solver: str | None) -> JsonSchemaValue:
    if solver is not None:
        return {
            "$schema": _DIALECT,
            **model_class(solver).model_json_schema(mode="validation", schema_generator=generator),
        }
    models = {name: model_class(name) for name in solver_names()}
    references, definitions = models_json_schema(
        [(model, "validation") for model in models.values()], schema_generator=generator
    )
    branches = []
    for name, model in models.items():
        says = {"properties": {"solver": {"const": name}}, "required": ["solver"]}
        branches.append({"if": says, "then": references[model, "validation"]})
    return {
        "$schema": _DIALECT,
        "title": "simsuite scenario",
        "type": "object",
        "properties": {"solver": {"enum": list(models)}},
        "required": ["solver"],
        "allOf": branches,
        **definitions,
    }
