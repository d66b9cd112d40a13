"""As much of JSON Schema (draft 2020-12) as the schema of scenario files uses; anything else in it is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

ANNOTATIONS = {"$schema", "$defs", "title", "description", "default", "discriminator"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
CHECKS = {
    "const": lambda value, wanted: value == wanted,
    "enum": lambda value, wanted: value in wanted,
    "minimum": lambda value, bound: not is_number(value) or value >= bound,
    "maximum": lambda value, bound: not is_number(value) or value <= bound,
    "exclusiveMinimum": lambda value, bound: not is_number(value) or value > bound,
    "exclusiveMaximum": lambda value, bound: not is_number(value) or value < bound,
    "multipleOf": lambda value, unit: not is_number(value) or value % unit == 0,
    "minLength": lambda value, n: not isinstance(value, str) or len(value) >= n,
    "maxLength": lambda value, n: not isinstance(value, str) or len(value) <= n,
    "pattern": lambda value, pattern: not isinstance(value, str) or re.search(pattern, value) is not None,
    "minItems": lambda value, n: not isinstance(value, list) or len(value) >= n,
    "maxItems": lambda value, n: not isinstance(value, list) or len(value) <= n,
    "minProperties": lambda value, n: not isinstance(value, dict) or len(value) >= n,
    "required": lambda value, names: not isinstance(value, dict) or set(names) <= value.keys(),
    "type": lambda value, name: isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool)),
}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "$") -> Iterator[str]:
    """What is wrong with `value`, in words."""

    def valid(branch: dict[str, Any]) -> bool:
        return not list(faults(value, branch, root, path))

    for key, wanted in schema.items():
        if key in CHECKS:
            if not CHECKS[key](value, wanted):
                yield f"{path}: {value!r} against {key} {wanted!r}"
        elif key == "$ref":
            target: Any = root
            for name in wanted.removeprefix("#/").split("/"):
                target = target[name]
            yield from faults(value, target, root, path)
        elif key == "allOf":
            for branch in wanted:
                yield from faults(value, branch, root, path)
        elif key in ("anyOf", "oneOf"):
            matching = sum(map(valid, wanted))
            if matching == 0 or (key == "oneOf" and matching > 1):
                yield f"{path}: {value!r} matches {matching} of {key}"
        elif key == "if":
            yield from faults(value, schema["then"], root, path) if valid(wanted) else ()
        elif key == "prefixItems":
            for i, (item, each) in enumerate(zip(value if isinstance(value, list) else [], wanted)):
                yield from faults(item, each, root, f"{path}[{i}]")
        elif key == "items":
            for i, item in enumerate(value if isinstance(value, list) else []):
                yield from faults(item, wanted, root, f"{path}[{i}]")
        elif key == "properties":
            for name, item in value.items() if isinstance(value, dict) else ():
                if name in wanted:
                    yield from faults(item, wanted[name], root, f"{path}.{name}")
        elif key == "additionalProperties":
            unknown = value.keys() - schema.get("properties", {}).keys() if isinstance(value, dict) else ()
            for name in unknown:
                if wanted is False:
                    yield f"{path}.{name} is unknown"
                else:
                    yield from faults(value[name], wanted, root, f"{path}.{name}")
        elif key != "then" and key not in ANNOTATIONS:
            raise ValueError(f"{path}: unknown keyword {key}")
