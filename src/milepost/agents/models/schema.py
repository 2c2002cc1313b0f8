"""Named values held against a JSON Schema, as far as tools and patterns use it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def object_of(properties: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    """The schema of an object that holds these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def problems_of(schema: Schema, values: Mapping[str, Any], *, within: str = "") -> tuple[str, ...]:
    """Everything that is wrong with `values`, at once; the schema is one that `object_of` made."""
    known = schema["properties"]
    missing = [f"{within}{name} is missing" for name in schema["required"] if name not in values]
    unknown = [f"{within}{name} is not known; known are {', '.join(known)}" for name in values if name not in known]
    wrong = [
        problem
        for name, value in values.items()
        if name in known
        for problem in _problems(f"{within}{name}", value, known[name])
    ]
    return (*missing, *unknown, *wrong)


def _problems(name: str, value: Any, schema: Schema) -> tuple[str, ...]:
    """What is wrong with one value; of what is inside of it only when it is of the right kind itself."""
    if problem := _problem(name, value, schema):
        return (problem,)
    match schema["type"]:
        case "object":
            return problems_of(schema, value, within=f"{name}.")
        case "array" if schema["items"]["type"] != "string":
            return tuple(
                problem
                for number, item in enumerate(value)
                for problem in _problems(f"{name}[{number}]", item, schema["items"])
            )
        case _:
            return ()


def _problem(name: str, value: Any, schema: Schema) -> str:
    if not _has_type(value, schema):
        return f"{name} must be {_kind(schema)}, not {value!r:.100}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} must be one of {', '.join(schema['enum'])}, not {value!r:.100}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return f"{name} must match {schema['pattern']}, not {value!r:.100}"
    if isinstance(value, str | list) and len(value) < schema.get("minLength", schema.get("minItems", 0)):
        return f"{name} must not be empty"
    if isinstance(value, int) and value < schema.get("minimum", value):
        return f"{name} must be at least {schema['minimum']}, not {value}"
    return ""


_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
}


def _kind(schema: Schema) -> str:
    if schema["type"] != "array":
        return _KINDS[schema["type"]]
    return "a list of texts" if schema["items"]["type"] == "string" else "a list"


def _has_type(value: Any, schema: Schema) -> bool:
    match schema["type"]:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array" if schema["items"]["type"] == "string":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "array":
            return isinstance(value, list)
        case unknown:
            raise NotImplementedError(f"the type {unknown!r} is not checked here")
