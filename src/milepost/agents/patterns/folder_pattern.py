"""A user's pattern: a folder with a schema of its inputs, and templates of the files it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import problems_in, schema_problems, values_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.template import filled, template_problems
from milepost.core.errors import SettingInvalid
from milepost.sandbox.confined import ConfinedFolder, PathRefused

SCHEMA = "schema.json"
TEMPLATES = "templates"
MOST_TEMPLATES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPattern:
    """Writes its templates with the inputs in their places, in paths and in contents.

    A file that is not UTF-8 text is written as it is.
    """

    name: str
    schema: Schema
    templates: Mapping[str, bytes]

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return problems_in(self.schema, inputs)

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        files: dict[str, str | bytes] = {}
        for template, content in self.templates.items():
            path = filled(template, values)
            if path in files:
                raise PathRefused(f"two templates would write {path}")
            text = _text(content)
            files[path] = content if text is None else filled(text, values)
        site.create(files)


def load(folder: Path) -> FolderPattern:
    """The pattern in a folder; SettingInvalid says all that is wrong with it."""
    place = ConfinedFolder(folder)  # a link in it could make another file of this machine part of a commit
    try:
        schema = json.loads(place.read(SCHEMA))
        paths = place.listing(TEMPLATES, at_most=MOST_TEMPLATES + 1)
        contents = {path.removeprefix(f"{TEMPLATES}/"): place.read(path) for path in paths if not path.endswith("/")}
    except PathRefused as refusal:
        raise _unusable(folder, str(refusal)) from refusal
    except (ValueError, RecursionError) as error:
        raise _unusable(folder, f"{SCHEMA} is not JSON: {error}") from error
    too_many = [f"there are more than {MOST_TEMPLATES} templates"] if len(paths) > MOST_TEMPLATES else []
    problems = [*too_many, *(f"{SCHEMA}: {problem}" for problem in schema_problems(schema))]
    if not problems:
        problems = _template_problems(schema, contents)
    if problems:
        raise _unusable(folder, "; ".join(problems))
    return FolderPattern(name=folder.name, schema=schema, templates=contents)


def _template_problems(schema: Schema, contents: Mapping[str, bytes]) -> list[str]:
    required = schema.get("required", ())
    known = {name: name in required or "default" in one for name, one in schema["properties"].items()}
    found = [
        f"{TEMPLATES}/{path}: {problem}"
        for path, content in contents.items()
        for problem in dict.fromkeys((*template_problems(path, known), *template_problems(_text(content) or "", known)))
    ]
    return found or ([] if contents else [f"{TEMPLATES} holds no file"])


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _unusable(folder: Path, why: str) -> SettingInvalid:
    return SettingInvalid(
        f"the pattern {folder.name!r} cannot be used: {why}", f"correct it in {str(folder)!r}, or move it away"
    )
