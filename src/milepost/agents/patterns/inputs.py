"""Inputs held against the schema of a pattern: texts as a roadmap has them, and the values that they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from milepost.agents.models.schema import Schema

KEYWORDS = frozenset(
    {
        "type", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "items", "default",
        "description", "title", "examples",
    }
)  # fmt: skip
OBJECT_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$schema", "$id"}
)
TYPES = ("string", "integer", "number", "boolean", "array")


def inputs_schema(about: str, properties: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    """The schema of a pattern: what it does, and the inputs that it takes and no others."""
    return {
        "type": "object",
        "description": about,
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def problems_in(schema: Schema, inputs: Mapping[str, str]) -> tuple[str, ...]:
    """Everything that is wrong with the inputs, at once."""
    known = schema["properties"]
    missing = [f"{name} is missing" for name in schema.get("required", ()) if name not in inputs]
    takes = f"known are {', '.join(known)}" if known else "it takes no inputs"
    unknown = [f"{name} is not known; {takes}" for name in inputs if name not in known]
    wrong = [
        problem for name, text in inputs.items() if name in known and (problem := _problem(name, text, known[name]))
    ]
    return (*missing, *unknown, *wrong)


def values_in(schema: Schema, inputs: Mapping[str, str]) -> dict[str, Any]:
    """The values of inputs that have no problem, with the defaults of those that are not given."""
    given = {name: _value(inputs[name], one) for name, one in schema["properties"].items() if name in inputs}
    defaults = {name: one["default"] for name, one in schema["properties"].items() if "default" in one}
    return defaults | given


def schema_problems(schema: Any) -> tuple[str, ...]:
    """Why this is no schema that inputs can be held against: what is not looked at is not to be stated."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ('it must be an object with "type": "object"',)
    unknown = [f"the keyword {name!r} is not known" for name in schema if name not in OBJECT_KEYWORDS]
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return (*unknown, '"properties" must be an object')
    required = schema.get("required", [])
    stray = [f"{name!r} is required but is not a property" for name in required if name not in properties]
    return (*unknown, *stray, *(problem for name, one in properties.items() for problem in _property(name, one)))


def _property(name: str, one: Any) -> list[str]:
    if not isinstance(one, dict) or one.get("type", "string") not in TYPES:
        return [f"{name}: the type must be one of {', '.join(TYPES)}"]
    problems = [f"{name}: the keyword {key!r} is not known" for key in one if key not in KEYWORDS]
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
        problems.append(f"{name!r} cannot be the name of an input")
    try:
        re.compile(one.get("pattern", ""))
    except (re.error, TypeError) as error:
        problems.append(f"{name}: the pattern is not a regular expression: {error}")
    return problems


def _problem(name: str, text: str, schema: Schema) -> str:
    value = _value(text, schema)
    if value is None:
        return f"{name} must be {_TYPES[schema['type']]}, not {text!r:.100}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} must be one of {', '.join(map(_shown, schema['enum']))}, not {text!r:.100}"
    if "pattern" in schema and not re.search(schema["pattern"], text):
        return f"{name} must match {schema['pattern']}, not {text!r:.100}"
    if isinstance(value, str | list):
        return _length_problem(name, value, schema)
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and value < low:
        return f"{name} must be at least {low}, not {text}"
    if high is not None and value > high:
        return f"{name} must be at most {high}, not {text}"
    return ""


def _length_problem(name: str, value: str | list[str], schema: Schema) -> str:
    if len(value) < schema.get("minLength", schema.get("minItems", 0)):
        return f"{name} must not be empty"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{name} must be at most {schema['maxLength']} characters, not {len(value)}"
    return ""


_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}


def _value(text: str, schema: Schema) -> Any:
    """What a text stands for, None when it is nothing of that type."""
    match schema.get("type", "string"):
        case "integer":
            return int(text) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else None
        case "number":
            return float(text) if re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", text, re.ASCII) else None
        case "boolean":
            return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower())
        case "array":
            return [part.strip() for part in text.split(",") if part.strip()]
        case _:
            return text


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
