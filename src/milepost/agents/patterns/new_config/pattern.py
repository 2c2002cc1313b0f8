"""The pattern config_setup: a configuration file with its schema, a typed loader, an example and tests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.new_config.loader import loader_source, test_source
from milepost.agents.patterns.new_config.settings_statement import Setting, setting_problems, settings_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.python_names import module_name_problems

Format = Literal["toml", "json", "yaml"]
FORMATS: tuple[Format, ...] = ("toml", "json", "yaml")


class ConfigSetup:
    """Writes a configuration and all that keeps it right."""

    name = "config_setup"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Set a configuration up: the file, its JSON Schema, a typed Python loader, an example, tests.",
            {
                "name": {"type": "string", "pattern": r"^[a-z][a-z0-9_]*\Z", "default": "app"},
                "format": {"type": "string", "enum": list(FORMATS), "default": "toml"},
                "settings": {
                    "type": "string",
                    "minLength": 1,
                    "description": "port: integer (1..65535) = 8080; level: debug|info = info; …",
                },
            },
            required=("settings",),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return (
            *problems_in(self.schema, inputs),
            *(module_name_problems(f"{inputs['name']}_config") if "name" in inputs else ()),
            *(setting_problems(settings_in(inputs["settings"])) if inputs.get("settings") else ()),
        )

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        name, form = values["name"], next(each for each in FORMATS if each == values["format"])
        settings = tuple(each for each in settings_in(values["settings"]) if isinstance(each, Setting))
        packaged = any(re.fullmatch(r"src/[^/]+/__init__\.py", path) for path in site.paths("/__init__.py"))
        place = f"config/{name}.{form}"
        site.create(
            {
                place: config_text(settings, form),
                f"config/{name}.example.{form}": config_text(settings, form, commented=True),
                f"config/{name}.schema.json": schema_text(name, settings),
                f"{'src/' if packaged else ''}{name}_config.py": loader_source(name, form, settings),
                f"tests/test_{name}_config.py": test_source(name, form, settings),
            }
        )
        own = f"tests/test_{name}_config.py"
        if not any(path.startswith("tests/") and path != own for path in site.paths(".py")):
            site.create({"tests/__init__.py": ""})


def config_text(settings: tuple[Setting, ...], form: Format, *, commented: bool = False) -> str:
    """A configuration with the values to begin with; with comments it tells what each can be, where it can."""
    if form == "json":
        return json.dumps({setting.name: setting.default for setting in settings}, indent=2, ensure_ascii=False) + "\n"
    lines: list[str] = []
    for setting in settings:
        lines += [f"# {setting.name}: {setting.told}"] if commented else []
        value = json.dumps(setting.default, ensure_ascii=False)
        lines.append(f"{setting.name} = {value}" if form == "toml" else f"{setting.name}: {value}")
    return "\n".join(lines) + "\n"


def schema_text(name: str, settings: tuple[Setting, ...]) -> str:
    """The JSON Schema of a configuration."""
    content: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name} configuration",
        "type": "object",
        "properties": {setting.name: setting.schema for setting in settings},
        "additionalProperties": False,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
