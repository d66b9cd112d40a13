"""The JSON schema of scenario files, for editors."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from simsuite.expressions import Expression
from simsuite.scenario.load import SOLVERS, model_class
from simsuite.scenario.schedule import Schedule
from simsuite.scenario.types import as_written

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    def encode_default(self, dft: object) -> object:
        if isinstance(dft, Schedule):
            return dft.written
        return as_written(dft) if isinstance(dft, Expression) else super().encode_default(dft)


def json_schema(solver: str | None = None) -> JsonSchemaValue:
    """The schema of one solver's scenarios, or of all of them. Raises `KeyError` for an unknown solver."""
    if solver is not None:
        return {
            "$schema": _DIALECT,
            **model_class(solver).model_json_schema(mode="validation", schema_generator=_Generator),
        }
    models = {name: model_class(name) for name in SOLVERS}
    references, definitions = models_json_schema(
        [(model, "validation") for model in models.values()], schema_generator=_Generator
    )
    branches = []
    for name, model in models.items():
        says = {"properties": {"solver": {"const": name}}, "required": ["solver"]}
        branches.append({"if": says, "then": references[model, "validation"]})
    return {
        "$schema": _DIALECT,
        "title": "simsuite scenario",
        "type": "object",
        "properties": {"solver": {"enum": list(SOLVERS)}},
        "required": ["solver"],
        "allOf": branches,
        **definitions,
    }
