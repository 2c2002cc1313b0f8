"""The pattern module_creation: a new module with tests that pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, assert_never

from milepost.agents.models.schema import Schema
from milepost.agents.patterns import javascript_names, python_names
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.licences import LICENCES, NAMING_A_HOLDER, licence_text
from milepost.agents.patterns.new_module import python_manifest, python_module, script_manifest, script_module
from milepost.agents.patterns.new_module.functions import Example, Function, examples_in, functions_in
from milepost.agents.patterns.new_module.functions import problems_of as statement_problems
from milepost.agents.patterns.new_module.module import KINDS, LANGUAGES, Language, Module, Usage, readme
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.sandbox.confined import PathRefused

LONGEST_DESCRIPTION = 100

_NAME = r"^[a-z][a-z0-9_-]*\Z"


class ModuleCreation:
    """Writes a module with its tests, an example, a page about it, a licence, and what the manifest says of it."""

    name = "module_creation"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Start a module: implementation, tests, manifest, README, example, licence.",
            {
                "name": {"type": "string", "pattern": _NAME, "description": "the name to import it by"},
                "language": {"type": "string", "enum": list(LANGUAGES), "default": "python"},
                "kind": {
                    "type": "string",
                    "enum": list(KINDS),
                    "default": "library",
                    "description": "library; cli: a program; api: an HTTP service; utility: one file",
                },
                "description": {"type": "string", "minLength": 1, "description": "what it is for, in one line"},
                "functions": {
                    "type": "string",
                    "description": "name(argument: type) -> type = expression; … (str, int, float, bool)",
                },
                "examples": {
                    "type": "string",
                    "description": 'name(1, "a") == true; … at least one for each function, values as in JSON',
                },
                "license": {"type": "string", "enum": ["none", *LICENCES], "default": "none"},
                "holder": {"type": "string", "minLength": 1, "description": "whose copyright a licence names"},
                "year": {"type": "string", "pattern": r"^\d{4}\Z", "description": "the year that a licence names"},
            },
            required=("name",),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        functions, examples = _stated(inputs)
        return (
            *problems_in(self.schema, inputs),
            *_description_problems(inputs.get("description", "")),
            *_licence_problems(inputs),
            *statement_problems(functions, examples),
            *_language_problems(inputs, functions),
        )

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        language: Language = next(each for each in LANGUAGES if each == values["language"])
        match language:
            case "python":
                usage, module = _write_python(_module(values, site), site)
            case "javascript" | "typescript":
                usage, module = _write_script(_module(values, site), site, typed=language == "typescript")
            case _ as never:
                assert_never(never)
        if module.license:
            site.create(
                {"LICENSE": licence_text(module.license, holder=inputs.get("holder", ""), year=inputs.get("year", ""))}
            )
        _write_page(module, usage, site)


def _module(values: Mapping[str, Any], site: PendingChanges) -> Module:
    functions, examples = _stated(values)
    kind = next(kind for kind in KINDS if kind == values["kind"])
    packaged = any(re.fullmatch(r"src/[^/]+/__init__\.py", path) for path in site.paths("/__init__.py"))
    return Module(
        name=values["name"],
        kind=kind,
        description=values.get("description", f"The {kind} {values['name']}.").strip(),
        functions=tuple(each for each in functions if isinstance(each, Function)),
        examples=tuple(each for each in examples if isinstance(each, Example)),
        license="" if values["license"] == "none" else values["license"],
        root="src/" if packaged and values["language"] == "python" else "",
    )


def _write_python(module: Module, site: PendingChanges) -> tuple[Usage, Module]:
    rival = f"{module.root}{module.name}" + ("/__init__.py" if module.kind == "utility" else ".py")
    problems = [f"{rival} is there already and would be imported by the same name"] if site.holds(rival) else []
    _create(python_module.source_files(module), site, problems)
    # Tests that lie in no package are found and imported in another way, which is left as it is.
    if not any(path.startswith("tests/") and path != f"tests/test_{module.name}.py" for path in site.paths(".py")):
        site.create({"tests/__init__.py": ""})
    existing = site.text_if_there(python_manifest.PATH)
    site.write(python_manifest.PATH, python_manifest.manifest(existing, module))
    return python_module.usage(module), module


def _write_script(module: Module, site: PendingChanges, *, typed: bool) -> tuple[Usage, Module]:
    existing = site.text_if_there(script_manifest.PATH)
    dialect = script_manifest.dialect_for(existing, typed=typed)
    _create(script_module.source_files(module, dialect), site, [])
    if typed:
        site.create(script_manifest.settings_files(site.text_if_there(script_manifest.SETTINGS)))
    site.write(script_manifest.PATH, script_manifest.manifest(existing, module, dialect))
    return script_module.usage(module, dialect), module


def _create(files: Mapping[str, str], site: PendingChanges, problems: list[str]) -> None:
    """Write the files, or tell all that is in the way at once."""
    try:
        site.create(files)
    except PathRefused as refusal:
        raise PathRefused("; ".join((str(refusal), *problems))) from refusal
    if problems:
        raise PathRefused("; ".join(problems))


def _write_page(module: Module, usage: Usage, site: PendingChanges) -> None:
    """Write the README, or, where the project has one of its own, a page beside it."""
    page = readme(module, usage)
    if site.text_if_there("README.md") not in (None, page):
        site.create({f"docs/{module.name}.md": page})
    else:
        site.create({"README.md": page})


def _stated(values: Mapping[str, str]) -> tuple[tuple[Function | str, ...], tuple[Example | str, ...]]:
    return functions_in(values.get("functions", "")), examples_in(values.get("examples", ""))


def _description_problems(description: str) -> tuple[str, ...]:
    if not description.isprintable() or description.isspace():
        return ("description must be one line of printable text",)
    if len(description) > LONGEST_DESCRIPTION:
        return (f"description must be at most {LONGEST_DESCRIPTION} characters, not {len(description)}",)
    return ()


def _licence_problems(inputs: Mapping[str, str]) -> tuple[str, ...]:
    licence = inputs.get("license", "none")
    lacking = [name for name in ("holder", "year") if name not in inputs] if licence in NAMING_A_HOLDER else []
    holder = inputs.get("holder", "")
    return (
        *(f"{name} is missing: {licence} names one" for name in lacking),
        *(("holder must be one line of printable text",) if not holder.isprintable() else ()),
    )


def _language_problems(inputs: Mapping[str, str], functions: tuple[Function | str, ...]) -> tuple[str, ...]:
    stated = [function for function in functions if isinstance(function, Function)]
    if inputs.get("language", "python") == "python":
        names = python_names.module_name_problems(inputs.get("name", ""))
        return (*names, *(each for function in stated for each in python_names.function_problems(function)))
    names = javascript_names.module_name_problems(inputs.get("name", ""))
    return (*names, *(each for function in stated for each in javascript_names.function_problems(function)))
